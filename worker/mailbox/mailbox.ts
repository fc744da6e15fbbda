// One mailbox without Cloudflare: puts the parts together over a store, a clock, an alarm and sockets. Delegates only.

import { WaError } from '../../protocol/errors.ts';
import type { PhoneFile } from '../../protocol/log.ts';
import type {
  LetterAction,
  LettersAnswer,
  MailboxStatus,
  OutboxAnswer,
  OutboxRequest,
  PollRequest,
} from '../../protocol/relay-api.ts';
import { addressedTo } from '../commands.ts';
import type { InboundEvent } from '../platform.ts';
import { closeAlbums, nextAlbumCloseAt } from './albums.ts';
import { withForgetting } from './cache.ts';
import type { Core } from './core.ts';
import { meetDeadlines, nextDeadlineAt } from './deadlines.ts';
import type { Documents } from './documents.ts';
import { createDocuments } from './documents.ts';
import { createFlood } from './flood.ts';
import type { Accepted, InboxParts } from './inbox.ts';
import { acceptEvent } from './inbox.ts';
import { acceptItems } from './intake.ts';
import { actOnLetter, isAwaySince, letterAnswers, listLetters } from './letters.ts';
import { learnOwnName, readOwnName } from './own-name.ts';
import type { PhoneParts } from './phone-commands.ts';
import { answerCommand } from './phone-commands.ts';
import { findFile } from './phone-files.ts';
import { createPolls } from './polls.ts';
import type { ProjectRow } from './projects.ts';
import { readProject } from './projects.ts';
import type { MailboxMetrics } from './report.ts';
import { readMetrics, readStatus } from './report.ts';
import { clean, nextCleaningAt } from './retention.ts';
import { createSender } from './sender.ts';
import type { PollSocket, PollSockets } from './waiters.ts';

interface AlarmClock {
  /** Sets the alarm unless an earlier one is set. Must take effect with the writes around it. */
  ensure(atMs: number): void;
  /** Sets it for the case that the object dies during a call; taken back when the calls are over. */
  guard(): void;
  /** Something may be sent now: must call `send` after the current call, and, when it is durable, set an alarm for the case that it never gets there. */
  soon(durable: boolean): void;
}

/** When a call of the platform is taken for lost with the object that made it; longer than any call. */
export const watchdogMs = 45_000;

export interface MailboxParts {
  core: Core;
  alarm: AlarmClock;
  sockets: PollSockets;
}

/** Methods raise when the storage fails, and `mailbox_full`. */
export interface MailboxLogic {
  accept(event: InboundEvent): Accepted['kind'];
  poll(socket: PollSocket, request: PollRequest): void;
  pollGone(project: number): void;
  post(request: OutboxRequest): OutboxAnswer;
  /** What time does: to be called by the alarm, before `send`. */
  tick(): void;
  /** Sends what may go. Only one call at a time. */
  send(): Promise<void>;
  /** When `tick` is needed next. */
  nextTickAt(): number;
  /** When the alarm is needed next, be it for `tick` or for `send`; reactions apart, which a fresh object finds again. */
  nextWakeAt(): number;
  /** When `send` has a reaction to show; null = none waits. */
  nextReactionAt(): number | null;
  status(): MailboxStatus;
  /** Raises `not_found`. */
  findFile(project: number, id: string): PhoneFile;
  readonly documents: Documents;
  letters(project: number): LettersAnswer;
  /** Raises `not_found`. */
  actOnLetter(project: number, id: string, action: LetterAction['action']): LettersAnswer;
  metrics(): MailboxMetrics;
}

