// What hooks did without the daemon, seen from the turn: the journal has what they gave and the answers that they told.

import type { HookCall } from '../../protocol/turn-events.ts';
import { sizeOf } from '../drivers/session-file.ts';
import type { EndedTurn } from '../journal/records.ts';
import { knowsEnd, phoneTexts } from '../journal/state.ts';
import { answerId } from '../mailbox/signing.ts';
import type { TurnPlace } from '../turns/view.ts';
import type { Ending } from './ending.ts';
import type { Runtime } from './runtime.ts';
import { turnRecord } from './settlement.ts';
import { carriedBy, isBusy, placeIn } from './state.ts';
import { begunIn, givenIn, placeOf, type TurnEnd, toldIn, toStoredTurn } from './stored-turn.ts';
import type { HookHost } from './types.ts';

/** Begins what a hook alone writes of a turn that failed. */
const failedAlone = 'Failed: ';

export interface Adopting {
  /** After another look at the outbox file. */
  isFresh?: boolean;
}

/** All of these are called in the queue of the events. */
export function createAdoption(runtime: Runtime, ending: Ending) {
  const { options, dispatch, keepTurn } = runtime;
  const { project, inbox, scanOutbox, log } = options;

  /** What a hook gave belongs to the turn that runs in that session file, or is one. */
  async function takeHands(): Promise<void> {
    const alone = givenIn(project).filter(({ id }) => !carriedBy(runtime.state).includes(id));
    const [first] = alone;
    if (!first) return;
    const place = placeOf(first.hand);
    const open = placeIn(runtime.state);
    if (open && open.transcript !== place.transcript) {
      await scanOutbox();
      await takeEnds();
      await ending.endOpenTurn({ lagMs: 0 });
    }
    dispatch({ type: 'turnFound', place, ids: alone.map(({ id }) => id) });
  }

  /** A turn that a hook alone began may follow one that nobody told. */
  async function takeUntold(): Promise<void> {
    const [first] = givenIn(project);
    const place = placeIn(runtime.state);
    if (first?.hand.starts && first.hand.offset === place?.offset) await findUntold(place, first.hand.session);
  }

  /** An answer from behind the beginning of the turn ended it, or the beginning of another turn; what was given from there on belongs to that. */
  async function takeEnds(): Promise<void> {
    if (!isBusy(runtime.state)) return;
    const begun = begunIn(project).filter(isBehind);
    // The answers before them stand there, unless another program has taken them out.
    const isTaken = begun.length > 0 && (await scanOutbox());
    const ends: TurnEnd[] = [...toldIn(project), ...(isTaken ? begun : [])].sort((a, b) => a.at - b.at);
    for (const end of ends) {
      const { transcript, at, told } = end;
      const place = placeIn(runtime.state);
      if (!place || !isBehind(end)) continue;
      // Nobody signs where it ended. A session file that was replaced or removed meanwhile does not reach the beginning of the turn.
      const size = await sizeOf(transcript);
      if (at > size && size >= place.offset) continue;
      if (knowsEnd(toStoredTurn(runtime.state), told?.id, end)) continue;
      // A continuation whose prompt is still to come began behind its place, too.
      if (!told && !(await hasAnswer({ ...place, until: at }))) continue;
      const later = givenIn(project).filter(({ hand }) => hand.transcript === transcript && hand.offset >= at);
      const ids = later.map((message) => message.id);
      dispatch({ type: 'takenBack', ids });
      if (told) dispatch({ type: 'endTold', id: told.id });
      // The session file may not have had the answer yet when the hook told it.
      const answer = told && !isFailure(told.text) ? told.text : undefined;
      await ending.endOpenTurn({ lagMs: 0, answer, until: at });
      const [first] = later;
      if (first) dispatch({ type: 'turnFound', place: placeOf(first.hand), ids });
    }
  }

  /** In the session file of the turn that runs, behind its beginning. */
  function isBehind({ transcript, at }: EndedTurn): boolean {
    const place = placeIn(runtime.state);
    return place !== undefined && place.transcript === transcript && at > place.offset;
  }

  function isFailure(text: string): boolean {
    return [failedAlone, phoneTexts(project).turns.failed('')].some((prefix) => text.startsWith(prefix));
  }

  /** Takes the last turn before this place that a hook alone could not tell: its prompt and its answer stand in the session file, and in no entry. */
  async function findUntold({ tool, transcript, offset: until }: TurnPlace, session: string): Promise<void> {
    const { toldTo, isFresh, bound } = runtime.state;
    if (!isFresh || bound?.id !== session || !toldTo || toldTo.transcript !== transcript) return;
    if (!(await scanOutbox())) return;
    const ends = toldIn(project).flatMap(({ transcript: of, at }) => (of === transcript && at <= until ? at : []));
    const place = { tool, transcript, offset: Math.max(toldTo.at, ...ends) };
    if (place.offset >= until) return;
    if (await hasAnswer({ ...place, until })) dispatch({ type: 'turnFound', place, ids: [] });
  }

  /** An answer without its prompt belongs to a turn that was told before its answer stood in the file. */
  async function hasAnswer(at: TurnPlace): Promise<boolean> {
    const record = await turnRecord(at);
    return record?.answer !== undefined && record.answer !== '' && record.prompts.length > 0;
  }

  /** Takes what the notes of hooks say. */
  async function adopt({ isFresh = false }: Adopting = {}): Promise<void> {
    await inbox.catchUp();
    await takeHands();
    await takeUntold();
    if (isFresh) await scanOutbox();
    await takeEnds();
    await keepTurn();
  }

  /** Before a session is bound: what stands in its file by then counts as told. A full disk keeps no session from beginning. */
  async function adoptOpen(): Promise<void> {
    if (!isBusy(runtime.state)) return;
    await adopt({ isFresh: true }).catch((cause) =>
      log('warn', 'turn not settled', { project: project.key, error: (cause as Error).message }),
    );
  }

  /** Before an event is handled. False = its launcher had given up, and the hook alone did what the event says: another turn may run by now. */
  async function adoptBefore({ event, session }: HookCall, host: HookHost): Promise<boolean> {
    switch (event.type) {
      case 'turnStart':
        await adopt({ isFresh: isBusy(runtime.state) });
        return !host.isGone();
      case 'turnEnd':
        await adopt({ isFresh: host.isGone() });
        return !host.isGone() || !isTold(event.run === undefined ? '' : answerId(host.tool, session, event.run));
      case 'sessionEnd':
        await adopt({ isFresh: isBusy(runtime.state) });
        return true;
      case 'sessionStart':
        await adoptOpen();
        return true;
      default:
        return true;
    }
  }

  /** An end that a full disk left unsettled still is to be. */
  function isTold(id: string): boolean {
    return project.outbox.has(id) && project.turn?.told !== id;
  }

  return { adopt, adoptBefore, adoptOpen, findUntold };
}
