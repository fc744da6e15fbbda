// Empties the outbox: picks by class and rate, calls the platform, records the outcome. The only caller of the platform.

import type { Rates, SendOutcome } from '../../platform.ts';
import type { Core } from '../core.ts';
import { createMenuOffer, noteMenu } from '../notices/phone-commands.ts';
import { tellTopicGone } from '../notices/unbound.ts';
import { noteReplyAction } from '../tables/buttons.ts';
import type { OutboxRow, StoredCall } from '../tables/outbox.ts';
import {
  droppedOf,
  markDead,
  markSent,
  moveToSlowLane,
  readHeads,
  requeue,
  setRow,
  setSlotRef,
  tapLane,
} from '../tables/outbox.ts';
import { isReactionDue, nextReaction, noReaction, settleReaction } from '../tables/reactions.ts';
import { getMeta, setMeta } from '../tables/schema.ts';
import { noteTopicGone } from '../topics.ts';
import { type Buckets, outlivesMemory, take, waitMs } from './buckets.ts';
import { resolveCall } from './calls.ts';
import { noteOutcome } from './outcomes.ts';
import { followMigration, pauseFor, readPause, targetChat } from './platform-state.ts';

export type Sender = ReturnType<typeof createSender>;

/** One alarm sends at most this many, so that one never runs for minutes. */
const callsPerRun = 50;
const backoffMaxMs = 30_000;
const reactionBackoffMaxMs = 5 * 60_000;
/** Tokens that a reaction leaves for messages. */
const reactionsLeave = 1;
/** Tokens that the answer to a tap leaves for messages. */
const tapsLeave = 1;
/** A key that has failed this often moves to the slow lane, where its calls are still repeated. */
const attemptsBeforeSlowLane = 10;

/** `guard` sets the alarm that repeats a call under which the object dies; called once per run, with the first mark. */
export function createSender(core: Core, guard: () => void) {
  const offerMenuOnce = createMenuOffer(core);
  const { sql, clock, platform, counters } = core;
  const reactionRetry = { at: 0, failures: 0 };
  let buckets = JSON.parse(getMeta(sql, 'buckets') ?? '{}') as Buckets;

  /** The answer to a tap shows no message. */
  function ratesFor(row: OutboxRow): Rates {
    return row.class === tapLane ? platform.ratesOf(null) : chatRates();
  }

  /** The object stays awake until the platform answers. */
  async function timed<T>(call: () => Promise<T>): Promise<T> {
    const startedAt = clock();
    try {
      return await call();
    } finally {
      counters.add('active_ms', clock() - startedAt);
    }
  }

  function turnInMs(row: OutboxRow, nowMs: number): number {
    return waitMs(buckets, ratesFor(row), nowMs, row.class === tapLane ? tapsLeave : 0);
  }

  function chatRates(): Rates {
    return platform.ratesOf(targetChat(core));
  }

  function takeTokens(rates: Rates, nowMs: number): void {
    buckets = take(buckets, rates, nowMs);
    if (outlivesMemory(rates)) setMeta(sql, 'buckets', JSON.stringify(buckets));
  }

  /** Sends one reaction when no row may be sent. False = no reaction is due, or not now. Repeating a reaction is harmless, so nothing is marked before. */
  async function react(nowMs: number): Promise<boolean> {
    if (reactionRetry.at > nowMs) return false;
    if (waitMs(buckets, chatRates(), nowMs, reactionsLeave) > 0) return false;
    const pending = nextReaction(core);
    if (pending === null) return false;
    takeTokens(chatRates(), nowMs);
    counters.add('calls');
    const { row, reaction } = pending;
    const outcome = await timed(() =>
      platform.call({ kind: 'react', chatId: targetChat(core), ref: row.ref, reaction }),
    );
    sql.transaction(() => {
      switch (outcome.kind) {
        case 'sent':
          settleReaction(core, pending, reaction);
          break;
        case 'pause':
          pauseFor(core, outcome.afterMs, outcome.code);
          break;
        case 'retry':
          reactionRetry.failures += 1;
          reactionRetry.at = clock() + Math.min(reactionBackoffMaxMs, 1000 * 2 ** reactionRetry.failures);
          counters.add('retried');
          break;
        case 'migrate':
          followMigration(core, outcome.chatId);
          break;
        default:
          // The message is gone or takes no reactions.
          settleReaction(core, pending, noReaction);
      }
    });
    if (outcome.kind === 'sent') reactionRetry.failures = 0;
    return true;
  }

  return {
    /** Sends all rows that may be sent now. Never throws for a failed call. Calls `notify` for each project whose log has a new outcome. */
    async run(notify: (project: number) => void): Promise<void> {
      /** `record` gives true when the row reached its end. */
      const end = (row: OutboxRow, record: () => boolean): void => {
        const isNoted = sql.transaction(() => record() && noteOutcome(core, row));
        if (isNoted) notify(row.project);
      };
      for (let calls = 0; calls < callsPerRun; ) {
        const nowMs = clock();
        if (readPause(core) !== null) return;
        const row = readHeads(sql).find((head) => head.next_at <= nowMs && turnInMs(head, nowMs) === 0);
        if (row === undefined) {
          if (!(await react(nowMs))) return;
          calls += 1;
          continue;
        }
        if (row.expires_at <= nowMs) {
          end(row, () => finishDead(core, row, { code: 'expired', reason: 'it could not be sent in time' }));
          continue;
        }
        const call = resolveCall(core, row);
        if (call === null) {
          end(row, () => {
            markSent(sql, row, null, nowMs);
            return true;
          });
          continue;
        }
        if (row.state === 'sending') counters.add('possible_duplicates');
        sql.transaction(() => {
          if (calls === 0) guard();
          takeTokens(ratesFor(row), nowMs);
          setRow(sql, row, { state: 'sending', attempts: row.attempts + 1 });
        });
        calls += 1;
        counters.add('calls');
        const outcome = await timed(() => platform.call(call));
        end(row, () => record(core, row, outcome));
        if (outcome.kind === 'sent') offerMenuOnce(row.project);
      }
    },

    /** When the next row may be sent; null = no row waits. */
    nextAt(): number | null {
      const nowMs = clock();
      const times = readHeads(sql).map((row) => Math.max(row.next_at, nowMs + turnInMs(row, nowMs)));
      return times.length === 0 ? null : Math.max(Math.min(...times), readPause(core)?.untilAt ?? 0);
    },

    /** When the next reaction may be sent; null = no reaction waits. */
    nextReactionAt(): number | null {
      if (!isReactionDue(core)) return null;
      const nowMs = clock();
      const turnAt = nowMs + waitMs(buckets, chatRates(), nowMs, reactionsLeave);
      return Math.max(turnAt, reactionRetry.at, readPause(core)?.untilAt ?? 0);
    },

    /** Takes the tokens for a message that the Worker sends by itself and returns 0, or the milliseconds until there are tokens. */
    takeTurn(): number {
      const nowMs = clock();
      const pausedMs = (readPause(core)?.untilAt ?? nowMs) - nowMs;
      const wait = Math.max(pausedMs, waitMs(buckets, chatRates(), nowMs));
      if (wait === 0) takeTokens(chatRates(), nowMs);
      return wait;
    },
  };
}

