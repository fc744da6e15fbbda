// The phone page in a real browser against the simulator. WA_SCREENSHOTS names a directory that gets pictures to look at.

import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { phonePages } from '../../agent/dev/phone-server.ts';
import { startTelegramSim, type TelegramSim } from '../../agent/dev/telegram-sim/sim.ts';

const candidates = [
  process.env.WA_CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
const executablePath = candidates.find((path) => path !== undefined && existsSync(path));
const screenshots = process.env.WA_SCREENSHOTS;

let browser: Browser;
let sim: TelegramSim;
let page: Page;
let updates: {
  message?: { text: string; reply_to_message?: { message_id: number }; photo?: { file_id: string }[] };
  callback_query?: { id: string; data: string };
}[];
let violations: string[];
const cleanups: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  if (!executablePath) throw new Error('no chromium found: install it (apt-get install chromium) or set WA_CHROMIUM');
  const args =
    '--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update --disable-sync --disable-quic';
  browser = await chromium.launch({ executablePath, args: args.split(' ') });
});
afterAll(() => browser?.close());

beforeEach(async () => {
  updates = [];
  violations = [];
  const hook = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    updates.push(JSON.parse(text));
    response.end();
  });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  cleanups.push(async () => hook.close());
  const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/telegram/webhook`;
  sim = await startTelegramSim({ webhook: { url, secret: 's' }, pages: await phonePages() });
  cleanups.push(() => sim.close());
  page = await open({ width: 1100, height: 800 });
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  expect(violations).toEqual([]);
});

/** A picture of one pixel. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

async function open(viewport: { width: number; height: number }, colorScheme: 'light' | 'dark' = 'light') {
  const context = await browser.newContext({ viewport, colorScheme, locale: 'en-GB', timezoneId: 'Europe/Berlin' });
  cleanups.push(() => context.close());
  const opened = await context.newPage();
  opened.on('console', (message) => {
    // A lost connection is reported by the browser itself.
    const lost = /net::ERR_(CONNECTION|INCOMPLETE|EMPTY)/.test(message.text());
    if (message.type() === 'error' && !lost) violations.push(message.text());
  });
  opened.on('pageerror', (error) => violations.push(error.message));
  await opened.goto(sim.apiRoot);
  await opened.getByText('online', { exact: true }).waitFor();
  return opened;
}

async function call(method: string, params: object): Promise<{ message_id: number }> {
  const response = await fetch(`${sim.apiRoot}/bot${sim.token}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ chat_id: sim.ownerId, ...params }),
  });
  const body = (await response.json()) as { result: { message_id: number }; description?: string };
  if (!response.ok) throw new Error(body.description);
  return body.result;
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('the condition never held');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('the phone page', () => {
  it('sends with Enter, makes a new line with Shift+Enter, and has quick commands', async () => {
    const input = page.getByRole('textbox', { name: 'Message' });
    await input.fill('first line');
    await input.press('Shift+Enter');
    await input.pressSequentially('second line');
    await input.press('Enter');
    await until(() => updates.length === 1);
    await page.getByRole('button', { name: '/stop' }).click();
    await until(() => updates.length === 2);
    expect(updates.map(({ message }) => message?.text)).toEqual(['first line\nsecond line', '/stop']);
    expect(await input.inputValue()).toBe('');
    await page.locator('.owner .text').nth(1).waitFor();
    expect(await page.locator('.owner .text').allInnerTexts()).toEqual(['first line\nsecond line', '/stop']);
  });

  it('sends files by the paperclip, by paste and by drop, the text as caption, and shows what was sent', async () => {
    const input = page.getByRole('textbox', { name: 'Message' });
    await input.fill('the log');
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Attach a file' }).click();
    await (await chooser).setFiles({ name: 'build.log', mimeType: 'text/plain', buffer: Buffer.from('line 1') });
    await page.getByText('build.log (6 B)').waitFor();
    await input.press('Enter');
    await until(() => updates.length === 1);
    expect(updates[0]?.message).toMatchObject({
      caption: 'the log',
      document: { file_name: 'build.log', file_size: 6 },
    });
    await page.getByRole('link', { name: 'build.log' }).waitFor();

    /** As a browser gives it: the event with a file, on an element. As text, because the page has other types than the test. */
    const give = (type: 'paste' | 'drop', selector: string) =>
      page.evaluate(`{
        const data = new DataTransfer();
        const bytes = Uint8Array.from(atob('${pixel}'), (char) => char.charCodeAt(0));
        data.items.add(new File([bytes], 'shot.png', { type: 'image/png' }));
        const how = { bubbles: true, cancelable: true, clipboardData: data, dataTransfer: data };
        const event = '${type}' === 'paste' ? new ClipboardEvent('paste', how) : new DragEvent('drop', how);
        document.querySelector('${selector}').dispatchEvent(event);
      }`);
    await give('paste', '#text');
    await input.fill('what is this?');
    await input.press('Enter');
    await until(() => updates.length === 2);
    expect(updates[1]?.message).toMatchObject({ caption: 'what is this?', photo: [{ file_id: expect.any(String) }] });
    await give('drop', '#chat');
    await page.getByRole('button', { name: 'Send' }).click();
    await until(() => updates.length === 3);
    await until(
      async () =>
        (await page.evaluate(
          `[...document.querySelectorAll('.picture')].map((each) => each.naturalWidth > 0).join()`,
        )) === 'true,true',
    );
    const file = updates[1]?.message?.photo?.[0]?.file_id;
    const { file_path } = (await call('getFile', { file_id: file })) as unknown as { file_path: string };
    const bytes = await fetch(`${sim.apiRoot}/file/bot${sim.token}/${file_path}`);
    expect(Buffer.from(await bytes.arrayBuffer()).toString('base64')).toBe(pixel);
  });

  it('replies to a message, by the button and where the bot asks for it, and the next text is no reply', async () => {
    const { message_id } = await call('sendMessage', { text: 'Which branch?' });
    await page.locator('.bot .bubble').hover();
    await page.getByRole('button', { name: 'Reply' }).click();
    const input = page.getByRole('textbox', { name: 'Message' });
    expect(await page.locator('#answers').innerText()).toBe('↩ Which branch?');
    await page.keyboard.type('main');
    await page.keyboard.press('Enter');
    await input.fill('and no reply');
    await input.press('Enter');
    await until(() => updates.length === 2);
    expect(updates.map(({ message }) => [message?.text, message?.reply_to_message?.message_id])).toEqual([
      ['main', message_id],
      ['and no reply', undefined],
    ]);
    // The bot has an update before the page shows what was sent.
    await page.getByText('and no reply', { exact: true }).waitFor();
    expect(await page.locator('.owner .reply').allInnerTexts()).toEqual(['Which branch?']);
  });

  it('brings the last text back with ArrowUp, and Tab passes the commands of old messages', async () => {
    await call('sendMessage', { text: 'Write /status or /help.' });
    await page.getByRole('button', { name: '/status' }).nth(1).waitFor();
    const input = page.getByRole('textbox', { name: 'Message' });
    await input.fill('npm test');
    await input.press('Enter');
    await until(() => updates.length === 1);
    await input.press('ArrowUp');
    expect(await input.inputValue()).toBe('npm test');
    const stops: string[] = [];
    for (let tab = 0; tab < 8; tab += 1) {
      await page.keyboard.press('Tab');
      stops.push(await page.evaluate('document.activeElement.className'));
    }
    expect(stops).not.toContain('command');
  });

  it('shows what entities say', async () => {
    const text = 'bold both code link spoiler\nlet a = 1;\nquoted';
    await call('sendMessage', {
      text,
      entities: [
        { type: 'bold', offset: 0, length: 9 },
        { type: 'italic', offset: 5, length: 4 },
        { type: 'code', offset: 10, length: 4 },
        { type: 'text_link', offset: 15, length: 4, url: 'https://example.org/a' },
        { type: 'spoiler', offset: 20, length: 7 },
        { type: 'pre', offset: 28, length: 10, language: 'ts' },
        { type: 'blockquote', offset: 39, length: 6 },
      ],
    });
    const shown = page.locator('.bot .text');
    await shown.waitFor();
    expect(await shown.innerHTML()).toBe(
      '<strong>bold <em>both</em></strong> <code>code</code> <a href="https://example.org/a" target="_blank" rel="noopener noreferrer" title="https://example.org/a">link</a> <span class="spoiler" role="button" tabindex="0" aria-label="Show spoiler">spoiler</span>\n<pre data-language="ts" tabindex="0">let a = 1;</pre><blockquote>quoted</blockquote>',
    );
    await page.getByRole('button', { name: 'Show spoiler' }).click();
    expect(await page.locator('.spoiler.shown').innerText()).toBe('spoiler');
  });

  it('keeps hostile text as text', async () => {
    const text = '<img src=x onerror="document.title=1"><script>document.title=2</script> javascript:alert(1)';
    await call('sendMessage', { text, entities: [{ type: 'bold', offset: 0, length: 20 }] });
    const shown = page.locator('.bot .text');
    await shown.waitFor();
    expect(await shown.innerText()).toBe(text);
    expect(await page.locator('#log img, #log script').count()).toBe(0);
    expect(await page.title()).toBe('wa-sync phone');
  });

  it('presses a button and shows the answer', async () => {
    await call('sendMessage', {
      text: 'Allow npm test?',
      reply_markup: {
        inline_keyboard: [
          [
            { text: 'Approve', callback_data: 'a', style: 'success' },
            { text: 'Deny', callback_data: 'd', style: 'danger' },
          ],
        ],
      },
    });
    await page.getByRole('button', { name: 'Approve' }).click();
    await until(() => updates.length === 1);
    expect(updates[0]?.callback_query?.data).toBe('a');
    await call('answerCallbackQuery', { callback_query_id: updates[0]?.callback_query?.id, text: 'Approved' });
    await page.getByRole('status').filter({ hasText: 'Approved' }).waitFor();
    await page.locator('.keys button[aria-busy="false"]').waitFor();
  });

  it('follows edits, reactions, deletions and typing', async () => {
    const messageId = await sim.say('please');
    await call('sendChatAction', { action: 'typing' });
    await page.getByText('working on it').waitFor();
    await call('setMessageReaction', { message_id: messageId, reaction: [{ type: 'emoji', emoji: '👀' }] });
    await page.getByRole('img', { name: 'wa-sync reacted 👀' }).waitFor();
    const { message_id } = await call('sendMessage', { text: 'working' });
    await page.getByText('working on it').waitFor({ state: 'hidden' });
    await call('editMessageText', { message_id, text: 'done' });
    await page.getByText('edited').waitFor();
    expect(await page.locator('.bot .text').allInnerTexts()).toEqual(['done']);
    await call('deleteMessage', { message_id });
    await page.locator('.bot').waitFor({ state: 'detached' });
  });

  it('comes back after the connection was lost, with the chat, when the simulator starts again on its port', async () => {
    await sim.say('before');
    const port = Number(new URL(sim.apiRoot).port);
    await sim.close();
    await page.getByText('connection lost').waitFor();
    sim = await startTelegramSim({ port, pages: await phonePages(), saved: sim.saved(100) });
    cleanups.push(() => sim.close());
    await page.getByText('waiting for the relay').waitFor();
    await sim.say('after');
    await page.getByText('after', { exact: true }).waitFor();
    expect(await page.locator('.owner .text').allInnerTexts()).toEqual(['before', 'after']);
  });

  it('fits a phone of 390 px without scrolling sideways', async () => {
    const phone = await open({ width: 390, height: 844 });
    await call('sendMessage', { text: 'x'.repeat(300) });
    const code = `const long = '${'y'.repeat(200)}';`;
    await call('sendMessage', { text: code, entities: [{ type: 'pre', offset: 0, length: code.length }] });
    await phone.locator('.bot pre').waitFor();
    const widths = await phone.evaluate(
      '[document.documentElement.scrollWidth, document.querySelector("#chat").scrollWidth - document.querySelector("#chat").clientWidth]',
    );
    expect(widths).toEqual([390, 0]);
  });

  it('is not to be typed into by another page', async () => {
    const post = (headers: Record<string, string>) =>
      fetch(`${sim.apiRoot}/say`, { method: 'POST', headers, body: '{"text":"rm -rf"}' });
    expect((await post({ origin: 'http://evil.example' })).status).toBe(403);
    expect((await post({ origin: 'null' })).status).toBe(403);
    expect((await post({})).status).toBe(403);
    const foreign = createServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end('<p>other</p>'),
    );
    await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
    cleanups.push(async () => foreign.close());
    const other = await (await browser.newContext()).newPage();
    cleanups.push(() => other.context().close());
    await other.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`);
    await other.evaluate(
      `fetch('${sim.apiRoot}/say', { method: 'POST', mode: 'no-cors', body: '{"text":"rm -rf"}' }).catch(() => {})`,
    );
    expect([updates, sim.messages()]).toEqual([[], []]);
  });

  it.runIf(screenshots)('poses for pictures', async () => {
    await pose();
    for (const [name, viewport, scheme] of [
      ['desktop-light', { width: 1100, height: 860 }, 'light'],
      ['desktop-dark', { width: 1100, height: 860 }, 'dark'],
      ['phone-light', { width: 390, height: 844 }, 'light'],
      ['phone-dark', { width: 390, height: 844 }, 'dark'],
    ] as const) {
      const posed = await open(viewport, scheme);
      await call('sendChatAction', { action: 'typing' });
      await posed
        .locator('#file')
        .setInputFiles({ name: 'shot.png', mimeType: 'image/png', buffer: Buffer.from(pixel, 'base64') });
      await posed.locator('.bot .answer').first().click({ force: true });
      await posed.getByText('working on it').waitFor();
      await posed.screenshot({ path: join(screenshots ?? '', `${name}.png`) });
    }
  });
});

/** A conversation with something of everything. */
async function pose(): Promise<void> {
  const first = await sim.say('Run /startup and tell me what is left in the sprint.\nhttps://example.org/board');
  await call('setMessageReaction', { message_id: first, reaction: [{ type: 'emoji', emoji: '👍' }] });
  const text =
    'Startup complete\nThree tasks are left, the next is login.ts. See the board for details.\nnpm test -- --run\n✓ 42 tests passed in src/auth/session/very-long-file-name-for-scrolling.test.ts\nThe owner of this repository said so.';
  const at = (part: string) => ({ offset: text.indexOf(part), length: part.length });
  await call('sendMessage', {
    text,
    reply_parameters: { message_id: first },
    entities: [
      { type: 'bold', ...at('Startup complete') },
      { type: 'code', ...at('login.ts') },
      { type: 'text_link', ...at('board'), url: 'https://example.org/board' },
      { type: 'pre', ...at(text.split('\n').slice(2, 4).join('\n')), language: 'console' },
      { type: 'blockquote', ...at('The owner of this repository said so.') },
    ],
  });
  await sim.say('the log and a picture', {
    file: { fileName: 'a-rather-long-name-of-a-build.log', contentType: 'text/plain', data: Buffer.from('line 1') },
  });
  const second = await sim.say('/implement_task login');
  await call('setMessageReaction', { message_id: second, reaction: [{ type: 'emoji', emoji: '👀' }] });
  const { message_id } = await call('sendMessage', { text: 'Working' });
  await call('editMessageText', { message_id, text: 'Working: 3 of 7 files changed' });
  await call('sendMessage', {
    text: 'Allow this command?\ngit push origin main',
    entities: [{ type: 'code', offset: 20, length: 20 }],
    reply_markup: {
      inline_keyboard: [
        [
          { text: 'Approve', callback_data: 'a', style: 'success' },
          { text: 'Deny', callback_data: 'd', style: 'danger' },
        ],
        [{ text: 'Always in this session', callback_data: 's' }],
      ],
    },
  });
}
