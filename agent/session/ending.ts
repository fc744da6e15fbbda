// The end of a turn: settles it, tells the phone, and begins what follows.

import { randomUUID } from 'node:crypto';
import type { Sprint, SprintEnd } from '../../protocol/sprint.ts';
import type { Texts } from '../../protocol/texts.ts';
import type { HookCall, TurnAnswer, TurnEvent } from '../../protocol/turn-events.ts';
import { sizeOf } from '../drivers/session-file.ts';
import { phoneTexts } from '../journal/state.ts';
import { answerId } from '../mailbox/signing.ts';
import { type AfterTurn, afterTurn } from '../turns/after-turn.ts';
import { endText, withoutMarker } from '../turns/sprint.ts';
import type { TurnPlace } from '../turns/view.ts';
import type { Desk } from './desk.ts';
import type { Held, HeldTurn } from './held-turn.ts';
import { currentStop, type Runtime, type Waiting } from './runtime.ts';
import type { SettledTurn, Settlement } from './settlement.ts';
import { placeIn, type TurnState } from './state.ts';
import { toStoredTurn } from './stored-turn.ts';
import type { HookHost, TurnsOptions } from './types.ts';

export type Ending = ReturnType<typeof createEnding>;

interface OpenEnd {
  why?: string | undefined;
  /** Why, where a key in the terminal was pressed for the owner. */
  cancelled?: string;
  lagMs?: number;
  answer?: string | undefined;
  /** The answer's id: the answer is of this turn alone. */
  id?: string;
  /** Where in the session file, if that is known. */
  until?: number | undefined;
}

type EndEvent = Extract<TurnEvent, { type: 'turnEnd' }>;

interface HowItEnded {
  /** The answer's id; undefined = no event told the end. */
  id?: string | undefined;
  before?: Sprint | undefined;
  after?: AfterTurn;
  why?: string | undefined;
  cancelled?: string | undefined;
}

/** How long the session file may lag behind the host's own event. */
const settleMs = 200;

export interface EndingParts {
  settlement: Settlement;
  sprints: SprintRecord;
  held: HeldTurn;
  desk: Pick<Desk, 'look' | 'withholds'>;
}