/** Applies an outcome; true when the row reached its end. */
function record(core: Core, row: OutboxRow, outcome: SendOutcome): boolean {
  const { sql, counters } = core;
  const nowMs = core.clock();
  switch (outcome.kind) {
    case 'sent':
      noteReply(core, row, outcome.ref);
      markSent(sql, row, outcome.ref ?? null, nowMs, core.platform.capabilities.confirms);
      if (row.class === tapLane && (JSON.parse(row.call) as StoredCall).kind === 'menu') noteMenu(core);
      if (row.slot !== null && outcome.ref !== undefined) setSlotRef(sql, row.project, row.slot, outcome.ref);
      counters.add('sent');
      counters.add('send_ms', Math.max(0, nowMs - row.accepted_at));
      return true;
    case 'dead':
      return finishDead(core, row, outcome);
    case 'without': {
      const dropped = droppedOf(row);
      if (dropped.includes(outcome.what)) return finishDead(core, row, { code: 'rejected', reason: outcome.reason });
      if (outcome.what === 'target' && row.slot !== null) setSlotRef(sql, row.project, row.slot, null);
      requeue(sql, row, 0, [...dropped, outcome.what].join(','));
      if (outcome.what === 'topic' && noteTopicGone(core, row.project)) tellTopicGone(core, row.project);
      counters.add('retried');
      return false;
    }
    case 'migrate':
      requeue(sql, row, 0, row.without);
      followMigration(core, outcome.chatId);
      return false;
    case 'pause':
      pauseFor(core, outcome.afterMs, outcome.code);
      requeue(sql, row, 0, row.without);
      return false;
    case 'retry':
      requeue(sql, row, nowMs + Math.min(backoffMaxMs, 1000 * 2 ** row.attempts), row.without);
      if (row.attempts + 1 >= attemptsBeforeSlowLane) moveToSlowLane(sql, row);
      counters.add('retried');
      if (outcome.uncertain && row.slot === null) counters.add('possible_duplicates');
      return false;
  }
}

/** Before the call is emptied. */
function noteReply(core: Core, row: OutboxRow, ref: string | undefined): void {
  const stored = JSON.parse(row.call) as StoredCall;
  if (ref === undefined || stored.kind !== 'text' || stored.replyAction === undefined) return;
  noteReplyAction(core, row.project, { ref, key: row.key, action: stored.replyAction });
}

/** Gives true, as the row has reached its end. */
function finishDead(core: Core, row: OutboxRow, error: { code: string; reason: string }): true {
  markDead(core.sql, row, error, core.clock());
  // A button that came too late, or the answer to a tap, does not count as a loss.
  if ((JSON.parse(row.call) as StoredCall).kind === 'text') core.counters.add('dead');
  return true;
}
