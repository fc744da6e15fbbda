// The turn's state over random events: whatever happens in whatever order, no combination arises that the runtime cannot carry
// on, and what the journal keeps of a state restores one that says the same.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { apply } from '../../agent/journal/apply.ts';
import { emptyProject, type JournalState, type ProjectState } from '../../agent/journal/state.ts';
import {
  carriedBy,
  isBusy,
  isLost,
  next,
  placeIn,
  type StateEvent,
  type TurnState,
} from '../../agent/session/state.ts';
import { restoreState, toStoredTurn } from '../../agent/session/stored-turn.ts';
import { runs } from './runs.ts';

const p = '1.0';
const tool = 'gemini';
const at = 1_000;

const id = fc.constantFrom('msg_e_0_1', 'msg_e_0_2', 'msg_e_0_3');
const ids = fc.array(id, { maxLength: 3 });
const place = fc.record({
  tool: fc.constant(tool),
  transcript: fc.constantFrom('/a.jsonl', '/b.jsonl', undefined),
  offset: fc.nat({ max: 9 }),
});
const session = fc.record({ id: fc.constantFrom('s', 't'), pid: fc.constantFrom(1, 2, undefined) });
const toldTo = fc.constantFrom({ transcript: '/a.jsonl', at: 3 }, undefined);

/** `reopen`: what has happened since the state of so many events ago did not happen after all. */
type Step = Exclude<StateEvent, { type: 'reopened' }> | { type: 'reopen'; back: number };
const of = <T extends Step['type'], F extends object>(type: T, fields: { [K in keyof F]: fc.Arbitrary<F[K]> }) =>
  fc.record({ type: fc.constant(type), ...fields }) as fc.Arbitrary<Extract<Step, { type: T }>>;
const time = fc.nat({ max: 9_999 });
const step: fc.Arbitrary<Step> = fc.oneof(
  of('bound', { session, toldTo }),
  of('unbound', {}),
  of('called', { agent: fc.constant(tool), at: time }),
  of('terminalFound', { agent: fc.constant(tool), interactive: fc.boolean(), wakeable: fc.boolean() }),
  of('personSeen', { at: time }),
  of('toolEnded', {}),
  of('modelSeen', {}),
  of('turnStarted', { place, at: time, nudged: fc.boolean(), byHost: fc.constantFrom(true as const, undefined) }),
  of('turnContinued', { at: time }),
  of('turnFound', { place, ids }),
  of('offered', { text: fc.constantFrom('one', 'two'), place, at: time }),
  of('given', { ids, place }),
  of('takenBack', { ids }),
  of('endTold', { id: fc.constantFrom('resp_1', undefined) }),
  of('toldUpTo', { transcript: fc.constant('/a.jsonl'), at: time }),
  of('turnClosed', { answer: fc.string(), answeredAt: fc.option(time, { nil: undefined }) }),
  of('reopen', { back: fc.nat({ max: 5 }) }),
);

/** The states that the steps lead through, the first one included. */
function statesOf(steps: readonly Step[]): TurnState[] {
  const states = [restoreState(emptyProject(p), at)];
  for (const each of steps) {
    const state = states.at(-1) as TurnState;
    const before = each.type === 'reopen' ? states.at(-1 - each.back) : undefined;
    states.push(
      each.type === 'reopen' ? next(state, { type: 'reopened', before: before ?? state }) : next(state, each),
    );
  }
  return states;
}

/** What must be true of every state, as far as its type does not say so already. */
function expectLegal(state: TurnState): void {
  const { turn, chain } = state;
  const carried = carriedBy(state);
  expect(new Set(carried).size).toBe(carried.length);
  // Only an open turn carries anything, and then it is known where the proof stands.
  expect(placeIn(state) !== undefined).toBe(isBusy(state));
  if (!isBusy(state)) expect([carried, isLost(state)]).toEqual([[], false]);
  // A prompt of wa-sync is what the phone has begun.
  if (turn.phase === 'offered' || (turn.phase === 'running' && turn.continued)) expect(chain.fromPhone).toBe(true);
  else expect(isLost(state)).toBe(false);
  if (turn.phase === 'running') expect(turn.toolCalls).toBeGreaterThanOrEqual(0);
  expect(chain.length).toBeGreaterThanOrEqual(0);
  // What a restart forgets is never needed to settle the turn.
  const stored = toStoredTurn(state);
  expect(stored.runs && stored.offered !== undefined).toBe(false);
  expect(stored.place !== undefined).toBe(isBusy(state));
}

/** As the daemon after this one finds it: the journal has the turn, and with the messages who was given them. */
function restart(state: TurnState): TurnState {
  const journal: JournalState = new Map([[p, emptyProject(p)]]);
  const project = journal.get(p) as ProjectState;
  for (const [index, of] of carriedBy(state).entries()) {
    const row = { kind: 'message', id: of, seq: index + 1, at, text: 'go', expiresAt: 9e12 } as const;
    apply(journal, { t: 'row', p, at, row });
    const { transcript = null, offset = 0 } = placeIn(state) ?? {};
    apply(journal, { t: 'handed', p, at, ids: [of], tool, session: 's', transcript, offset });
  }
  const turn = JSON.parse(JSON.stringify(toStoredTurn(state)));
  apply(journal, { t: 'turn', p, at, turn });
  return restoreState(project, at);
}

/** What a restarted daemon must still know. */
function lasting(state: TurnState) {
  const { phase } = state.turn;
  const told = state.turn.phase === 'idle' ? undefined : state.turn.told;
  const text = state.turn.phase === 'offered' ? state.turn.text : undefined;
  const { bound, toldTo } = state;
  return { phase, text, told, bound, toldTo, carried: carriedBy(state), place: placeIn(state) };
}

it('no order of events leads to a state that nothing can carry on, before a restart or after it', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      for (const state of statesOf(steps)) {
        expectLegal(state);
        const restored = restart(state);
        expectLegal(restored);
        expect(lasting(restored)).toEqual(lasting(state));
      }
    }),
    { numRuns: runs(500) },
  );
});

it('an event never changes the state that was there before it', () => {
  const frozen = <T>(value: T): T => {
    if (typeof value === 'object' && value !== null)
      for (const each of Object.values(Object.freeze(value))) frozen(each);
    return value;
  };
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      let state = frozen(restoreState(emptyProject(p), at));
      for (const each of steps) if (each.type !== 'reopen') state = frozen(next(state, each));
    }),
    { numRuns: runs(100) },
  );
});

it('a message is carried from where it is given until it is taken back or the turn is closed, and by nothing else', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const states = statesOf(steps);
      for (const [index, each] of steps.entries()) {
        const [before, after] = [carriedBy(states[index] as TurnState), carriedBy(states[index + 1] as TurnState)];
        const may = new Set(['turnStarted', 'takenBack', 'turnClosed', 'reopen']);
        if (!may.has(each.type)) expect(after).toEqual(expect.arrayContaining([...before]));
        if (each.type === 'given' || each.type === 'turnFound')
          expect(after).toEqual(expect.arrayContaining([...each.ids]));
        else if (each.type !== 'reopen') expect(after.filter((one) => !before.includes(one))).toEqual([]);
      }
    }),
    { numRuns: runs(300) },
  );
});
