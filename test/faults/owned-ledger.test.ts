// What the fault lab calls lost and doubled in a session that the daemon runs: its own judgement of the agent's ledger and the phone.

import { describe, expect, it } from 'vitest';
import type { Entry } from '../../scripts/chaos/owned/book.ts';
import { isUnanswered, judgeOwned, type OwnedEnd } from '../../scripts/chaos/owned/verdict.ts';

const mark = 'm';
const prompt = (at: number, turn: string, text: string): Entry => ({ what: 'prompt', at, pid: 1, mark, turn, text });
const steered = (at: number, turn: string, text: string): Entry => ({ ...prompt(at, turn, text), what: 'steered' });
const answer = (at: number, turn: string): Entry => ({ what: 'answer', at, pid: 1, mark, turn });

/** One message, given in turn t1 and answered there, unless said otherwise. */
function judged(changes: Partial<OwnedEnd> = {}) {
  return judgeOwned({
    messages: [{ token: 'own-1', at: 0 }],
    entries: [prompt(10, 't1', 'Do own-1.'), answer(20, 't1')],
    reactions: new Map([['own-1', '👍']]),
    shown: new Map([['t1', 1]]),
    cut: new Set(),
    ...{ kills: [], stateLosses: [], noPlaces: [], orders: [] },
    ...changes,
  });
}

const failed = new Map([['own-1', '👎']]);
const twice = [prompt(10, 't1', 'own-1'), prompt(5_000, 't2', 'own-1'), answer(5_010, 't2')];
const shown = new Map([['t2', 1]]);

describe('a message', () => {
  it('that one prompt had and one answer on the phone is right, also one that joined the prompt', () => {
    expect(judged()).toMatchObject({ in: 1, given: 1, answered: 1, lost: [], doubled: [], doubledOnPhone: [] });
    const entries = [prompt(10, 't1', 'own-7'), steered(15, 't1', 'own-1'), answer(20, 't1')];
    expect(judged({ entries })).toMatchObject({ steered: 1, answered: 1, lost: [] });
  });

  it('is answered by the prompt that goes on with the reason of a refusal', () => {
    const entries = [prompt(10, 't1', 'own-1'), prompt(15, 't2', 'The owner denied this.'), answer(20, 't2')];
    expect(judged({ entries, shown })).toMatchObject({ answered: 1, lost: [] });
  });

  it('is lost when no model had it, or when it was neither answered nor told as failed', () => {
    expect(judged({ entries: [] }).lost).toEqual(['own-1']);
    expect(judged({ shown: new Map() }).lost).toEqual(['own-1']);
    expect(judged({ shown: new Map(), reactions: failed })).toMatchObject({ toldFailed: 1, lost: [] });
  });

  it('that no model had may be told as failed only where the owner ended its prompt', () => {
    expect(judged({ entries: [], reactions: failed }).lost).toEqual(['own-1']);
    expect(judged({ entries: [], reactions: failed, orders: [5] }).lost).toEqual([]);
  });

  it('is doubled when two prompts had it, unless a kill came right behind the first sign', () => {
    expect(judged({ entries: twice, shown }).doubled).toEqual(['own-1']);
    expect(judged({ entries: twice, shown, kills: [3_000] }).doubled).toEqual(['own-1']);
    expect(judged({ entries: twice, shown, kills: [5] }).doubled).toEqual(['own-1']);
    expect(judged({ entries: twice, shown, kills: [500] })).toMatchObject({ doubled: [], unseen: 1 });
  });

  it('is not doubled where no disk took the first sign until the kill, or the state was deleted in between', () => {
    const noPlaces = [{ fromAt: 0, toAt: 2_500 }];
    expect(judged({ entries: twice, shown, noPlaces, kills: [2_000] })).toMatchObject({ doubled: [], unseen: 1 });
    expect(judged({ entries: twice, shown, noPlaces, kills: [4_900] }).doubled).toEqual(['own-1']);
    expect(judged({ entries: twice, shown, stateLosses: [100] })).toMatchObject({ doubled: [], afterStateLoss: 1 });
  });
});

it('an answer is doubled when the phone shows it twice, unless a call of the Bot API was cut', () => {
  const both = new Map([['t1', 2]]);
  expect(judged({ shown: both }).doubledOnPhone).toEqual(['t1']);
  expect(judged({ shown: both, cut: new Set(['t1']) }).doubledOnPhone).toEqual([]);
});

it('a run in which many messages were sent and none was answered proves nothing, and fails', () => {
  const runs = [0, 20, 21].map((said) => isUnanswered({ in: said, answered: 0 }));
  expect(runs).toEqual([false, false, true]);
  expect(isUnanswered({ in: 25, answered: 1 })).toBe(false);
});
