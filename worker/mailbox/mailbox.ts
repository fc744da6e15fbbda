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
import { type AlarmDevice, createRuns, type Due, type Run } from './alarm.ts';
import type { Core } from './core.ts';
import { actOnLetter, deadLetterAnswers, isAwaySince, listDeadLetters } from './dead-letters/dead-letters.ts';
import type { Accepted } from './inbound/accepted.ts';
import { learnBotUsername, readBotUsername } from './inbound/bot-username.ts';
import { acceptEvent, type InboxParts } from './inbound/events.ts';
import { createFloodNotice } from './inbound/flood.ts';
import { meetDeadlines, nextDeadlineAt } from './notices/deadlines.ts';
import { answerCommand, type PhoneParts } from './notices/phone-commands.ts';
import { createDocuments, type Documents } from './outbound/documents.ts';
import { acceptItems } from './outbound/queue.ts';
import { createSender } from './outbound/sender.ts';
import { findFile } from './poll/hand-out.ts';
import { createPolls } from './poll/polls.ts';
import type { PollSocket, PollSockets } from './poll/sockets.ts';
import { type MailboxMetrics, readMetrics, readStatus } from './report.ts';
import { clean, nextCleaningAt } from './retention.ts';
import { closeAlbums, nextAlbumCloseAt } from './tables/albums.ts';
import { withForgetting } from './tables/cache.ts';
import { readProject } from './tables/projects.ts';
import { isReactionDue } from './tables/reactions.ts';
import type { ProjectRow } from './tables/rows.ts';

interface MailboxParts {
  core: Core;
  alarm: AlarmDevice;
  sockets: PollSockets;
}

/** Methods raise when the storage fails, and `mailbox_full`. */
export interface MailboxLogic {
  /** Each by itself, in order; `full` when one of them is to come again. */
  accept(events: readonly InboundEvent[]): Accepted['kind'];
  poll(socket: PollSocket, request: PollRequest): void;
  pollGone(project: number): void;
  post(request: OutboxRequest): OutboxAnswer;
  /** The alarm has come. Never rejects. */
  alarm(): Promise<void>;
  /** Resolves when nothing is being sent. */
  rest(): Promise<void>;
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
  const runs = createRuns({ device: alarm, clock: core.clock, due, tick, send });
  const sender = createSender(core, runs.guard);
  const polls = createPolls(core, sockets, runs.soon);
  const countForFlood = createFloodNotice(core);
  let nameWanted = false;
  /** A parked poll has just been answered; until the run that follows is over its workstation counts as there. */
  let answered = false;

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

  /** The message addresses a bot by name, and the username of this bot is not known. */
  function wantsName(event: InboundEvent, nowMs: number): boolean {
    if (event.kind !== 'message' || addressedTo(event.text) === undefined) return false;
    return readBotUsername(core.sql, nowMs) === null;
  }

  function accept(event: InboundEvent): Accepted['kind'] {
    const nowMs = core.clock();
    const accepted = acceptEvent(core, inboxParts, event, nowMs);
    if (accepted.kind === 'duplicate') return accepted.kind;
    if (accepted.kind === 'full') {
      runs.soon(true);
      return accepted.kind;
    }
    const told = accepted.counted && countForFlood(accepted.project, nowMs);
    if (wantsName(event, nowMs)) nameWanted = true;
    // Behind a parked poll the workstation most likely acknowledges before the reaction is there, and no alarm is needed.
    answered ||= polls.isParked(accepted.project);
    polls.notify(accepted.project);
    const sends = told || accepted.sends;
    if (sends || nameWanted || isReactionDue(core)) runs.soon(sends);
    return accepted.kind;
  }

  function due(run: Run): Due {
    return {
      tickAt: earliest(
        nextCleaningAt(core.sql),
        nextAlbumCloseAt(core.sql),
        nextDeadlineAt(core.sql, run !== 'none' && answered ? () => Number.POSITIVE_INFINITY : polls.presentAt),
      ),
      sendAt: run === 'none' ? sender.nextAt() : null,
      reactionAt: run === 'none' ? sender.nextReactionAt() : null,
    };
  }

  function tick(): void {
    core.counters.add('alarms');
    const nowMs = core.clock();
    for (const project of closeAlbums(core.sql, nowMs)) polls.notify(project);
    meetDeadlines(core, polls.presentAt, nowMs);
    if (nextCleaningAt(core.sql) <= nowMs) clean(core, nowMs);
  }

  async function send(): Promise<void> {
    if (nameWanted) {
      nameWanted = false;
      await learnBotUsername(core);
    }
    await sender.run(polls.notify);
  }

  /** Plans the alarm again after an event. */
  function planned<A extends unknown[], T>(event: (...args: A) => T): (...args: A) => T {
    return (...args) => {
      answered = false;
      try {
        return event(...args);
      } finally {
        runs.plan();
      }
    };
  }

  const documents = createDocuments(core, sender);
  runs.plan();
  return {
    accept: planned((events) => {
      const kinds = events.map(accept);
      return (['full', 'stored'] as const).find((kind) => kinds.includes(kind)) ?? 'duplicate';
    }),
    poll: planned(polls.poll),
    pollGone: planned(polls.gone),
    post: planned((request) => {
      const { answer, added } = acceptItems(core, request, core.clock());
      if (!added) return answer;
      runs.soon(true);
      // An edit that a newer one superseded has its outcome now.
      polls.notify(request.project);
      return answer;
    }),
    alarm: runs.alarm,
    rest: runs.rest,
    status: () => readStatus(core, sender.pause(), isAway),
    findFile: (project, id) => findFile(core, project, id),
    documents: { begin: planned(documents.begin), end: planned(documents.end) },
    letters: (project) => ({ letters: listDeadLetters(core, project, isAwayNow(project)) }),
    actOnLetter: planned((project, id, action) => {
      const nowMs = core.clock();
      const away = isAwayNow(project);
      const result = core.sql.transaction(() => actOnLetter(core, project, id, action, away, nowMs));
      if (result === 'unknown') {
        throw new WaError('not_found', `project ${project} has no letter ${id}`, {
          hint: 'see the ids with `wa-sync letters`',
        });
      }
      if (result === 'full') throw new WaError('mailbox_full', deadLetterAnswers.full, { retryAfterMs: 60_000 });
      runs.soon(true);
      polls.notify(project);
      return { letters: listDeadLetters(core, project, away) };
    }),
    metrics: () => readMetrics(core),
  };
}

function earliest(...times: (number | null)[]): number {
  return Math.min(...times.filter((time) => time !== null));
}
