import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTelegramSim } from '../../agent/dev/telegram-sim/sim.ts';
import { messageId } from '../../protocol/ids.ts';
import { relayLimits } from '../../protocol/limits.ts';
import type { PollAnswer, PollRequest, StatusAnswer } from '../../protocol/relay-api.ts';
import type { Relay } from '../helpers/relay.ts';
import { relayDaemon, startRelay } from '../helpers/relay.ts';
import { textUpdate } from './updates.ts';

describe('a poll through the Worker', () => {
  let relay: Relay;
  let updateId = 1;
  let epoch: string;
  let after = 0;

  beforeAll(async () => {
    relay = await startRelay();
    epoch = (await relay.poll()).epoch;
  });
  afterAll(() => relay.close());

  const say = async (text: string) => {
    updateId += 1;
    expect((await relay.webhook(textUpdate(text, { chatId: relay.mailbox, updateId }))).status).toBe(200);
  };

  /** Resolves when the headers are there; `answer` when the body is. */
  const hold = async (request: Partial<PollRequest> = {}) => {
    const response = await fetch(`${relay.url}/v1/poll`, {
      method: 'POST',
      headers: { authorization: `Bearer ${relay.token}` },
      body: JSON.stringify({
        mailbox: relay.mailbox,
        project: 0,
        epoch,
        after,
        holdMs: 25_000,
        daemon: relayDaemon,
        ...request,
      }),
    });
    const answer = response.text().then((text) => ({
      text,
      body: JSON.parse(text) as PollAnswer & { error?: { code: string } },
    }));
    answer.catch(() => {});
    return { response, answer };
  };

  const take = async (poll: Awaited<ReturnType<typeof hold>>) => {
    const { body } = await poll.answer;
    after = body.rows.at(-1)?.seq ?? after;
    return body.rows.map((row) => (row.kind === 'message' ? row.text : row.kind));
  };

  it('gets its headers and a first byte at once and the message when it comes', async () => {
    const poll = await hold();
    expect(poll.response.status).toBe(200);
    expect(poll.response.headers.get('cache-control')).toBe('no-store, no-transform');
    await say('wake up');
    expect((await poll.answer).text.startsWith('\n')).toBe(true);
    expect(await take(poll)).toEqual(['wake up']);
  });

  it('is answered at once, as plain JSON, when something waits', async () => {
    await say('already here');
    const poll = await hold();
    expect((await poll.answer).text.startsWith('{')).toBe(true);
    expect(await take(poll)).toEqual(['already here']);
  });

  it('gets an empty answer when the hold ends', async () => {
    const { body } = await (await hold({ holdMs: 300 })).answer;
    expect(body).toEqual({
      ...{ epoch, now: expect.any(Number), rows: [], controls: [], cursor: after },
      phone: expect.objectContaining({ platform: 'telegram', owner: relay.mailbox, maxText: 4096 }),
    });
  });

  it('survives the hibernation of the object', async () => {
    const poll = await hold();
    await relay.evict('hibernate');
    await say('after the nap');
    expect(await take(poll)).toEqual(['after the nap']);
  });

  it('ends empty when the object is restarted, and the next poll delivers', async () => {
    const poll = await hold();
    await relay.evict('close');
    expect((await poll.answer).body.rows).toEqual([]);
    await say('after the deploy');
    expect(await take(await hold())).toEqual(['after the deploy']);
  });

  it('that its client left loses nothing', async () => {
    const abort = new AbortController();
    const left = await fetch(`${relay.url}/v1/poll`, {
      method: 'POST',
      headers: { authorization: `Bearer ${relay.token}` },
      body: JSON.stringify({ mailbox: relay.mailbox, project: 0, epoch, after, holdMs: 25_000, daemon: relayDaemon }),
      signal: abort.signal,
    });
    abort.abort();
    await expect(left.text()).rejects.toThrow();
    await say('nobody there');
    expect(await take(await hold())).toEqual(['nobody there']);
  });

  it('of the same daemon ends the older poll empty', async () => {
    const older = await hold();
    const newer = await hold();
    expect((await older.answer).body.rows).toEqual([]);
    await say('for the newer');
    expect(await take(newer)).toEqual(['for the newer']);
  });

  it('of another workstation is refused while a poll is parked', async () => {
    const poll = await hold();
    const other = await hold({ daemon: { id: 'another-daemon', startedAt: 1 } });
    expect(other.response.status).toBe(409);
    expect((await other.answer).body.error).toMatchObject({
      code: 'held_by_other_daemon',
      retryAfterMs: relayLimits.takeoverAfterMs,
    });
    await say('end');
    await take(poll);
  });

  it('of a later start supersedes the parked poll', async () => {
    const older = await hold();
    const newer = await hold({ daemon: { ...relayDaemon, startedAt: relayDaemon.startedAt + 1 } });
    expect((await older.answer).body.error?.code).toBe('superseded');
    const again = await hold();
    expect(again.response.status).toBe(409);
    await say('for the later start');
    expect(await take(newer)).toEqual(['for the later start']);
  });

  it("counts for the day's share of the free plan, also when the object falls asleep behind it", async () => {
    const today = async () => (await relay.call<StatusAnswer>('GET', '/v1/status')).body.today;
    const daemon = { ...relayDaemon, startedAt: relayDaemon.startedAt + 3_600_000 };
    const pollAndSleep = async () => {
      expect((await relay.poll({ daemon })).error).toBeUndefined();
      await relay.evict('hibernate');
    };
    await pollAndSleep();
    const before = await today();
    await pollAndSleep();
    const after = await today();
    expect(after.workerRequests).toBeGreaterThanOrEqual(before.workerRequests + 1);
    expect(after.objectRequests).toBeGreaterThanOrEqual(before.objectRequests + 1);
    expect(after.rowsWritten).toBeGreaterThanOrEqual(before.rowsWritten + 1);
    expect(after.share).toBeGreaterThan(0);
    // Each sleep waits for the calls that are under way.
  });

  it('is heard in /v1/status', async () => {
    const { body } = await relay.call<StatusAnswer>('GET', '/v1/status');
    expect(body).toMatchObject({
      platforms: [{ name: 'telegram', account: relay.botId }],
      mailboxes: [{ mailbox: relay.mailbox, epoch, projects: [{ project: 0, daemonId: relayDaemon.id }] }],
    });
  });
});

