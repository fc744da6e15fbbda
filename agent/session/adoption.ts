// What hooks did without the daemon, seen from the turn: the journal has what they gave, the outbox file the answers that they told.

import type { HookCall } from '../../protocol/turn-events.ts';
import type { Ending } from './ending.ts';
import type { Runtime } from './runtime.ts';
import { turnRecord } from './settlement.ts';
import { givenIn, isBusy, placeOf } from './state.ts';

/** Begins what the phone reads of a turn that failed. */
const failedPrefix = 'Failed: ';

/** Called in the queue of the events. */
export interface Adoption {
  /** Takes what the notes of hooks say. `isFresh` = after another look at the outbox file. */
  adopt(isFresh: boolean): Promise<void>;
  /** Takes the last turn that a hook alone could not tell: its prompt and its answer stand in the session file, and in no entry. */
  findUntold(call: HookCall): Promise<void>;
}

export function createAdoption({ options, state, keepTurn }: Runtime, ending: Ending): Adoption {
  const { project, inbox } = options;

  /** What a hook gave belongs to the turn that runs in that session file, or is one. */
  async function takeHands(): Promise<void> {
    const alone = givenIn(project).filter(({ id }) => !state.carried.includes(id));
    const [first] = alone;
    if (!first) return;
    const place = placeOf(first.hand);
    const isSame = isBusy(state) && state.place?.transcript === place?.transcript;
    if (!isSame && isBusy(state) && state.place) await ending.endOpenTurn(state.place, { lagMs: 0 });
    if (!isSame || !state.place) state.place = place;
    state.carried = [...state.carried, ...alone.map(({ id }) => id)];
    state.turnRuns = true;
    state.offered = undefined;
    state.modelSeen = true;
  }

  /** An answer from behind the beginning of the turn ended it; what was given from there on belongs to the next one. */
  async function takeEnds(isFresh: boolean): Promise<void> {
    if (!isBusy(state)) return;
    for (const { id, text, transcript, at } of await options.told(isFresh)) {
      const { place } = state;
      if (!isBusy(state) || !place || place.transcript !== transcript || at <= place.offset) continue;
      const next = givenIn(project).filter(({ hand }) => hand.transcript === transcript && hand.offset >= at);
      state.carried = state.carried.filter((each) => !next.some((message) => message.id === each));
      state.told = id;
      // The session file may not have had the answer yet when the hook told it.
      const answer = text.startsWith(failedPrefix) ? undefined : text;
      await ending.endOpenTurn({ ...place, until: at }, { lagMs: 0, answer });
      const [first] = next;
      if (!first) continue;
      state.turnRuns = true;
      state.place = placeOf(first.hand);
      state.carried = next.map((message) => message.id);
    }
  }

  return {
    async adopt(isFresh) {
      await inbox.catchUp();
      await takeHands();
      await takeEnds(isFresh);
      await keepTurn();
    },
    async findUntold({ agent: tool, session, transcript }) {
      const { toldTo, isFresh } = state;
      state.isFresh = false;
      if (!isFresh || isBusy(state) || state.bound?.id !== session || !toldTo || toldTo.transcript !== transcript)
        return;
      const ends = (await options.told(true)).filter((end) => end.transcript === transcript).map(({ at }) => at);
      const place = { tool, transcript, offset: Math.max(toldTo.at, ...ends) };
      const record = await turnRecord(place);
      // An answer without its prompt belongs to a turn that was told before its answer stood in the file.
      if (!record?.answer || record.prompts.length === 0) return;
      Object.assign(state, { place, turnRuns: true, modelSeen: true });
    },
  };
}
