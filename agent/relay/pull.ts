// The pull loop of one project: poll, journal the rows, update the file, poll again with the new cursor. The cursor is the promise
// that every row at or below the cursor is on this disk.

import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { WaError } from '../../protocol/errors.ts';
import { relayLimits } from '../../protocol/limits.ts';
import type { ControlRow, KeyEnd, MessageRow, Row } from '../../protocol/log.ts';
import type { Receipt } from '../../protocol/receipts.ts';
import type { PollAnswer, SlowDown } from '../../protocol/relay-api.ts';
import { essenceOf, type Standing } from '../../protocol/standing.ts';
import type { Journal } from '../journal/journal.ts';
import type { ProjectRecord } from '../journal/records.ts';
import { isKnown, type ProjectState } from '../journal/state.ts';
import type { Log } from '../log.ts';
import { createBackoff, createPace, type Pace, pause } from './backoff.ts';
import type { RelayClient } from './client.ts';
import type { Outages } from './outages.ts';

export interface PullOptions {
  project: ProjectState;
  address: { mailbox: string; project: number };
  journal: Journal;
  client: RelayClient;
  daemon: { id: string; startedAt: number };
  clock: () => number;
  random: () => number;
  log: Log;
  outages: Outages;
  /** A test with its own clock sets this. */
  pace?: Pace;
  /** Where the project stands now; undefined = the relay is not told. */
  standing?: () => Standing;
  /** Called after the journal has new rows, except outcomes. The next poll waits for the result. */
  onRows(rows: readonly Row[]): Promise<void>;
  /** The journal has the ends of these keys. */
  onEnded(ends: readonly KeyEnd[]): void;
  /** The relay may have lost posted keys, or another daemon may have their outcomes: open keys must be posted again. */
  onEpoch(): void;
  /** A new message that no agent gets before the owner has said what it is for. */
  asksAbout?(row: MessageRow): boolean;
  /** The relay's clock minus ours, milliseconds. */
  onRelayClock(offsetMs: number): void;
}

export type PullState =
  | { state: 'connecting' | 'connected' }
  | { state: 'failing'; error: WaError; since: number }
  | { state: 'stopped' };

export interface Pull {
  /** A receipt waits: polls again after `gatherReceiptsMs`, while the older poll is still open. */
  nudge(): void;
  /** Polls at once, dropping a wait between tries. */
  wake(): void;
  /** Tells the relay by a poll of its own that the project stands otherwise than it knows, at most once in `standingEveryMs`. */
  stands(): void;
  current(): PullState;
  stop(): Promise<void>;
  /** Resolves when the loop ended: by `stop`, or for good because another start of the daemon took over. */
  readonly finished: Promise<'stopped' | 'superseded'>;
}

const gatherReceiptsMs = 200;
const unauthorizedRetryMs = 5 * 60_000;
const standingEveryMs = 15_000;
/** A relay may not keep the daemon away for longer. */
const pollAfterMaxMs = relayLimits.offlineAfterMs;