describe('a call of the API', () => {
  let relay: Relay;
  beforeAll(async () => {
    relay = await startRelay({ vars: { WA_AGENT_TOKEN_SHA256: `${'0'.repeat(64)}` } });
  });
  afterAll(() => relay.close());

  it.each(['/v1/status', '/v1/metrics', '/v1/poll', '/v1/outbox'])(
    'to %s with a wrong token is refused before any object is touched',
    async (path) => {
      const method = path === '/v1/poll' || path === '/v1/outbox' ? 'POST' : 'GET';
      const answer = await relay.call(method, path, method === 'POST' ? {} : undefined);
      expect(answer).toMatchObject({ status: 401, body: { error: { code: 'unauthorized' } } });
      expect(await relay.objects()).toBe(0);
    },
  );

  it('without a token is refused', async () => {
    expect((await fetch(`${relay.url}/v1/status`)).status).toBe(401);
  });
});

describe('a body', () => {
  let relay: Relay;
  beforeAll(async () => {
    relay = await startRelay();
  });
  afterAll(() => relay.close());

  it.each([
    ['no JSON', '{', 400, 'bad_request'],
    ['a wrong field', { mailbox: '1000001', project: -1 }, 400, 'bad_request'],
    [
      'a foreign mailbox',
      { mailbox: '2000002', project: 0, epoch: null, after: null, holdMs: 0, daemon: relayDaemon },
      404,
      'unknown_mailbox',
    ],
    ['too many bytes', 'x'.repeat(relayLimits.apiBodyBytes + 1), 413, 'body_too_large'],
  ])('with %s is refused and touches no object', async (_, body, status, code) => {
    expect(await relay.call('POST', '/v1/poll', body)).toMatchObject({ status, body: { error: { code } } });
    expect(await relay.objects()).toBe(0);
  });

  it('for a path that is not there is told so', async () => {
    expect(await relay.call('POST', '/v1/nothing', {})).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    });
  });
});

