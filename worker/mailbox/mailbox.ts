// One mailbox without Cloudflare: puts the parts together over a store, a clock, an alarm and sockets. Delegates only.

import { WaError } from '../../protocol/errors.ts';
import type {
  DeadLetterAction,
  DeadLettersAnswer,
  OutboxAnswer,
  OutboxRequest,
  PollRequest,
} from '../../protocol/relay-api.ts';
import { textsIn } from '../../protocol/texts.ts';
import { addressedTo } from '../commands.ts';
import type { InboundEvent } from '../platform.ts';
import { type AlarmDevice, createRuns, type Due, type Run } from './alarm.ts';
import type { Core } from './core.ts';
import { actOnDeadLetter, listDeadLetters } from './dead-letters/dead-letters.ts';
import { learnBotUsername, readBotUsername } from './inbound/bot-username.ts';
import { acceptEvent } from './inbound/events.ts';
import { type Accepted, createFloodNotice } from './inbound/quota.ts';
import { meetDeadlines, nextDeadlineAt } from './notices/deadlines.ts';
import { createDocuments } from './outbound/documents.ts';
import { endCredentialPause } from './outbound/platform-state.ts';
import { acceptItems } from './outbound/queue.ts';
import { createSender } from './outbound/sender.ts';
import { findFile } from './poll/hand-out.ts';
import { createPolls } from './poll/polls.ts';
import type { PollSocket } from './poll/sockets.ts';
import { readMetrics, readStatus } from './report.ts';
import { clean, nextCleaningAt } from './retention.ts';
import { closeAlbums, nextAlbumCloseAt } from './tables/albums.ts';
import { withForgetting } from './tables/cache.ts';
import { isReactionDue } from './tables/reactions.ts';
import { addTopic, freeTopic, learnTopics } from './topics.ts';

/** For the command line. */
const english = textsIn('en');

export type MailboxLogic = ReturnType<typeof createMailbox>;

/** The methods raise when the storage fails, and `mailbox_full`. */
export function createMailbox(given: Core, alarm: AlarmDevice) {
  const core: Core = { ...given, sql: withForgetting(given.sql) };
  const runs = createRuns({ device: alarm, clock: core.clock, due, tick, send });
  const sender = createSender(core, runs.guard);
  const polls = createPolls(core, runs.soon);
  const documents = createDocuments(core, sender);
  const countForFlood = createFloodNotice(core);
  let usernameWanted = false;
  let topicsWanted = false;
  /** A parked poll has just been answered; until the run that follows is over its workstation counts as there. */
  let answered = false;

  /** The message addresses a bot by name, and the username of this bot is not known. */
  function wantsUsername(event: InboundEvent): boolean {
    return event.kind === 'message' && addressedTo(event.text) !== undefined && readBotUsername(core) === null;
  }

  /** Whether the chat has topics matters to who asks what there is. */
  function wantsTopics(event: InboundEvent): boolean {
    return event.kind === 'message' && /^\/sessions\b/i.test(event.text);
  }

  function acceptOne(event: InboundEvent): Accepted['kind'] {
    const accepted = acceptEvent(core, event);
    if (accepted.kind === 'full') runs.soon(true);
    if (accepted.kind !== 'stored') return accepted.kind;
    const told = accepted.counted && countForFlood(accepted.project);
    if (wantsUsername(event)) usernameWanted = true;
    if (wantsTopics(event)) topicsWanted = true;
    // Behind a parked poll the workstation most likely acknowledges before the reaction is there, and no alarm is needed.
    answered ||= core.parked(accepted.project).length > 0;
    polls.notify(accepted.project);
    const sends = told || accepted.sends;
    if (sends || usernameWanted || isReactionDue(core)) runs.soon(sends);
    return accepted.kind;
  }

  function due(run: Run): Due {
    const times = [
      nextCleaningAt(core.sql),
      nextAlbumCloseAt(core.sql),
      nextDeadlineAt(core, run !== 'none' && answered),
    ];
    return {
      tickAt: Math.min(...times.filter((time) => time !== null)),
      sendAt: run === 'none' ? sender.nextAt() : null,
      reactionAt: run === 'none' ? sender.nextReactionAt() : null,
    };
  }

  function tick(): void {
    core.counters.add('alarms');
    const nowMs = core.clock();
    for (const project of closeAlbums(core.sql, nowMs)) polls.notify(project);
    meetDeadlines(core);
    if (nextCleaningAt(core.sql) <= nowMs) clean(core);
  }

  async function send(): Promise<void> {
    if (usernameWanted) {
      usernameWanted = false;
      await learnBotUsername(core);
    }
    await sender.run(polls.notify);
    if (!topicsWanted) return;
    topicsWanted = false;
    await learnTopics(core);
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

  /** Each event by itself, in order; `full` when one of them is to come again. */
  function accept(events: readonly InboundEvent[]): Accepted['kind'] {
    const kinds = events.map(acceptOne);
    return (['full', 'stored'] as const).find((kind) => kinds.includes(kind)) ?? 'duplicate';
  }

  function poll(socket: PollSocket, request: PollRequest): void {
    polls.poll(socket, request);
  }

  function post(request: OutboxRequest): OutboxAnswer {
    const { answer, added } = acceptItems(core, request);
    if (!added) return answer;
    runs.soon(true);
    // An edit that a newer edit superseded has its outcome now.
    polls.notify(request.project);
    return answer;
  }

  const deadLetters = (project: number): DeadLettersAnswer => ({
    deadLetters: listDeadLetters(core, project, english),
  });

  /** Raises `not_found`. */
  function actOn(project: number, id: string, action: DeadLetterAction['action']): DeadLettersAnswer {
    const result = core.sql.transaction(() => actOnDeadLetter(core, project, id, action));
    if (result === 'unknown' || result === 'done') {
      throw new WaError('not_found', `project ${project} has no dead letter ${id}`, {
        hint: 'see the ids with `wa-sync letters`',
      });
    }
    if (result === 'full') throw new WaError('mailbox_full', english.letters.results.full, { retryAfterMs: 60_000 });
    runs.soon(true);
    polls.notify(project);
    return deadLetters(project);
  }

  /** The credentials of the platform work: what waited for them is sent. */
  function resume(): void {
    if (endCredentialPause(core)) runs.soon(true);
  }

  runs.plan();
  return {
    accept: planned(accept),
    poll: planned(poll),
    pollGone: planned(polls.gone),
    post: planned(post),
    alarm: runs.alarm,
    rest: runs.rest,
    status: () => readStatus(core),
    findFile: (project: number, id: string) => findFile(core, project, id),
    beginDocument: planned(documents.begin),
    endDocument: planned(documents.end),
    resume: planned(resume),
    deadLetters,
    freeTopic: (name: string) => freeTopic(core, name),
    addTopic: (project: number, name: string) => addTopic(core, project, name),
    actOnDeadLetter: planned(actOn),
    metrics: () => readMetrics(core),
  };
}
