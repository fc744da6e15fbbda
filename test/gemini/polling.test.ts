// The real CLI as an agent that polls: it finds the four tools and the skill in the extension, and the loop of poll, send, ack
// goes through the real stdio connection.

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { ModelReply, ModelRequest, ModelServer } from '../helpers/models/gemini.ts';
import { until } from '../hosts/processes.ts';
import { runHeadless } from './harness.ts';
import { test, type } from './stage.ts';

const prompt = 'Listen to the phone.';
const policy = '[[rule]]\ntoolName = "mcp_wa-sync_*"\ndecision = "allow"\npriority = 100\n';
const inYolo = { prompt, args: ['--approval-mode', 'yolo'] };

/** Results of the tools so far, oldest first. */
function results({ body }: ModelRequest): { name: string; text: string }[] {
  return body.contents.flatMap(({ parts }) =>
    parts.flatMap(({ functionResponse }) =>
      functionResponse ? [{ name: functionResponse.name, text: JSON.stringify(functionResponse.response) }] : [],
    ),
  );
}

const tool = (name: string, args: Record<string, unknown>): ModelReply => ({
  toolCall: { name: `mcp_wa-sync_${name}`, args },
});

/** The model does these steps, one per request of the listening turn. */
function script(model: ModelServer, steps: ((seen: string) => ModelReply)[]): void {
  model.rule((request) => {
    if (request.method !== 'streamGenerateContent' || !request.userTexts.some((text) => text.includes(prompt)))
      return undefined;
    const seen = results(request);
    return steps[seen.length]?.(seen.at(-1)?.text ?? '') ?? { text: 'I stop listening.' };
  });
}

/** The message id in the result of a poll. */
const idIn = (seen: string) => /msg_\w+/.exec(seen)?.[0] ?? 'none';
const listening = (model: ModelServer) => model.waitForRequest(({ userTexts }) => userTexts.join().includes(prompt));

describe('the CLI as an agent that polls', () => {
  test('polls, sends and acknowledges, and its hooks do not give the message again', async ({
    model,
    home,
    product,
  }) => {
    script(model, [
      () => tool('telegram_poll', { timeout: 60 }),
      () => tool('telegram_send', { text: 'Done: **two** tests fail.' }),
      () => tool('telegram_ack', { message_ids: [id] }),
    ]);
    let id = 'none';
    model.rule((request) => {
      const polled = results(request).find(({ name }) => name.endsWith('telegram_poll'));
      if (polled) id = idIn(polled.text);
      return undefined;
    });
    // As the README says: without it the CLI asks at the desk for each call, and a headless run has no such tool.
    await mkdir(join(home.home, '.gemini', 'policies'), { recursive: true });
    await writeFile(join(home.home, '.gemini', 'policies', 'wa-sync.toml'), policy);
    const run = runHeadless(home, { prompt });
    const first = await listening(model);
    const declared = JSON.stringify(first.body.tools);
    for (const name of ['poll', 'send', 'ack', 'send_typing'])
      expect(declared).toContain(`mcp_wa-sync_telegram_${name}"`);
    expect(JSON.stringify(first.body)).toContain('wa-sync-phone');
    const messageId = await product.sim.say('Which tests fail?');
    const { code, stderr } = await run;
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    const last = model.requests.filter(({ method }) => method === 'streamGenerateContent').at(-1);
    expect(results(last as ModelRequest).map(({ name }) => name)).toEqual([
      'mcp_wa-sync_telegram_poll',
      'mcp_wa-sync_telegram_send',
      'mcp_wa-sync_telegram_ack',
    ]);
    expect(JSON.stringify(last?.body).split('Which tests fail?').length - 1).toBe(1);
    await product.waitForLadder({ answered: 1 });
    const [answer] = await product.waitForAnswers(2);
    expect(answer).toMatchObject({ text: 'Done: two tests fail.', replyTo: messageId });
    expect((await product.inbox()).every(({ read }) => read)).toBe(true);
  });

  test('ends without acknowledging: the message is unread again and comes with the next turn', async ({
    model,
    home,
    product,
  }) => {
    script(model, [() => tool('telegram_poll', { timeout: 60 })]);
    const run = runHeadless(home, inYolo);
    await listening(model);
    await product.sim.say('Do not lose me.');
    expect((await run).code).toBe(0);
    const unread = async () => (await product.inbox()).find(({ read }) => !read);
    expect(await until(async () => (await unread()) !== undefined, 30_000)).toBe(true);
    expect(await unread()).toMatchObject({ text: 'Do not lose me.', attempt: 1 });
    await runHeadless(home, { prompt: 'go on' });
    await model.waitForRequest('Do not lose me.', {
      from: model.requests.findIndex((each) => each.userTexts.join().includes('go on')),
    });
    await product.waitForLadder({ answered: 1 });
  });

  test('forgets with /clear what it polled, so the message is unread again while the CLI and its server live on', async ({
    model,
    product,
    open,
  }) => {
    script(model, [() => tool('telegram_poll', { timeout: 60 })]);
    const tui = await open({ args: ['--approval-mode', 'yolo'] });
    await type(tui, prompt);
    await listening(model);
    await product.sim.say('Still with me?');
    await product.waitForAnswers(1);
    expect((await product.inbox()).every(({ read }) => read)).toBe(true);
    expect((await product.wa('letters')).stdout).toMatch(/held by gemini-cli-mcp-client.* \(pid \d+\)/);
    await type(tui, '/clear');
    const unread = async () => (await product.inbox()).find(({ read }) => !read);
    expect(await until(async () => (await unread()) !== undefined, 30_000)).toBe(true);
    expect(await unread()).toMatchObject({ text: 'Still with me?', attempt: 1 });
  });

  test('works as ever when the package is gone', async ({ model, home, product }) => {
    await rm(join(product.distDir, 'wa-sync.js'));
    const { code, stdout } = await runHeadless(home, { prompt: 'hello' });
    expect([code, stdout.trim()]).toEqual([0, 'ok']);
    expect(JSON.stringify((await model.waitForRequest('hello')).body.tools ?? [])).not.toContain('telegram_poll');
  });
});