export function createEnding(runtime: Runtime, { settlement, sprints, held, desk }: EndingParts) {
  const { options, dispatch, viewOf, nonce, keepTurn } = runtime;
  const { project, journal, inbox, clock, log } = options;
  const p = project.key;
  const texts = () => phoneTexts(project);

  /** The end that the host told: what follows is decided after it is settled, and told to the phone before it begins. */
  async function endOfTurn(event: EndEvent, call: HookCall, host: HookHost): Promise<TurnAnswer | Held> {
    const { answer, run } = event;
    await desk.look();
    const place = placeIn(runtime.state);
    const at = place ?? { tool: host.tool, transcript: call.transcript, offset: 0 };
    const settled = await settlement.settle(answer, at, settleMs, event);
    const named = run ?? settled.lastId;
    const id = named === undefined ? undefined : answerId(host.tool, call.session, named);
    options.activity.ended(settled.outcome.failed);
    if (!settled.unsettled && !isWithheld(settled)) await tellCompressions(place);
    const before = project.sprint;
    const after = afterTurn(settled.outcome, viewOf(without(settled.returned, await inbox.waiting())), nonce());
    const unsettled = await report(settled, at, { id, before, after });
    if (unsettled) {
      await keepTurn();
      log('warn', 'turn not settled', { project: p, error: unsettled.message });
      return {};
    }
    await sprints.keep(after.sprint);
    if (after.ended) await sprints.tellEnd(after.ended.sprint, after.ended.end);
    if (after.warns) await options.tell(`context_${before?.id}`, fullText(settled.outcome.contextShare ?? 0, texts()));
    if (after.stopped) await stopsSpent(stoppedText(settled, clock() - runtime.state.startedAt, texts()));
    if (after.next && (await held.give(after.next, call, host))) {
      return { next: after.next.text, notice: after.next.notice };
    }
    if (after.holds && !host.isGone()) return held.hold(call, host);
    await keepTurn();
    return {};
  }

  /** An end without an event of its own: the next turn, the end of the session or of the process, an abort. */
  async function endOpenTurn({ why, cancelled, lagMs = settleMs, answer, id, until }: OpenEnd): Promise<void> {
    const place = placeIn(runtime.state);
    if (!place) return;
    const at = until === undefined ? place : { ...place, until };
    const settled = await settlement.settle(answer, at, lagMs, id === undefined ? {} : { alone: true });
    options.activity.ended(settled.outcome.failed);
    if (!settled.unsettled && !isWithheld(settled)) await tellCompressions(place);
    const unsettled = await report(settled, at, { id, why, cancelled });
    if (unsettled) throw unsettled;
  }

  /** Only of a turn whose beginning is known: an older compression was told then. */
  async function tellCompressions(place: TurnPlace | undefined): Promise<void> {
    if (!place?.transcript) return;
    try {
      for (const summary of await options.compressions(place)) {
        await options.tell(`compressed_${place.transcript}_${summary}`, texts().turns.compressed);
      }
    } catch (cause) {
      log('warn', 'compressions not read', { project: p, error: (cause as Error).message });
    }
  }

  function isWithheld({ before, replyTo }: SettledTurn): boolean {
    return isOfDesk(before) && replyTo === undefined && desk.withholds();
  }

  /** Settles and tells in one append of the journal. Gives the error of a full disk: the turn is settled later, and told under the same id. */
  async function report(
    settled: SettledTurn,
    { tool, transcript, offset, until }: TurnPlace,
    { id: ofEvent, before, after, why, cancelled }: HowItEnded,
  ): Promise<Error | undefined> {
    const { outcome, error, lastId, replyTo, receipts } = settled;
    const { turns: said } = texts();
    // Without an event, the model's last message names the end.
    const run = lastId ?? (transcript === undefined ? randomUUID() : String(offset));
    const id = ofEvent ?? toldOf(settled.before) ?? answerId(tool, transcript ?? '', run);
    const at = until ?? (await sizeOf(transcript));
    if (transcript !== undefined) dispatch({ type: 'toldUpTo', transcript, at });
    // Cancelled at the terminal, without a message of the phone in the turn: the owner sits there.
    const isCancelled = outcome.cancelled || cancelled !== undefined;
    if (outcome.lost || (isCancelled && replyTo === undefined)) {
      const unsettled = settled.unsettled ?? (await settlement.keep(settled, () => journal.append(receipts)));
      if (!unsettled) await tellReturned(settled);
      return unsettled;
    }
    const { failed } = outcome;
    const text = failed
      ? (error ?? cancelled ?? (outcome.cancelled ? cancelledTextOf(runtime.state, said) : (why ?? said.noAnswer)))
      : (outcome.answer ?? '');
    const lead = before && !failed ? sprintLead(before, after, texts()) : undefined;
    const shown = before && !failed ? withoutMarker(text) : text;
    const via = { tool, session: runtime.state.bound?.id ?? '', transcript: transcript ?? null, at };
    // What the append tells, the next look must still settle.
    if (settled.unsettled) dispatch({ type: 'endTold', id });
    const turn = toStoredTurn(runtime.state);
    const withheld = isWithheld(settled) && !before && !after?.stopped ? { withheld: true as const } : {};
    const answer = { id, turn, via, text: shown, failed, replyTo, ...(lead ? { lead } : {}), ...withheld };
    const tell = () => options.report({ ...answer, receipts });
    const unsettled = await (settled.unsettled
      ? tell().then(
          () => settled.unsettled,
          () => settled.unsettled,
        )
      : settlement.keep(settled, tell));
    if (unsettled) dispatch({ type: 'endTold', id });
    else await tellReturned(settled);
    return unsettled;
  }

  /** What a STOP has parked waits for the owner; of the rest the report of a turn says enough, and a lost one has none. */
  async function tellReturned({ returned, outcome }: SettledTurn): Promise<void> {
    const parked = returned.filter((id) => project.messages.get(id)?.parked === 'parked').length;
    if (parked > 0) await options.tell(`parked_${clock()}`, texts().stop.parkedBack(parked));
    if (outcome.lost && returned.length > parked)
      await options.tell(`lost_${clock()}`, lostTextOf(runtime.state, texts().turns));
  }

  /** `before` = what the abort kept from happening; undefined = what the STOP was meant for had ended by itself. */
  async function spendStop(before?: string): Promise<void> {
    if (before === undefined) {
      await sprints.end('stopped');
      await stopsSpent(texts().stop.late);
      return;
    }
    await endOpenTurn({ why: texts().turns.aborted(before), lagMs: 0 });
    await sprints.end('aborted');
    await stopsSpent(undefined);
    await keepTurn();
  }

  /** Journals that every open STOP has had its effect; the phone hears it once per STOP. */
  async function stopsSpent(text: string | undefined): Promise<void> {
    const stop = currentStop(project, inbox.foreignStop());
    if (!stop) return;
    if (text !== undefined) await options.tell(`stopped_${stop.id}`, text);
    const ids = [...project.controls.values()]
      .filter(({ control }) => control.type === 'stop' || control.type === 'abort')
      .map(({ id }) => id);
    if (ids.length > 0) await journal.append([{ t: 'spent', p, at: clock(), ids }]);
    if (inbox.foreignStop()) await inbox.settleForeignStops();
    await inbox.refresh();
    log('info', 'stop spent', { project: p, stops: ids.length });
  }

  return { endOfTurn, endOpenTurn, spendStop };
}