describe('cost', () => {
  it('is at most 5 rows written and 20 read per message for webhook, delivery and deletion', async () => {
    const relay = await startRelay();
    try {
      const { epoch } = await relay.poll();
      const count = 50;
      const before = await relay.metrics();
      for (let n = 1; n <= count; n += 1) {
        await relay.webhook(textUpdate(`message ${n}`, { chatId: relay.mailbox, updateId: n }));
        expect((await relay.poll({ epoch, after: n - 1 })).rows).toMatchObject([{ seq: n }]);
      }
      await relay.poll({ epoch, after: count });
      await relay.sql("UPDATE log SET state = 'answered', state_at = 0");
      const left = async () =>
        (
          await relay.sql(
            'SELECT (SELECT count(*) FROM log) + (SELECT count(*) FROM dedupe_a) + (SELECT count(*) FROM dedupe_b) AS n',
          )
        )[0]?.n;
      // The memory of updates goes in the second turn.
      for (let turn = 0; turn < 2; turn += 1) {
        await relay.sql("UPDATE meta SET value = '0' WHERE key = 'cleaned_at'");
        await relay.sql("UPDATE meta SET value = json_set(value, '$.since', 0) WHERE key = 'dedupe_turn'");
        await relay.evict('close');
        const cleaned = async () =>
          (await relay.sql("SELECT value > 0 AS done FROM meta WHERE key = 'cleaned_at'"))[0]?.done;
        await expect.poll(cleaned).toBe(1);
      }
      expect(await left()).toBe(0);
      const after = await relay.metrics();
      const spent = (name: string) => ((after[name] ?? 0) - (before[name] ?? 0)) / count;
      expect(spent('wa_rows_written_total')).toBeLessThanOrEqual(5);
      expect(spent('wa_rows_read_total')).toBeLessThanOrEqual(20);
    } finally {
      await relay.close();
    }
  });

  it('is at most 12 rows written and 18 read per message with its three reactions, from the webhook to the answer', async () => {
    const sim = await startTelegramSim();
    const relay = await startRelay({ sim });
    try {
      const { epoch } = await relay.poll();
      const count = 5;
      const before = await relay.metrics();
      for (let seq = 1; seq <= count; seq += 1) {
        const ref = await sim.say(`message ${seq}`);
        const shows = (emoji: string) =>
          expect.poll(() => sim.messages().find(({ messageId }) => messageId === ref)?.reactions).toEqual([emoji]);
        await shows('👀');
        expect((await relay.poll({ epoch, after: seq - 1 })).rows).toMatchObject([{ seq }]);
        for (const [state, emoji] of [['injected', '✍'] as const, ['answered', '👍'] as const]) {
          const id = messageId(epoch, 0, seq);
          await relay.poll({ epoch, after: seq, receipts: [{ id, attempt: 0, state, at: Date.now() }] });
          await shows(emoji);
        }
      }
      const after = await relay.metrics();
      const spent = (name: string) => ((after[name] ?? 0) - (before[name] ?? 0)) / count;
      // The deletion, a day later, is one more.
      expect(spent('wa_rows_written_total') + 1).toBeLessThanOrEqual(12);
      expect(spent('wa_rows_read_total') + 1).toBeLessThanOrEqual(18);
    } finally {
      await relay.close();
      await sim.close();
    }
  });

  it('of an idle relay is one start of the object per poll: it sleeps while the poll is parked', async () => {
    const relay = await startRelay();
    try {
      const { epoch } = await relay.poll();
      const wakes = async () => (await relay.metrics()).wa_wakes_total ?? 0;
      const before = await wakes();
      const poll = relay.call<PollAnswer>('POST', '/v1/poll', {
        mailbox: relay.mailbox,
        project: 0,
        epoch,
        after: 0,
        holdMs: 14_000,
        daemon: relayDaemon,
      });
      // The object sleeps after ten idle seconds; the end of the hold and the next call wake it once.
      expect((await poll).body.rows).toEqual([]);
      expect(await wakes()).toBe(before + 1);
    } finally {
      await relay.close();
    }
  });
});
