import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../../../helpers/daemon.ts';
import { call, recorded, refused, send, start } from './client.ts';

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
  onTestFinished(async () => {
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
    await until('every update is taken', () => sim.pendingUpdates() === 0);
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
    await until('every update is taken', () => sim.pendingUpdates() === 0);
    expect(hook.got.map(({ update }) => Object.keys(update)[1])).toEqual(['message']);
  });

  it('obey Retry-After before the own schedule', async () => {
    const hook = await startWebhook((_received, count) =>
      count === 1 ? { status: 503, retryAfter: 1 } : { status: 200 },
    );
    const sim = await start({ webhook: { url: hook.url }, retryDelayMs: () => 3_600_000 });
    await sim.say('hold on');
    await until('every update is taken', () => sim.pendingUpdates() === 0);
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
    await until('every update is taken', () => sim.pendingUpdates() === 0);
    expect(hook.got.map(({ update }) => update.message?.text)).toEqual(['one', 'two']);
    expect(sim.link()).toEqual({ kind: 'ok' });
  });

  it('are polled by one poller, only without a webhook, and confirmed by the next offset', async () => {
    const sim = await start();
    const waiting = call(sim, 'getUpdates', { timeout: 30 });
    await until('somebody polls', () => sim.isPolled());
    await sim.say('hello');
    const first = await waiting;
    expect((first.body.result as unknown as Received['update'][]).map((update) => update.message?.text)).toEqual([
      'hello',
    ]);
    await call(sim, 'getUpdates', { offset: 101, timeout: 0 });
    expect(sim.pendingUpdates()).toBe(0);
    const older = call(sim, 'getUpdates', { timeout: 30 });
    await until('somebody polls', () => sim.isPolled());
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
