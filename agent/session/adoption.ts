// What hooks did without the daemon, seen from the turn: the journal has what they gave and the answers that they told.

import { sizeOf } from '../drivers/session-file.ts';
import { knowsEnd, phoneTexts } from '../journal/state.ts';
import type { TurnPlace } from '../turns/view.ts';
import type { Ending } from './ending.ts';
import type { Runtime } from './runtime.ts';
import { turnRecord } from './settlement.ts';
import { carriedBy, isBusy, placeIn } from './state.ts';
import { givenIn, placeOf, toldIn, toStoredTurn } from './stored-turn.ts';

/** Begins what a hook alone writes of a turn that failed. */
const failedAlone = 'Failed: ';

/** Both are called in the queue of the events. */
export function createAdoption(runtime: Runtime, ending: Ending) {
  const { options, dispatch, keepTurn } = runtime;
  const { project, inbox, scanOutbox } = options;

  /** What a hook gave belongs to the turn that runs in that session file, or is one. */
  async function takeHands(): Promise<void> {
    const alone = givenIn(project).filter(({ id }) => !carriedBy(runtime.state).includes(id));
    const [first] = alone;
    if (!first) return;
    const place = placeOf(first.hand);
    const open = placeIn(runtime.state);
    if (open && open.transcript !== place.transcript) await ending.endOpenTurn({ lagMs: 0 });
    dispatch({ type: 'turnFound', place, ids: alone.map(({ id }) => id) });
  }

  /** An answer from behind the beginning of the turn ended it; what was given from there on belongs to the next one. */
  async function takeEnds(): Promise<void> {
    if (!isBusy(runtime.state)) return;
    for (const { id, text, ...end } of toldIn(project)) {
      const { transcript, at } = end;
      const place = placeIn(runtime.state);
      if (!place || place.transcript !== transcript || at <= place.offset) continue;
      // Nobody signs where it ended.
      if (knowsEnd(toStoredTurn(runtime.state), id, end) || at > (await sizeOf(transcript))) continue;
      const later = givenIn(project).filter(({ hand }) => hand.transcript === transcript && hand.offset >= at);
      const ids = later.map((message) => message.id);
      dispatch({ type: 'takenBack', ids });
      dispatch({ type: 'endTold', id });
      // The session file may not have had the answer yet when the hook told it.
      const failed = [failedAlone, phoneTexts(project).turns.failed('')].some((prefix) => text.startsWith(prefix));
      const answer = failed ? undefined : text;
      await ending.endOpenTurn({ lagMs: 0, answer, until: at });
      const [first] = later;
      if (first) dispatch({ type: 'turnFound', place: placeOf(first.hand), ids });
    }
  }

  return {
    /** Takes what the notes of hooks say. `isFresh` = after another look at the outbox file. */
    async adopt(isFresh: boolean): Promise<void> {
      await inbox.catchUp();
      await takeHands();
      if (isFresh) await scanOutbox();
      await takeEnds();
      await keepTurn();
    },
    /** Takes the last turn before this place that a hook alone could not tell: its prompt and its answer stand in the session file, and in no entry. */
    async findUntold({ tool, transcript, offset: until }: TurnPlace, session: string): Promise<void> {
      const { toldTo, isFresh, bound } = runtime.state;
      if (!isFresh || isBusy(runtime.state) || bound?.id !== session || !toldTo) return;
      if (toldTo.transcript !== transcript) return;
      await scanOutbox();
      const ends = toldIn(project).flatMap(({ transcript: of, at }) => (of === transcript && at <= until ? at : []));
      const place = { tool, transcript, offset: Math.max(toldTo.at, ...ends) };
      if (place.offset >= until) return;
      const record = await turnRecord({ ...place, until });
      // An answer without its prompt belongs to a turn that was told before its answer stood in the file.
      if (!record?.answer || record.prompts.length === 0) return;
      dispatch({ type: 'turnFound', place, ids: [] });
    },
  };
}