export function startPull(options: PullOptions): Pull {
  const { project, journal, client, clock, log, outages, pace = createPace() } = options;
  const part = `${project.key} poll`;
  const stopping = new AbortController();
  let backoff = createBackoff(options.random);
  let current: PullState = { state: 'connecting' };
  let lastMessageAt = clock();
  let shortAnswers = 0;
  let interrupt = new AbortController();
  let gathering: NodeJS.Timeout | undefined;
  /** The standing that the relay has, or is being sent. */
  let told: Standing | undefined;
  let standingNudgedAt = 0;
  /** What the relay has asked for while its day's share runs out. */
  let slow: SlowDown | undefined;
  /** The last poll was held, and brought nothing. */
  let isQuiet = false;
  /** Answers are handled one after the other, also when two polls end together. */
  let handling: Promise<void> = Promise.resolve();

  /** The first poll after a start or an outage is not held: the daemon needs the relay's rows at once. */
  function holdMs(): number {
    if (current.state !== 'connected') return 0;
    const ownMs = clock() - lastMessageAt > relayLimits.quietAfterMs ? relayLimits.holdQuietMs : relayLimits.holdMs;
    return Math.min(relayLimits.holdQuietMs, Math.max(ownMs, slow?.holdMs ?? 0));
  }

  /** A turn, or a terminal that waits for the phone, may need a STOP or a message at any time. */
  function isIdle(): boolean {
    return (options.standing?.().doing ?? 'idle') === 'idle';
  }

  /** The standing for the next poll, when the relay does not have it. */
  function freshStanding(): Standing | undefined {
    const now = options.standing?.();
    if (now === undefined || isDeepStrictEqual(now, told)) return undefined;
    told = now;
    return now;
  }

  async function pollOnce(): Promise<void> {
    const receipts = [...project.receipts.values()].slice(0, relayLimits.pollReceipts);
    const standing = freshStanding();
    const heldMs = holdMs();
    const polling = client.poll(
      {
        ...options.address,
        epoch: project.epoch,
        after: project.epoch === null ? null : project.cursor,
        holdMs: heldMs,
        daemon: options.daemon,
        receipts,
        ...(standing === undefined ? {} : { standing }),
      },
      stopping.signal,
    );
    const answer = await polling.catch((cause) => {
      // Whether the relay has the standing is not known.
      told = undefined;
      throw cause;
    });
    const handled = handling.then(() =>
      handle(answer, receipts, { wasHeld: heldMs > 0, isTold: standing !== undefined }),
    );
    handling = handled.catch(() => {});
    await handled;
  }

  async function handle(
    answer: PollAnswer,
    receipts: Receipt[],
    { wasHeld, isTold }: { wasHeld: boolean; isTold: boolean },
  ): Promise<void> {
    options.onRelayClock(answer.now - clock());
    // Another storage has it only when this poll brought it.
    if (answer.epoch !== project.epoch && !isTold) told = undefined;
    const { fresh, ends, isMoved } = await takeRows(answer, receipts);
    slow = isSlowDown(answer.slow) ? answer.slow : undefined;
    isQuiet = wasHeld && fresh.length + ends.length === 0;
    outages.worked(part);
    current = { state: 'connected' };
    backoff = createBackoff(options.random);
    shortAnswers = 0;
    if (fresh.length + ends.length > 0) pace.giveBack();
    if (ends.length > 0) options.onEnded(ends);
    if (isMoved) options.onEpoch();
    if (fresh.length > 0) {
      lastMessageAt = clock();
      log('info', 'received', { project: project.key, rows: fresh.length, cursor: project.cursor });
      await options.onRows(fresh);
    }
  }

  /** Journals the answer in one fsync. Gives the rows that were not known, outcomes as the ends of keys that the journal has. */
  async function takeRows(answer: PollAnswer, receipts: Receipt[]) {
    const p = project.key;
    const at = clock();
    const records: ProjectRecord[] = [];
    const fresh: Row[] = [];
    const ends: KeyEnd[] = [];
    let { cursor } = project;
    // This daemon acknowledges no row above its cursor, so another daemon acknowledged the rows between.
    const isMoved = answer.epoch !== project.epoch || answer.cursor > cursor;
    if (isMoved) {
      const below = answer.rows[0] ? answer.rows[0].seq - 1 : answer.cursor;
      cursor = answer.epoch === project.epoch ? Math.max(cursor, below) : below;
      records.push({ t: 'epoch', p, at, epoch: answer.epoch, cursor });
    }
    const rows = new Set(answer.rows.map((row) => row.id));
    const ahead = answer.controls.filter((row: ControlRow) => !rows.has(row.id) && !isKnown(project, row.id));
    for (const row of ahead) records.push({ t: 'row', p, at, row, ahead: true });
    for (const row of answer.rows) {
      // Known rows too: their line moves the cursor.
      records.push({ t: 'row', p, at, row });
      // In the append that makes it known: in between, a hook could take it.
      const isNew = row.kind === 'message' && !row.expired && !isKnown(project, row.id);
      if (isNew && options.asksAbout?.(row)) records.push({ t: 'parked', p, at, ids: [row.id], why: 'question' });
      if (row.kind !== 'outcome') {
        if (!isKnown(project, row.id)) fresh.push(row);
      } else if (row.seq > cursor && project.outbox.get(row.outcome.key)?.end?.state !== row.outcome.state) {
        ends.push(row.outcome);
      }
    }
    if (!isDeepStrictEqual(answer.phone, project.phone)) records.push({ t: 'phone', p, at, phone: answer.phone });
    if (receipts.length > 0) records.push({ t: 'receipted', p, at, receipts });
    await journal.append(records);
    return { fresh: [...ahead, ...fresh], ends: ends.filter(({ key }) => project.outbox.has(key)), isMoved };
  }

  /** How long to wait after a failure; undefined = the loop is over. */
  function afterFailure(cause: unknown): number | undefined {
    const error = cause instanceof WaError ? cause : new WaError('internal', String(cause), { cause });
    if (error.code === 'superseded') {
      log('error', 'superseded', { project: project.key });
      return undefined;
    }
    // The body ends early when the relay restarts during a poll: the next poll works again.
    if (error.code === 'relay_bad_answer' && shortAnswers++ < 3) return 0;
    outages.failed(part, error);
    if (current.state !== 'failing' || current.error.code !== error.code) {
      current = { state: 'failing', error, since: clock() };
    }
    if (error.code === 'unauthorized') return unauthorizedRetryMs;
    return backoff(error.retryAfterMs);
  }

  async function loop(): Promise<'stopped' | 'superseded'> {
    while (!stopping.signal.aborted) {
      await pace.turn(stopping.signal);
      if (stopping.signal.aborted) break;
      interrupt = new AbortController();
      const interrupted = once(interrupt.signal, 'abort');
      const poll = pollOnce();
      // When a nudge starts the next poll, the relay ends this one; its answer is handled all the same.
      poll.catch(() => {});
      try {
        await Promise.race([poll, interrupted]);
        if (slow && isQuiet && isIdle() && !interrupt.signal.aborted) {
          const pauseMs = Math.min(pollAfterMaxMs, slow.pollAfterMs);
          await pause(pauseMs, AbortSignal.any([stopping.signal, interrupt.signal]));
        }
      } catch (cause) {
        if (stopping.signal.aborted) break;
        const waitMs = afterFailure(cause);
        if (waitMs === undefined) return 'superseded';
        await pause(waitMs, AbortSignal.any([stopping.signal, interrupt.signal]));
      }
    }
    return 'stopped';
  }

  const finished = loop().finally(() => {
    clearTimeout(gathering);
    current = { state: 'stopped' };
  });

  return {
    finished,
    current: () => current,
    nudge() {
      gathering ??= setTimeout(() => {
        gathering = undefined;
        interrupt.abort();
      }, gatherReceiptsMs);
    },
    wake: () => interrupt.abort(),
    stands() {
      const isSoon = clock() - standingNudgedAt < standingEveryMs;
      if (!options.standing || isSoon || current.state !== 'connected' || (slow && isIdle())) return;
      if (told && essenceOf(told) === essenceOf(options.standing())) return;
      standingNudgedAt = clock();
      interrupt.abort();
    },
    async stop() {
      stopping.abort();
      await finished;
      await handling;
    },
  };
}

function isSlowDown(value: unknown): value is SlowDown {
  const { holdMs, pollAfterMs } = (value ?? {}) as Record<string, unknown>;
  return [holdMs, pollAfterMs].every((each) => Number.isSafeInteger(each) && (each as number) >= 0);
}
