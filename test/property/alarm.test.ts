import fc from 'fast-check';
import { expect, it } from 'vitest';
import { messageId } from '../../protocol/ids.ts';
import { relayLimits } from '../../protocol/limits.ts';
import type { ReportedState } from '../../protocol/receipts.ts';
import { watchdogMs } from '../../worker/mailbox/alarm.ts';
import type { SendOutcome } from '../../worker/platform.ts';
import { type Bench, createBench, epoch, scriptedPlatform } from '../worker/bench.ts';
import { runs } from './runs.ts';

const second = 1_000;
const hour = 3_600 * second;
/** A poll that is under way acknowledges first; and a token of the chat comes back after a second. */
const expiryGraceMs = 60 * second;
const turnMs = second;
const cleaningMs = 12 * hour;

type Step =
  | { do: 'say'; topic: number; text: string; album: boolean }
  | { do: 'post'; topic: number; parts: number }
  | { do: 'poll'; topic: number; holdMs: number; acknowledges: boolean; state: ReportedState | null; of: number }
  | { do: 'gone'; topic: number }
  | { do: 'letter'; action: 'retry' | 'drop' }
  | { do: 'time'; ms: number }
  | { do: 'platform'; outcome: SendOutcome }
  | { do: 'dies' | 'evicted' };

const topic = fc.constantFrom(0, 7);
const outcome = fc.constantFrom<SendOutcome>(
  { kind: 'pause', afterMs: 5 * second, code: 'rate_limited', reason: 'too many' },
  { kind: 'pause', afterMs: 4 * hour, code: 'rate_limited', reason: 'too many' },
  { kind: 'retry', code: 'platform_error', reason: 'HTTP 502' },
  { kind: 'dead', code: 'rejected', reason: 'no' },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('say'),
      topic,
      text: fc.constantFrom('work', 'work', 'stop', '/status', '/sprint'),
      album: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('post'), topic, parts: fc.integer({ min: 1, max: 5 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('poll'),
      topic,
      holdMs: fc.constantFrom(0, 25 * second),
      acknowledges: fc.boolean(),
      state: fc.constantFrom<ReportedState | null>(null, 'injected', 'answered', 'failed', 'lost'),
      of: fc.nat(6),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('gone'), topic }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('letter'), action: fc.constantFrom('retry', 'drop') }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('time'),
      ms: fc.constantFrom(0, 300, 1_100, 20 * second, 100 * second, 2 * hour, 13 * hour, 26 * hour),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('platform'), outcome }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('dies', 'evicted', 'evicted') }) },
) as fc.Arbitrary<Step>;

const reactingBench = () => createBench({ platform: scriptedPlatform({ reactions: true }) });

/** The lowest of what the storage says, read behind the object's back: `rest` = no run sees to the outbox. */
function dueAt({ sql, clock }: Bench, rest: boolean): number {
  const one = (query: string) => sql.exec<{ at: number | null }>(query)[0]?.at ?? Number.POSITIVE_INFINITY;
  const cleaned = one("SELECT CAST(value AS INTEGER) AS at FROM meta WHERE key = 'cleaned_at'");
  const pause = one("SELECT json_extract(value, '$.untilAt') AS at FROM meta WHERE key = 'pause'");
  // In a class nothing passes the first.
  const outbox = one(`SELECT min(next_at) AS at FROM outbox AS head
    WHERE waiting = 1 AND n = (SELECT min(n) FROM outbox WHERE waiting = 1 AND class = head.class)`);
  const pauseEnds = Number.isFinite(pause) ? pause : 0;
  return Math.min(
    (Number.isFinite(cleaned) ? cleaned : 0) + cleaningMs,
    one('SELECT min(closes_at) AS at FROM album WHERE open = 1'),
    expiryGraceMs +
      one(`SELECT min(expires_at) AS at FROM log JOIN project USING (project)
           WHERE kind = 'message' AND state IS NULL AND seq > cursor`),
    Math.max(outbox, pauseEnds, clock.now) + (rest ? turnMs : watchdogMs),
  );
}

/** Messages whose reaction is not the one of their state; `below` = where a fresh object does not look. */
function unshown({ sql }: Bench, below: boolean): unknown[] {
  return sql.exec(
    `SELECT project, seq, state, shown, shown_to FROM log JOIN project USING (project)
     WHERE kind = 'message' AND coalesce(shown, '') <> 'none' AND coalesce(shown, '') <> CASE
       WHEN state = 'injected' THEN 'working' WHEN state = 'answered' THEN 'done'
       WHEN state IN ('failed', 'expired', 'refused', 'lost') THEN 'failed' ELSE 'seen' END
     ${below ? 'AND seq <= shown_to' : ''}`,
  );
}

