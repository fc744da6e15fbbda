// The ways in which other relays lose, double or misdirect messages, each as a test that names it.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TelegramSim } from '../../agent/dev/telegram-sim/sim.ts';
import { startTelegramSim } from '../../agent/dev/telegram-sim/sim.ts';
import { relayLimits } from '../../protocol/limits.ts';
import type { Relay } from '../helpers/relay.ts';
import { startRelay } from '../helpers/relay.ts';
import { createBench, daemon, startAt } from './bench.ts';

const dayMs = 24 * 3_600_000;

describe('a hole of other relays', () => {
  it('an update that is remembered without its message', () => {
    const bench = createBench();
    const broken = bench.sql.exec;
    for (const failing of ['INSERT INTO log', 'RETURNING key']) {
      bench.core.sql.exec = (query, ...params) => {
        if (query.includes(failing)) throw new Error('disk I/O error');
        return broken(query, ...params);
      };
      bench.restart();
      expect(() => bench.say('keep me', { dedupeKey: 'u' })).toThrow('disk I/O error');
    }
    bench.core.sql.exec = broken;
    bench.restart();
    expect(bench.say('keep me', { dedupeKey: 'u' })).toBe('stored');
    expect(bench.say('keep me', { dedupeKey: 'u' })).toBe('duplicate');
    expect(bench.poll().rows).toMatchObject([{ seq: 1, text: 'keep me' }]);
  });

  it('a row that is handed to two daemons', () => {
    const bench = createBench();
    const two = { id: 'daemon-two', startedAt: startAt };
    bench.open();
    bench.say('for one only');
    for (const waitedMs of [0, relayLimits.takeoverAfterMs - 1]) {
      bench.clock.now = startAt + waitedMs;
      expect(bench.poll({ daemon: two, after: null })).toMatchObject({ error: { code: 'held_by_other_daemon' } });
    }
    bench.clock.now += relayLimits.holdMs + 1;
    expect(bench.poll({ daemon: two, after: null }).rows).toMatchObject([{ text: 'for one only' }]);
    expect(bench.poll({ daemon })).toMatchObject({ error: { code: 'held_by_other_daemon' } });
  });

  it('an expiry without a notice', async () => {
    const bench = createBench();
    bench.say('too late', { ref: '7' });
    await bench.runUntil(startAt + dayMs + 120_000);
    expect(bench.platform.calls.at(-1)).toMatchObject({
      text: 'This message expired before the agent took it.',
      replyToRef: '7',
    });
    expect(bench.logic.deadLetters(0).deadLetters).toMatchObject([{ state: 'expired', preview: 'too late' }]);
    // The workstation hears of it as well.
    expect(bench.poll().rows).toMatchObject([{ seq: 1, text: '', expired: true }]);
  });

  it('an outbox that gives up after minutes', async () => {
    const bench = createBench();
    const { call } = bench.platform;
    bench.platform.call = async (request) => {
      const answer = await call(request);
      const isDown = bench.clock.now < startAt + 6 * dayMs;
      return isDown ? { kind: 'retry', code: 'platform_error', reason: 'HTTP 502' } : answer;
    };
    bench.post({ key: 'answer-1' });
    await bench.runUntil(startAt + 6 * dayMs + 60_000);
    expect(bench.post({ key: 'answer-1' })).toEqual([{ key: 'answer-1', state: 'sent', ref: expect.any(String) }]);
  });

  it('update ids that start again lower', () => {
    const bench = createBench();
    for (const dedupeKey of ['870000100', '870000101', '3', '4', '870000100']) bench.say(dedupeKey, { dedupeKey });
    expect(bench.poll().rows.map((row) => row.kind === 'message' && row.text)).toEqual([
      '870000100',
      '870000101',
      '3',
      '4',
    ]);
  });
});

describe('a hole of other relays, in a group', () => {
  const groupId = -1_001_000_000_001;
  const group = String(groupId);
  const strangerId = 2_000_002;
  let sim: TelegramSim;
  let relay: Relay;
  let updates = 1_000;

  beforeAll(async () => {
    sim = await startTelegramSim({ groups: [{ id: groupId }] });
    relay = await startRelay({ sim, vars: { TELEGRAM_CHAT_ID: group, TELEGRAM_USER_IDS: String(sim.ownerId) } });
  });
  afterAll(async () => {
    await relay.close();
    await sim.close();
  });

  const deliver = (fields: object) => {
    updates += 1;
    return relay.webhook({ update_id: updates, ...fields });
  };
  const message = (userId: number, text: string) => ({
    message_id: updates,
    date: Math.floor(Date.now() / 1000),
    chat: { id: groupId, type: 'supergroup' },
    from: { id: userId, is_bot: false, first_name: 'Test' },
    text,
  });
  const log = () => relay.poll({ mailbox: group });

  it('a member who is not the owner: neither words, nor /stop, nor edits count', async () => {
    await deliver({ message: message(sim.ownerId, 'from the owner') });
    for (const text of ['rm -rf /', '/stop', 'stop', '/letters', '/status']) {
      expect(await deliver({ message: message(strangerId, text) })).toMatchObject({ status: 200 });
    }
    const edited_message = {
      ...message(strangerId, 'from the owner, they say'),
      message_id: updates - 5,
      edit_date: 1,
    };
    expect(await deliver({ edited_message })).toMatchObject({ status: 200 });
    expect(await log()).toMatchObject({ rows: [{ seq: 1, text: 'from the owner' }], controls: [] });
    expect((await relay.metrics())['wa_ignored_total{reason="foreign"}']).toBe(6);
  });

  it('a button that a stranger presses: no control, while the owner still can', async () => {
    await relay.call('POST', '/v1/outbox', {
      mailbox: group,
      project: 0,
      items: [
        {
          key: 'approval-1',
          class: 'approval',
          parts: [{ text: 'Run it?' }],
          buttons: [[{ label: 'Approve', action: 'allow' }]],
        },
      ],
    });
    await sim.waitForCall(({ params }) => params.text === 'Run it?');
    const question = sim.messages().findLast(({ text }) => text === 'Run it?');
    const press = (userId: number) =>
      deliver({
        callback_query: {
          id: `query-${updates}`,
          from: { id: userId },
          message: { chat: { id: groupId }, message_id: question?.messageId, date: 0 },
          data: question?.buttons[0]?.[0]?.data,
        },
      });
    expect(await press(strangerId)).toMatchObject({ status: 200 });
    expect((await log()).controls).toEqual([]);
    await press(sim.ownerId);
    expect((await log()).controls).toMatchObject([
      { control: { type: 'button', action: 'allow', key: 'approval-1', userId: String(sim.ownerId) } },
    ]);
  });

  it('a poison update that blocks its chat', async () => {
    const recorded = readFileSync(
      new URL('../fixtures/telegram/updates/unknown_future_update.json', import.meta.url),
      'utf8',
    );
    const poison = [
      '{"update_id":1,"message":{"message_id":"x"}}',
      '{"update_id":2,"message":{"message_id":1,"date":1,"chat":{"id":1e400}}}',
      '{',
      '',
      recorded,
    ];
    for (const body of poison) expect(await relay.webhook(body)).toMatchObject({ status: 200 });
    expect(await deliver({ message: message(sim.ownerId, 'behind the poison') })).toMatchObject({ status: 200 });
    expect((await log()).rows.at(-1)).toMatchObject({ text: 'behind the poison' });
  });
});
