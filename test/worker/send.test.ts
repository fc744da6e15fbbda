import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TelegramSim } from '../../agent/dev/telegram-sim/sim.ts';
import { startTelegramSim } from '../../agent/dev/telegram-sim/sim.ts';
import type { Relay } from '../helpers/relay.ts';
import { startRelay } from '../helpers/relay.ts';

const tooMany = (retry_after: number) => ({
  status: 429,
  body: {
    ok: false,
    error_code: 429,
    description: `Too Many Requests: retry after ${retry_after}`,
    parameters: { retry_after },
  },
});

describe('what goes to the phone', () => {
  let sim: TelegramSim;
  let relay: Relay;

  beforeAll(async () => {
    sim = await startTelegramSim();
    relay = await startRelay({ sim });
  });
  afterAll(async () => {
    await relay.close();
    await sim.close();
  });

  const stateOf = async (key: string) => (await relay.post([{ key }])).items[0];
  const shown = () => sim.messages().filter((message) => message.from === 'bot');

  it('is sent by the alarm at once, with its entities', async () => {
    await relay.post([
      { key: 'answer-1', parts: [{ text: 'bold news', entities: [{ type: 'bold', offset: 0, length: 4 }] }] },
    ]);
    const call = await sim.waitForCall(({ method }) => method === 'sendMessage');
    expect(call.params).toMatchObject({ text: 'bold news', entities: [{ type: 'bold', offset: 0, length: 4 }] });
    await expect.poll(() => stateOf('answer-1')).toEqual({ key: 'answer-1', state: 'sent', ref: expect.any(String) });
    expect(sim.calls.filter(({ params }) => params.text === 'bold news')).toHaveLength(1);
  });

  it('goes again as plain text when the entities are refused', async () => {
    await relay.post([
      { key: 'answer-2', parts: [{ text: 'short', entities: [{ type: 'bold', offset: 0, length: 99 }] }] },
    ]);
    await expect.poll(() => stateOf('answer-2')).toEqual({ key: 'answer-2', state: 'sent', ref: expect.any(String) });
    expect(shown().at(-1)).toMatchObject({ text: 'short', entities: [] });
  });

  it('waits as long as a 429 says, and then arrives', async () => {
    sim.failNext(tooMany(1));
    await relay.post([{ key: 'answer-3' }]);
    await expect.poll(() => stateOf('answer-3')).toEqual({ key: 'answer-3', state: 'sent', ref: expect.any(String) });
    const [refused, sent] = sim.calls.filter(({ params }) => params.text === 'answer-3');
    expect((sent?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThanOrEqual(1000);
  });

  it.each([
    ['an HTML page', { status: 502, body: '<html>Bad Gateway</html>' }],
    ['a broken connection', { reset: true as const }],
  ])('survives %s', async (name, failure) => {
    const key = `after-${name.replaceAll(' ', '-')}`;
    sim.failNext(failure);
    await relay.post([{ key }]);
    await expect.poll(() => stateOf(key)).toEqual({ key, state: 'sent', ref: expect.any(String) });
  });

  it('goes out by the alarm of an object that was evicted meanwhile', async () => {
    sim.failNext(tooMany(5));
    await relay.post([{ key: 'answer-5' }]);
    await sim.waitForCall(({ params }) => params.text === 'answer-5');
    // Evicting while the call is under way would wait for its deadline.
    await expect.poll(() => stateOf('answer-5')).toEqual({ key: 'answer-5', state: 'queued' });
    await relay.evict('close');
    await sim.waitForCall(({ params, answer }) => params.text === 'answer-5' && answer.status === 200);
    await expect.poll(() => stateOf('answer-5')).toEqual({ key: 'answer-5', state: 'sent', ref: expect.any(String) });
  });

  it("becomes a dead letter with the platform's words when the bot is blocked", async () => {
    sim.failNext({
      status: 403,
      body: { ok: false, error_code: 403, description: 'Forbidden: bot was blocked by the user' },
    });
    await relay.post([{ key: 'answer-4' }]);
    await expect
      .poll(() => stateOf('answer-4'))
      .toEqual({
        key: 'answer-4',
        state: 'dead',
        error: { code: 'chat_unreachable', reason: 'Forbidden: bot was blocked by the user' },
      });
    expect(await relay.metrics()).toMatchObject({ wa_dead_letters: 1 });
  });

  it('is one message that changes in place for a slot', async () => {
    const slot = { class: 'progress' as const, slot: 'turn' };
    await relay.post([{ key: 'progress-1', ...slot, rev: 1, parts: [{ text: 'reading', entities: [] }] }]);
    await expect.poll(() => shown().at(-1)?.text).toBe('reading');
    const { messageId } = shown().at(-1) ?? { messageId: 0 };
    await expect.poll(() => stateOf('progress-1')).toMatchObject({ state: 'sent' });
    await relay.post([{ key: 'progress-2', ...slot, rev: 2, parts: [{ text: 'writing', entities: [] }] }]);
    await expect.poll(() => shown().at(-1)?.text).toBe('writing');
    expect(shown().at(-1)?.messageId).toBe(messageId);
  });

  it('has buttons whose press comes back as a control and is acknowledged', async () => {
    await relay.poll();
    await relay.post([
      {
        key: 'approval-1',
        class: 'approval',
        parts: [{ text: 'Run npm test?', entities: [] }],
        buttons: [[{ label: 'Approve', action: 'allow:42', style: 'success' }]],
      },
    ]);
    await expect.poll(() => shown().at(-1)?.text).toBe('Run npm test?');
    const question = shown().at(-1);
    const data = question?.buttons[0]?.[0]?.data ?? '';
    expect(data).not.toContain('allow');
    expect(Buffer.byteLength(data)).toBeLessThanOrEqual(64);
    await sim.press(question?.messageId ?? 0, 'Approve');
    const acknowledged = await sim.waitForCall(({ method }) => method === 'answerCallbackQuery');
    expect(acknowledged.params).toMatchObject({ text: 'Recorded.' });
    expect((await relay.poll()).controls.at(-1)?.control).toEqual({
      type: 'button',
      action: 'allow:42',
      key: 'approval-1',
      userId: relay.mailbox,
    });
  });

  it('answers /ping and /help itself, also as a command for this bot', async () => {
    await sim.say('/ping');
    await expect.poll(() => shown().at(-1)?.text).toBe('pong');
    await sim.say('/help');
    await expect.poll(() => shown().at(-1)?.text).toMatch(/^What you write here reaches/);
    expect((await relay.poll()).rows.filter((row) => row.kind === 'message')).toEqual([]);
  });

  it('carries no token, text or id into the metrics', async () => {
    await sim.say('a very secret text');
    const metrics = async () =>
      (await fetch(`${relay.url}/v1/metrics`, { headers: { authorization: `Bearer ${relay.token}` } })).text();
    // Telegram comes again where its first try fails.
    await expect.poll(metrics).toContain('wa_waiting 2');
    const text = await metrics();
    for (const secret of ['secret text', relay.mailbox, relay.botId, relay.token, 'answer-1'])
      expect(text).not.toContain(secret);
  });
});