export function createMailbox({ core: given, alarm, sockets }: MailboxParts): MailboxLogic {
  const core: Core = { ...given, sql: withForgetting(given.sql) };
  const sender = createSender(core, () => alarm.guard());
  const polls = createPolls(core, sockets, (durable) => alarm.soon(durable));
  const flood = createFlood(core);
  let nameWanted = false;

  const isAway = (row: ProjectRow): boolean => isAwaySince(polls.presentAt(row), core.clock());

  function isAwayNow(project: number): boolean {
    const row = readProject(core.sql, project);
    return row !== undefined && isAway(row);
  }

  const phoneParts: PhoneParts = { pause: sender.pause, presentAt: polls.presentAt, isAway };
  const inboxParts: InboxParts = {
    answerCommand: (command, args, project, nowMs) => answerCommand(core, phoneParts, command, args, project, nowMs),
    actOnLetter: (project, id, action, nowMs) => actOnLetter(core, project, id, action, isAwayNow(project), nowMs),
  };

  /** Somebody addressed a bot by a name, and which is ours is not known. */
  function wantsName(event: InboundEvent, nowMs: number): boolean {
    if (event.kind !== 'message' || addressedTo(event.text) === undefined) return false;
    return readOwnName(core.sql, nowMs) === null;
  }

  function nextTickAt(): number {
    return earliest(nextCleaningAt(core.sql), nextAlbumCloseAt(core.sql), nextDeadlineAt(core.sql, polls.presentAt));
  }

  return {
    accept(event) {
      const nowMs = core.clock();
      const accepted = acceptEvent(core, inboxParts, event, nowMs);
      if (accepted.kind === 'duplicate') return accepted.kind;
      if (accepted.kind === 'full') {
        alarm.soon(true);
        return accepted.kind;
      }
      const told = accepted.counted && flood.count(accepted.project, nowMs);
      if (wantsName(event, nowMs)) nameWanted = true;
      if (accepted.wakeAt !== null) alarm.ensure(accepted.wakeAt);
      const wasParked = polls.isParked(accepted.project);
      polls.notify(accepted.project);
      const reacts = core.platform.capabilities.reactions && accepted.counted;
      const sends = told || accepted.sends;
      if (sends || nameWanted || reacts) alarm.soon(sends);
      // Behind a parked poll the workstation most likely acknowledges before the reaction is there, and no alarm is needed.
      if (!(wasParked && reacts)) alarm.ensure(nextTickAt());
      return accepted.kind;
    },
    poll: (socket, request) => polls.poll(socket, request),
    pollGone(project) {
      polls.gone(project);
      alarm.ensure(nextTickAt());
    },
    post(request) {
      const nowMs = core.clock();
      const { answer, added } = acceptItems(core, request, nowMs);
      if (!added) return answer;
      alarm.soon(true);
      // What a newer edit overtook has its outcome.
      polls.notify(request.project);
      return answer;
    },
    tick() {
      core.counters.add('alarms');
      const nowMs = core.clock();
      for (const project of closeAlbums(core.sql, nowMs)) polls.notify(project);
      meetDeadlines(core, polls.presentAt, nowMs);
      if (nextCleaningAt(core.sql) <= nowMs) clean(core, nowMs);
    },
    async send() {
      if (nameWanted) {
        nameWanted = false;
        await learnOwnName(core);
      }
      await sender.run(polls.notify);
    },
    nextTickAt,
    nextReactionAt: sender.nextReactionAt,
    nextWakeAt: () => earliest(nextTickAt(), sender.nextAt()),
    status: () => readStatus(core, sender.pause(), isAway),
    findFile: (project, id) => findFile(core, project, id),
    documents: createDocuments(core, sender),
    letters: (project) => ({ letters: listLetters(core, project, isAwayNow(project)) }),
    actOnLetter(project, id, action) {
      const nowMs = core.clock();
      const away = isAwayNow(project);
      const result = core.sql.transaction(() => actOnLetter(core, project, id, action, away, nowMs));
      if (result === 'unknown') {
        throw new WaError('not_found', `project ${project} has no letter ${id}`, {
          hint: 'see the ids with `wa-sync letters`',
        });
      }
      if (result === 'full') throw new WaError('mailbox_full', letterAnswers.full, { retryAfterMs: 60_000 });
      alarm.soon(true);
      alarm.ensure(nextTickAt());
      polls.notify(project);
      return { letters: listLetters(core, project, away) };
    },
    metrics: () => readMetrics(core),
  };
}

function earliest(...times: (number | null)[]): number {
  return Math.min(...times.filter((time) => time !== null));
}