function expectPlanned(bench: Bench, rest: boolean): void {
  const now = bench.clock.now;
  expect(bench.alarmAt()).not.toBeNull();
  expect(bench.alarmAt()).toBeLessThanOrEqual(Math.max(now, dueAt(bench, rest)));
  expect(bench.alarmAt()).toBeGreaterThanOrEqual(now);
  expect(unshown(bench, true)).toEqual([]);
}

/** Each setting was the first, made the alarm earlier, or took a watchdog back. */
function expectNoneNeedless({ alarms }: Bench): void {
  const watchdogs = new Set(alarms.filter(({ now, to }) => to === now + watchdogMs).map(({ to }) => to));
  expect(alarms.filter(({ from, to }) => from !== null && to >= from && !watchdogs.has(from))).toEqual([]);
  expect(alarms.filter(({ now, to }) => to < now)).toEqual([]);
}

/** Calls that are under way have come to their answer, or hang. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await null;
}

function createSteps(bench: Bench) {
  const sockets = new Map<number, ReturnType<Bench['open']>>();
  let posts = 0;

  function poll({ topic, holdMs, acknowledges, state, of }: Step & { do: 'poll' }): void {
    const highest = bench.sql.exec<{ seq: number }>(
      'SELECT coalesce(max(seq), 0) AS seq FROM log WHERE project = ?',
      topic,
    )[0]?.seq;
    const after = acknowledges ? (highest ?? 0) : 0;
    const seq = Math.max(1, (highest ?? 0) - of);
    const receipts =
      state === null ? [] : [{ id: messageId(epoch, topic, seq), attempt: 0, state, at: bench.clock.now }];
    sockets.set(topic, bench.open({ project: topic, after, holdMs, receipts }));
  }

  return async (todo: Step): Promise<void> => {
    switch (todo.do) {
      case 'say':
        bench.say(todo.text, { project: todo.topic, ...(todo.album ? { album: 'holiday' } : {}) });
        break;
      case 'post': {
        posts += 1;
        const parts = Array.from({ length: todo.parts }, () => ({ text: `part of ${posts}`, entities: [] }));
        bench.post({ key: `answer-${posts}`, parts });
        break;
      }
      case 'poll':
        poll(todo);
        break;
      case 'gone':
        sockets.get(todo.topic)?.finish('200\n{}');
        bench.logic.pollGone(todo.topic);
        break;
      case 'letter': {
        const letter = bench.logic.deadLetters(0).deadLetters[0];
        if (letter) bench.logic.actOnDeadLetter(0, letter.id, todo.action);
        break;
      }
      case 'time':
        await bench.runUntil(bench.clock.now + todo.ms);
        break;
      case 'platform':
        bench.platform.script.push(todo.outcome);
        break;
      case 'evicted':
        await bench.rest();
        expectPlanned(bench, true);
        bench.restart();
        break;
      case 'dies':
        bench.platform.script.unshift(() => new Promise(() => {}));
        posts += 1;
        bench.post({ key: `dies-${posts}` });
        await settle();
        expectPlanned(bench, false);
        bench.restart();
        // Of a call that was not made.
        bench.platform.script.length = 0;
        break;
    }
  };
}

it('an alarm is set for whatever is due, at its time, and never set without need', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const bench = reactingBench();
      const run = createSteps(bench);
      for (const todo of steps) {
        await run(todo);
        expectPlanned(bench, false);
        await bench.rest();
        expectPlanned(bench, true);
      }
      expectNoneNeedless(bench);
    }),
    { numRuns: runs(60) },
  );
});

it('alarms alone do all that time does, whatever came before and whichever part is gone', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const bench = reactingBench();
      const run = createSteps(bench);
      for (const todo of steps) await run(todo);
      bench.platform.script.length = 0;
      await bench.runUntil(bench.clock.now + relayLimits.messageTtlMs + 5 * hour);
      const { sql } = bench;
      expect(sql.exec('SELECT * FROM outbox WHERE waiting = 1')).toEqual([]);
      expect(sql.exec('SELECT * FROM album WHERE open = 1')).toEqual([]);
      expect(
        sql.exec(
          "SELECT * FROM log JOIN project USING (project) WHERE kind = 'message' AND state IS NULL AND seq > cursor",
        ),
      ).toEqual([]);
      expect(unshown(bench, false)).toEqual([]);
    }),
    { numRuns: runs(60) },
  );
});