/** A person began it at the terminal. */
function isOfDesk({ chain, turn }: TurnState): boolean {
  return !chain.fromPhone && !(turn.phase === 'running' && turn.continued);
}

function cancelledTextOf({ bound }: TurnState, said: Texts['turns']): string {
  return bound?.owned ? said.cancelledHere : said.cancelled;
}

function lostTextOf({ bound }: TurnState, said: Texts['turns']): string {
  return bound?.owned ? said.lostOwned : said.lost;
}

function toldOf({ turn }: TurnState): string | undefined {
  return turn.phase === 'idle' ? undefined : turn.told;
}

/** A message that has just failed to reach the model is not tried again at once: the reason is still there. */
function without(ids: readonly string[], { messages, further }: Waiting): Waiting {
  return { messages: messages.filter(({ entry }) => !ids.includes(entry.id)), further };
}

/** Rounded down: a share that is passed, never one that is still to come. */
function fullText(share: number, { turns }: Texts): string {
  return turns.contextFull(Math.floor(share * 100));
}

function stoppedText({ outcome }: SettledTurn, ms: number, { stop, words }: Texts): string {
  return stop.afterTurn(words.duration(Math.max(1_000, ms)), outcome.toolCalls);
}

export type SprintRecord = ReturnType<typeof createSprintRecord>;

/** The sprint as the journal has it, and what the phone hears of it. */
export function createSprintRecord({ project, journal, clock, log, tell }: TurnsOptions) {
  const p = project.key;

  async function keep(sprint: Sprint | undefined): Promise<void> {
    if (sprint === project.sprint) return;
    await journal.append([{ t: 'sprint', p, at: clock(), sprint: sprint ?? null }]);
  }

  async function tellEnd(sprint: Sprint | undefined, end: SprintEnd): Promise<void> {
    if (!sprint) return;
    log('info', 'sprint ended', { project: p, sprint: sprint.id, end, done: sprint.done });
    await tell(`sprint_${sprint.id}`, endText(sprint, end, clock(), phoneTexts(project)));
  }

  async function end(why: SprintEnd): Promise<void> {
    const { sprint } = project;
    if (!sprint) return;
    await keep(undefined);
    await tellEnd(sprint, why);
  }

  /** As `end`, for whoever tells the phone in an answer of its own: the line, or none. */
  async function endUntold(why: SprintEnd, texts: Texts): Promise<string[]> {
    const { sprint } = project;
    if (!sprint) return [];
    await keep(undefined);
    log('info', 'sprint ended', { project: p, sprint: sprint.id, end: why, done: sprint.done });
    return [endText(sprint, why, clock(), texts)];
  }

  return { keep, tellEnd, end, endUntold };
}

/** The line above the report of a turn; '' = a turn outside the sprint. */
function sprintLead(sprint: Sprint, after: AfterTurn | undefined, { sprint: said }: Texts): string {
  if (sprint.turn === 'final') return said.finalStatus;
  if (sprint.turn !== 'task') return '';
  const finished = ((after?.sprint ?? after?.ended?.sprint)?.done ?? 0) > sprint.done;
  return finished ? said.taskDone(sprint.done + 1, sprint.tasks) : said.taskOpen(sprint.done + 1, sprint.tasks);
}
