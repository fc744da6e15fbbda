// The strictness of the simulator, and how it delivers what the owner does. Errors are compared with recorded bodies.

import { readFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startTelegramSim, type TelegramSim, type TelegramSimOptions } from '../../../agent/dev/telegram-sim/sim.ts';

const owner = 1_000_001;
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(options: TelegramSimOptions = {}): Promise<TelegramSim> {
  const sim = await startTelegramSim({ firstId: 100, ...options });
  cleanups.push(() => sim.close());
  return sim;
}

/** What the tests read of a result; each method fills its part. */
interface Body {
  ok: boolean;
  result: { message_id: number; message_thread_id: number; file_path: string; document: { file_id: string } };
}

async function call(sim: TelegramSim, method: string, params: object = {}) {
  const response = await fetch(`${sim.apiRoot}/bot${sim.token}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(params),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

const refused = (reason: string) => ({
  status: 400,
  body: { ok: false, error_code: 400, description: `Bad Request: ${reason}` },
});

/** An answer of the real Bot API. */
function recorded(name: string) {
  const file = new URL(`../../fixtures/telegram/errors/${name}.json`, import.meta.url);
  const { http_status: status, body } = JSON.parse(readFileSync(file, 'utf8'));
  return { status, body };
}

const send = (sim: TelegramSim, params: object) => call(sim, 'sendMessage', { chat_id: owner, ...params });

interface Received {
  secret: string | undefined;
  update: { update_id: number; message?: { text: string }; callback_query?: { id: string; data: string } };
}

/** A webhook that answers what `answer` says and keeps what it got. */
async function startWebhook(answer: (received: Received, count: number) => { status: number; retryAfter?: number }) {
  const got: Received[] = [];
  const server = createServer(async (request, response) => {
    const update = JSON.parse(await textOf(request));
    const secret = request.headers['x-telegram-bot-api-secret-token'] as string | undefined;
    got.push({ secret, update });
    const { status, retryAfter } = answer(got.at(-1) as Received, got.length);
    response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('the condition never held');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('the simulated Bot API', () => {
  it('refuses a wrong token and an unknown method', async () => {
    const sim = await start();
    const wrong = await fetch(`${sim.apiRoot}/bot100000001:wrong/getMe`);
    expect({ status: wrong.status, body: await wrong.json() }).toEqual(recorded('401_unauthorized'));
    expect(await call(sim, 'sendCheese')).toEqual(recorded('404_not_found'));
    expect((await call(sim, 'GETME')).body.result).toMatchObject({ id: 100_000_001, is_bot: true });
  });

  it('shows a message as it was sent, and accepts parameters as JSON, as a form and in the query', async () => {
    const sim = await start({ clock: () => 1_790_000_000_000 });
    const sent = await send(sim, {
      text: ' Done: npm test ',
      entities: [{ type: 'code', offset: 7, length: 8 }],
      reply_markup: { inline_keyboard: [[{ text: 'OK', callback_data: 'ok', style: 'success' }]] },
    });
    const form = new URLSearchParams({ chat_id: String(owner), text: 'form' });
    await fetch(`${sim.apiRoot}/bot${sim.token}/sendMessage`, { method: 'POST', body: form });
    await fetch(`${sim.apiRoot}/bot${sim.token}/sendMessage?chat_id=${owner}&text=query`);
    expect(sent.body.result.message_id).toBe(100);
    const at = 1_790_000_000_000;
    const common = { chatId: owner, from: 'bot', at, reactions: [] };
    expect(sim.messages()).toEqual([
      {
        ...common,
        messageId: 100,
        text: 'Done: npm test',
        entities: [{ type: 'code', offset: 6, length: 8 }],
        buttons: [[{ label: 'OK', data: 'ok', style: 'success' }]],
      },
      { ...common, messageId: 101, text: 'form', entities: [], buttons: [] },
      { ...common, messageId: 102, text: 'query', entities: [], buttons: [] },
    ]);
    expect(sim.calls.map(({ method, params }) => [method, params.text])).toEqual([
      ['sendMessage', ' Done: npm test '],
      ['sendMessage', 'form'],
      ['sendMessage', 'query'],
    ]);
  });

  it.each([
    ['no text', { text: ' \n ' }, recorded('400_message_text_empty')],
    ['4097 units', { text: 'x'.repeat(4097) }, recorded('400_message_too_long')],
    ['32769 bytes', { text: 'é'.repeat(16_385) }, recorded('400_text_too_long_32k_bytes')],
    [
      'an entity beyond the end',
      { text: '0123456789!', entities: [{ type: 'bold', offset: 10, length: 89 }] },
      recorded('400_entity_out_of_range'),
    ],
    [
      'an entity inside a surrogate pair',
      { text: 'a👍b', entities: [{ type: 'bold', offset: 0, length: 2 }] },
      refused('entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol at UTF-16 offset 2'),
    ],
    [
      'a link without a dot in its host',
      { text: 'app', entities: [{ type: 'text_link', offset: 0, length: 3, url: 'http://localhost:3000' }] },
      recorded('400_entity_bad_url'),
    ],
    [
      'a link to a file',
      { text: 'app', entities: [{ type: 'text_link', offset: 0, length: 3, url: 'src/app' }] },
      refused("entity URL 'src/app' is invalid: Wrong HTTP URL"),
    ],
    [
      'bold code',
      {
        text: 'code',
        entities: [
          { type: 'bold', offset: 0, length: 4 },
          { type: 'code', offset: 1, length: 2 },
        ],
      },
      refused("can't parse entities: bold combined with code at UTF-16 offset 1"),
    ],
    [
      'bold in bold',
      {
        text: 'bold',
        entities: [
          { type: 'bold', offset: 0, length: 4 },
          { type: 'bold', offset: 1, length: 2 },
        ],
      },
      refused("can't parse entities: nested bold at UTF-16 offset 1"),
    ],
    [
      '101 entities',
      {
        text: 'x'.repeat(101),
        entities: Array.from({ length: 101 }, (_, offset) => ({ type: 'bold', offset, length: 1 })),
      },
      refused('too many entities: 101'),
    ],
    ['a bare dot in MarkdownV2', { text: 'a.b', parse_mode: 'MarkdownV2' }, recorded('400_cant_parse_entities_md')],
    [
      'an open bold in MarkdownV2',
      { text: 'Hello there *you', parse_mode: 'MarkdownV2' },
      recorded('400_cant_parse_entities_unclosed'),
    ],
    [
      'an unknown tag in HTML',
      { text: 'The component that renders is now <Router>', parse_mode: 'HTML' },
      recorded('400_cant_parse_entities_html'),
    ],
    ['a parse_mode of another world', { text: 'x', parse_mode: 'bbcode' }, refused('unsupported parse_mode')],
    ['an unknown chat', { text: 'x', chat_id: 5 }, recorded('400_chat_not_found')],
    ['an unknown topic', { text: 'x', message_thread_id: 7 }, recorded('400_thread_not_found')],
    [
      'a reply to nothing',
      { text: 'x', reply_parameters: { message_id: 1 } },
      recorded('400_message_to_be_replied_not_found'),
    ],
    [
      '65 bytes of button data',
      { text: 'x', reply_markup: { inline_keyboard: [[{ text: 'b', callback_data: 'é'.repeat(33) }]] } },
      recorded('400_button_data_invalid'),
    ],
  ])('refuses %s', async (_what, params, refusal) => {
    const sim = await start();
    expect(await send(sim, params)).toEqual(refusal);
    expect(sim.messages()).toEqual([]);
  });

  it('takes the limits themselves', async () => {
    const sim = await start();
    const entities = Array.from({ length: 100 }, (_, offset) => ({ type: 'bold', offset, length: 1 }));
    expect((await send(sim, { text: 'x'.repeat(4096), entities })).status).toBe(200);
    const data = 'd'.repeat(64);
    const reply_markup = { inline_keyboard: [[{ text: 'b', callback_data: data }]] };
    expect(
      (
        await send(sim, {
          text: 'x',
          reply_markup,
          reply_parameters: { message_id: 1, allow_sending_without_reply: true },
        })
      ).status,
    ).toBe(200);
    expect(await call(sim, 'answerCallbackQuery', { callback_query_id: '1', text: 'x'.repeat(201) })).toEqual(
      refused('MESSAGE_TOO_LONG'),
    );
  });

  it('parses MarkdownV2 and HTML into the same entities', async () => {
    const sim = await start();
    await send(sim, {
      text: '*bold* _it_ __un__ ~st~ ||sp|| `co` [li](https://example.org/a)\n```ts\nlet a = 1;\n```\n>quote',
      parse_mode: 'MarkdownV2',
    });
    await send(sim, {
      text: '<b>bold</b> <i>it</i> <u>un</u> <s>st</s> <tg-spoiler>sp</tg-spoiler> <code>co</code> <a href="https://example.org/a">li</a>\n<pre><code class="language-ts">let a = 1;\n</code></pre>\n<blockquote>quote</blockquote>',
      parse_mode: 'HTML',
    });
    const [markdown, html] = sim.messages();
    const entities = [
      { type: 'bold', offset: 0, length: 4 },
      { type: 'italic', offset: 5, length: 2 },
      { type: 'underline', offset: 8, length: 2 },
      { type: 'strikethrough', offset: 11, length: 2 },
      { type: 'spoiler', offset: 14, length: 2 },
      { type: 'code', offset: 17, length: 2 },
      { type: 'text_link', offset: 20, length: 2, url: 'https://example.org/a' },
      { type: 'pre', offset: 23, length: 11, language: 'ts' },
      { type: 'blockquote', offset: 35, length: 5 },
    ];
    const text = 'bold it un st sp co li\nlet a = 1;\n\nquote';
    expect([markdown?.text, markdown?.entities]).toEqual([text, entities]);
    expect([html?.text, html?.entities]).toEqual([text, entities]);
  });

  it('edits text and keyboard, refuses an edit that changes nothing, and one of a missing or foreign message', async () => {
    const sim = await start();
    const { body } = await send(sim, { text: 'one' });
    const message_id = body.result.message_id;
    const said = await sim.say('mine');
    const edit = (params: object) => call(sim, 'editMessageText', { chat_id: owner, message_id, ...params });
    expect(await edit({ text: 'one' })).toEqual(recorded('400_message_not_modified'));
    expect(await edit({ text: 'x', message_id: 1 })).toEqual(recorded('400_message_to_edit_not_found'));
    expect(await edit({ text: 'x', message_id: said })).toEqual(recorded('400_message_cant_be_edited'));
    expect((await edit({ text: 'two' })).status).toBe(200);
    const reply_markup = { inline_keyboard: [[{ text: 'Go', callback_data: 'g' }]] };
    expect((await call(sim, 'editMessageReplyMarkup', { chat_id: owner, message_id, reply_markup })).status).toBe(200);
    expect(sim.messages()[0]).toMatchObject({ text: 'two', buttons: [[{ label: 'Go', data: 'g' }]] });
    expect((await edit({ text: 'three' })).status).toBe(200);
    expect(sim.messages()[0]).toMatchObject({ text: 'three', buttons: [] });
    expect((await call(sim, 'deleteMessage', { chat_id: owner, message_id })).status).toBe(200);
    expect(sim.messages().map(({ text }) => text)).toEqual(['mine']);
  });

  it('takes one reaction from the fixed list', async () => {
    const sim = await start();
    const message_id = await sim.say('hello');
    const react = (...emoji: string[]) =>
      call(sim, 'setMessageReaction', {
        chat_id: owner,
        message_id,
        reaction: emoji.map((e) => ({ type: 'emoji', emoji: e })),
      });
    expect(await react('✅')).toEqual(recorded('400_reaction_invalid'));
    expect(await react('👍', '👀')).toEqual(refused('REACTIONS_TOO_MANY'));
    expect((await react('👀')).body).toEqual({ ok: true, result: true });
    expect(sim.messages()[0]?.reactions).toEqual(['👀']);
    expect((await react()).body).toEqual({ ok: true, result: true });
    expect(sim.messages()[0]?.reactions).toEqual([]);
  });

  it('creates topics only where there can be topics', async () => {
    const sim = await start({ groups: [{ id: -100, title: 'Room', topics: { 12: 'alpha' } }] });
    expect(await call(sim, 'createForumTopic', { chat_id: owner, name: 'x' })).toEqual(
      refused('the chat is not a forum'),
    );
    const { body } = await call(sim, 'createForumTopic', { chat_id: -100, name: 'beta' });
    const threadId = body.result.message_thread_id;
    expect((await call(sim, 'sendMessage', { chat_id: -100, message_thread_id: threadId, text: 'hi' })).status).toBe(
      200,
    );
    expect(await call(sim, 'sendMessage', { chat_id: -100, message_thread_id: 1, text: 'hi' })).toEqual(
      recorded('400_thread_not_found'),
    );
  });

  it('stores uploads and hands them out again', async () => {
    const sim = await start();
    const form = new FormData();
    form.set('chat_id', String(owner));
    form.set('caption', 'the log');
    form.set('document', new File(['line\n'], 'run.log', { type: 'text/plain' }));
    const sent = await fetch(`${sim.apiRoot}/bot${sim.token}/sendDocument`, { method: 'POST', body: form });
    const { result } = (await sent.json()) as Body;
    const { body } = await call(sim, 'getFile', { file_id: result.document.file_id });
    const file = await fetch(`${sim.apiRoot}/file/bot${sim.token}/${body.result.file_path}`);
    expect(await file.text()).toBe('line\n');
    expect(sim.messages()[0]).toMatchObject({ text: 'the log', document: { fileName: 'run.log', bytes: 5 } });
    expect(sim.calls[0]?.params).toEqual({
      chat_id: String(owner),
      caption: 'the log',
      document: { fileName: 'run.log', contentType: 'text/plain', bytes: 5 },
    });
  });

  it('refuses a caption of 1025 units and the download of a file over 20 MB', async () => {
    const sim = await start();
    const small = { fileName: 'a.txt', contentType: 'text/plain', data: new Uint8Array(3) };
    await sim.say('', { file: small });
    await sim.say('look', { file: { ...small, data: new Uint8Array(20 * 1024 * 1024 + 1) } });
    const [first, second] = sim.messages().map(({ document }) => document?.fileId);
    const sent = { chat_id: owner, document: first };
    expect(await call(sim, 'sendDocument', { ...sent, caption: 'x'.repeat(1025) })).toEqual(
      recorded('400_caption_too_long'),
    );
    expect((await call(sim, 'sendDocument', { ...sent, caption: 'x'.repeat(1024) })).status).toBe(200);
    expect(await call(sim, 'getFile', { file_id: second })).toEqual(recorded('400_file_too_big'));
  });

  it('answers 413 to an upload over 50 MB and outlives malformed addresses', async () => {
    const sim = await start();
    const form = new FormData();
    form.set('chat_id', String(owner));
    form.set('document', new File([new Uint8Array(51 * 1024 * 1024)], 'big.bin'));
    const sent = await fetch(`${sim.apiRoot}/bot${sim.token}/sendDocument`, { method: 'POST', body: form });
    expect({ status: sent.status, body: await sent.json() }).toEqual(recorded('413_upload_too_large'));
    const { hostname, port } = new URL(sim.apiRoot);
    for (const path of ['//', '/bot%/getMe', '/file/bot%E0%A4%A/x', '*', '//[']) {
      const status = await new Promise((resolve, reject) =>
        get({ hostname, port, path }, (response) => resolve(response.resume().statusCode)).on('error', reject),
      );
      expect([path, status]).toEqual([path, path.includes('bot') ? 401 : 404]);
    }
  });

  it('limits a flood when asked to, with retry_after in body and header', async () => {
    let now = 1_790_000_000_000;
    const sim = await start({ floodLimits: true, clock: () => now });
    for (const text of ['1', '2', '3']) expect((await send(sim, { text })).status).toBe(200);
    const response = await fetch(`${sim.apiRoot}/bot${sim.token}/sendMessage?chat_id=${owner}&text=4`);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.json()).toEqual({
      ok: false,
      error_code: 429,
      description: 'Too Many Requests: retry after 1',
      parameters: { retry_after: 1 },
    });
    now += 1000;
    expect((await send(sim, { text: '4' })).status).toBe(200);
  });
});

describe('scripted failures', () => {
  it('answer what they are told, as often as they are told', async () => {
    const sim = await start();
    sim.failNext({ method: 'sendMessage', times: 2, status: 429, headers: { 'Retry-After': '14' } });
    sim.failNext({ status: 502, headers: { 'Content-Type': 'text/html' }, body: '<html>bad</html>' });
    expect(await send(sim, { text: 'a' })).toEqual(recorded('429_retry_after'));
    expect(await send(sim, { text: 'a' })).toEqual(recorded('429_retry_after'));
    const html = await fetch(`${sim.apiRoot}/bot${sim.token}/sendMessage?chat_id=${owner}&text=a`);
    expect([html.status, await html.text()]).toEqual([502, '<html>bad</html>']);
    expect(sim.messages()).toEqual([]);
    expect((await send(sim, { text: 'a' })).status).toBe(200);
  });

  it('can lose the answer of a call that took effect', async () => {
    const sim = await start();
    sim.failNext({ reset: true, afterEffect: true });
    await expect(send(sim, { text: 'a' })).rejects.toThrow();
    sim.failNext({ hang: true });
    const controller = new AbortController();
    const hung = fetch(`${sim.apiRoot}/bot${sim.token}/sendMessage?chat_id=${owner}&text=b`, {
      signal: controller.signal,
    });
    await sim.waitForCall(({ params }) => params.text === 'b');
    controller.abort();
    await expect(hung).rejects.toThrow();
    expect(sim.messages().map(({ text }) => text)).toEqual(['a']);
    expect(sim.calls.map(({ answer }) => answer.status)).toEqual([0, 0]);
  });
});

describe('updates', () => {
  it('reach the webhook with the secret, in order, and are repeated until they are taken', async () => {
    const hook = await startWebhook((_received, count) => ({ status: count <= 2 ? 500 : 200 }));
    const sim = await start({ retryDelayMs: () => 1 });
    expect((await call(sim, 'setWebhook', { url: hook.url, secret_token: 'S-1' })).body).toEqual({
      ok: true,
      result: true,
    });
    const said = sim.say('first');
    await Promise.all([said, sim.say('second')]);
    await until(() => sim.pendingUpdates() === 0);
    expect(hook.got.map(({ secret, update }) => [secret, update.update_id, update.message?.text])).toEqual([
      ['S-1', 100, 'first'],
      ['S-1', 100, 'first'],
      ['S-1', 100, 'first'],
      ['S-1', 101, 'second'],
    ]);
    expect((await call(sim, 'getWebhookInfo')).body.result).toMatchObject({
      url: hook.url,
      pending_update_count: 0,
      last_error_message: 'Wrong response from the webhook: 500',
    });
  });

  it('of a button expire after 150 s, while a message still waits', async () => {
    let now = 1_790_000_000_000;
    const sim = await start({
      webhook: { url: 'http://127.0.0.1:9/' },
      retryDelayMs: () => 3_600_000,
      clock: () => now,
    });
    const reply_markup = { inline_keyboard: [[{ text: 'Yes', callback_data: 'y' }]] };
    const { body } = await send(sim, { text: 'Allow?', reply_markup });
    await sim.press(body.result.message_id, 'Yes');
    await sim.say('hello');
    now += 150_000;
    const hook = await startWebhook(() => ({ status: 200 }));
    sim.setWebhook(hook.url);
    await until(() => sim.pendingUpdates() === 0);
    expect(hook.got.map(({ update }) => Object.keys(update)[1])).toEqual(['message']);
  });

  it('obey Retry-After before the own schedule', async () => {
    const hook = await startWebhook((_received, count) =>
      count === 1 ? { status: 503, retryAfter: 1 } : { status: 200 },
    );
    const sim = await start({ webhook: { url: hook.url }, retryDelayMs: () => 3_600_000 });
    await sim.say('hold on');
    await until(() => sim.pendingUpdates() === 0);
    expect(hook.got.length).toBe(2);
  });

  it('of a button are not held up by a chat whose message fails', async () => {
    const hook = await startWebhook(({ update }) => ({ status: update.message ? 500 : 200 }));
    const sim = await start({ webhook: { url: hook.url }, retryDelayMs: () => 3_600_000 });
    const { body } = await send(sim, {
      text: 'Allow?',
      reply_markup: { inline_keyboard: [[{ text: 'Yes', callback_data: 'y' }]] },
    });
    await sim.say('stuck');
    const queryId = await sim.press(body.result.message_id, 'Yes');
    expect(hook.got.at(-1)?.update.callback_query).toMatchObject({ id: queryId, data: 'y' });
    expect((await call(sim, 'answerCallbackQuery', { callback_query_id: queryId, text: 'ok' })).body.ok).toBe(true);
    expect(await call(sim, 'answerCallbackQuery', { callback_query_id: queryId })).toEqual(
      recorded('400_query_too_old'),
    );
    await expect(sim.press(body.result.message_id, 'No')).rejects.toThrow('has no button "No"');
  });

  it('wait for a relay that is down, without holding up the owner', async () => {
    const sim = await start({ webhook: { url: 'http://127.0.0.1:9/hook' }, retryDelayMs: () => 3_600_000 });
    await sim.say('one');
    await sim.say('two');
    expect(sim.link()).toEqual({ kind: 'failing', reason: 'Connection refused or lost' });
    const hook = await startWebhook(() => ({ status: 200 }));
    sim.setWebhook(hook.url);
    await until(() => sim.pendingUpdates() === 0);
    expect(hook.got.map(({ update }) => update.message?.text)).toEqual(['one', 'two']);
    expect(sim.link()).toEqual({ kind: 'ok' });
  });

  it('are polled by one poller, only without a webhook, and confirmed by the next offset', async () => {
    const sim = await start();
    const waiting = call(sim, 'getUpdates', { timeout: 30 });
    await until(() => sim.isPolled());
    await sim.say('hello');
    const first = await waiting;
    expect((first.body.result as unknown as Received['update'][]).map((update) => update.message?.text)).toEqual([
      'hello',
    ]);
    await call(sim, 'getUpdates', { offset: 101, timeout: 0 });
    expect(sim.pendingUpdates()).toBe(0);
    const older = call(sim, 'getUpdates', { timeout: 30 });
    await until(() => sim.isPolled());
    await call(sim, 'getUpdates', { timeout: 0 });
    expect(await older).toEqual(recorded('409_other_getupdates'));
    await call(sim, 'setWebhook', { url: 'http://127.0.0.1:9/hook' });
    expect(await call(sim, 'getUpdates')).toEqual(recorded('409_webhook_active'));
    expect((await call(sim, 'deleteWebhook')).body.ok).toBe(true);
  });

  it.each([
    [{ url: 'http://example.org/' }, 'bad webhook: An HTTPS URL must be provided for webhook'],
    [{ url: 'https://example.org/', secret_token: 'x'.repeat(257) }, 'secret token is too long'],
    [{ url: 'https://example.org/', secret_token: 'a b' }, 'secret token contains unallowed characters'],
  ])('refuse the webhook %o', async (params, description) => {
    const sim = await start();
    expect(await call(sim, 'setWebhook', params)).toEqual(refused(description));
  });
});
