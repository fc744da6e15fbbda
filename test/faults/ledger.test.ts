// The fault lab's own judgement: what it must notice, and what it must let pass.

import { beforeEach, describe, expect, it } from 'vitest';
import { createLedger, type Ledger } from '../../scripts/chaos/ledger.ts';
import { createRandom } from '../../scripts/chaos/random.ts';
import { type EndState, emptyVerdict } from '../../scripts/chaos/verdict.ts';

let now = 0;
let ledger: Ledger;
beforeEach(() => {
  now = 1_000;
  ledger = createLedger(() => now);
});

const nothing: EndState = {
  waiting: new Set(),
  onPhone: new Map(),
  cut: new Set(),
  refused: new Set(),
  daemonKills: [],
};
const clean = emptyVerdict();
const span = (fromAt: number, toAt = fromAt + 10) => ({ fromAt, toAt });

describe('a message of the phone', () => {
  it('that nobody ever saw is lost', () => {
    const token = ledger.issue('m', 'said');
    expect(ledger.verdict(nothing)).toEqual({ ...clean, in: 1, lost: [token] });
  });

  it('that waits, was given once or was taken is in order', () => {
    const [waits, given, taken] = [ledger.issue('m', 'said'), ledger.issue('m', 'said'), ledger.issue('m', 'said')];
    ledger.given(`look at ${given}.`, span(10), 'given');
    ledger.taken(taken, span(20));
    const end = { ...nothing, waiting: new Set([waits]) };
    expect(ledger.verdict(end)).toEqual({ ...clean, in: 3, waiting: 1, takenByForeign: 1 });
  });

  it('that was corrected is in order when the new words were seen, and the new words must be', () => {
    const [token, unseen] = [ledger.issue('m', 'said'), ledger.issue('m', 'said')];
    const [instead, never] = [ledger.issue('e', 'corrected'), ledger.issue('e', 'corrected')];
    ledger.replaced(token, instead);
    ledger.replaced(unseen, never);
    ledger.given(`rather ${instead}.`, span(10), 'given');
    expect([ledger.isSettledOtherwise(token), ledger.isSettledOtherwise(unseen)]).toEqual([true, false]);
    expect(ledger.verdict(nothing)).toEqual({ ...clean, in: 2, edits: 2, lost: [unseen, never] });
  });

  it('whose correction is given twice is doubled', () => {
    const [token, instead] = [ledger.issue('m', 'said'), ledger.issue('e', 'corrected')];
    ledger.replaced(token, instead);
    ledger.given(`look at ${token}.`, span(10), 'given');
    ledger.given(`rather ${instead}.`, span(20), 'given');
    expect(ledger.verdict(nothing)).toEqual({ ...clean, in: 1, edits: 1 });
    ledger.given(`rather ${instead}.`, span(500), 'given');
    expect(ledger.verdict(nothing)).toEqual({ ...clean, in: 1, edits: 1, duplicatedInbox: [instead] });
  });

  it('brings its file, or the coding agent is told that it could not', () => {
    const [came, told, gone] = [ledger.issue('f', 'sent'), ledger.issue('f', 'sent'), ledger.issue('f', 'sent')];
    ledger.given(`[document: wa_files/${came}.txt]`, span(10), 'given');
    ledger.waive(told, 'could not be fetched');
    expect(ledger.verdict(nothing)).toEqual({ ...clean, files: 3, lost: [gone] });
  });

  it('that corrects another may be given in its message and by itself, where the state was lost since it was said', () => {
    const token = ledger.issue('e', 'said');
    now = 1_500;
    ledger.stateLost();
    ledger.given(token, span(2_000), 'given');
    ledger.given(token, span(3_000), 'given');
    expect(ledger.verdict(nothing)).toEqual({ ...clean, edits: 1, afterStateLoss: 1 });
    const later = ledger.issue('e', 'said');
    now = 1_600;
    const doubled = ledger.issue('e', 'said');
    for (const each of [later, doubled]) {
      ledger.given(each, span(4_000), 'given');
      ledger.given(each, span(5_000), 'given');
    }
    expect(ledger.verdict(nothing)).toMatchObject({ afterStateLoss: 2, duplicatedInbox: [doubled] });
  });

  it('that was given twice is doubled, unless the state was lost between the two', () => {
    const token = ledger.issue('m', 'said');
    ledger.given(token, span(10), 'given');
    ledger.given(token, span(500), 'given');
    expect(ledger.verdict(nothing)).toEqual({ ...clean, in: 1, duplicatedInbox: [token] });
    now = 200;
    ledger.stateLost();
    expect(ledger.verdict(nothing)).toEqual({ ...clean, in: 1, afterStateLoss: 1 });
  });

  it('that was given and taken is doubled, unless both happened at the same time', () => {
    const token = ledger.issue('m', 'said');
    ledger.given(token, span(10), 'given');
    ledger.taken(token, span(15));
    expect(ledger.verdict(nothing)).toEqual({ ...clean, in: 1, duplicatedInbox: [token] });
    ledger.foreignWrite(span(15));
    expect(ledger.verdict(nothing)).toEqual({ ...clean, in: 1, racedForeign: 1 });
  });
});

describe('an answer', () => {
  it('that is not on the phone is lost, unless the platform refused it or nobody has to bring it', () => {
    const [lost, refused, waived] = [ledger.issue('a', 'said'), ledger.issue('a', 'said'), ledger.issue('a', 'said')];
    ledger.waive(waived, 'its hook was killed');
    const end = { ...nothing, refused: new Set([refused]) };
    expect(ledger.verdict(end)).toEqual({ ...clean, out: 2, lost: [lost], deadLetters: 1 });
  });

  it('that is there twice needs a Bot API call that was cut', () => {
    const [cut, uncut] = [ledger.issue('a', 'said'), ledger.issue('s', 'said')];
    const onPhone = new Map([cut, uncut].map((token) => [token, 2]));
    expect(ledger.verdict({ ...nothing, onPhone, cut: new Set([cut]) })).toEqual({
      ...clean,
      out: 2,
      duplicatedPhone: 2,
      duplicatedPhoneUncut: [uncut],
    });
  });
});

describe('an answer that was given while no place could be written', () => {
  const full = (fromAt: number, toAt: number) => ledger.noPlace({ fromAt, toAt });
  const given = (fromAt: number) => {
    const token = ledger.issue('a', 'an answer');
    ledger.said(token, span(fromAt));
    return token;
  };

  it('is counted apart when the daemon was killed before it could write, also from one such time into the next', () => {
    full(10_000, 12_000);
    full(12_500, 14_000);
    const token = given(11_000);
    for (const killedAt of [10_500, 11_500, 12_300, 13_900, 14_900]) {
      expect(ledger.mayBeLost(token, [killedAt])).toBe(true);
      const verdict = ledger.verdict({ ...nothing, daemonKills: [killedAt] });
      expect(verdict).toEqual({ ...clean, out: 1, answersLostWithNoWritablePlace: 1 });
    }
  });

  it('is lost like any other when the daemon lived on, or when it was given at another time', () => {
    full(10_000, 12_000);
    const [lived, before, after] = [given(11_000), given(8_000), given(13_500)];
    expect(ledger.verdict({ ...nothing, daemonKills: [9_000, 20_000] }).lost).toEqual([lived, before, after]);
    expect(ledger.verdict({ ...nothing, daemonKills: [11_500] })).toEqual({
      ...clean,
      out: 3,
      answersLostWithNoWritablePlace: 1,
      lost: [before, after],
    });
  });

  it('is no exception when the phone shows it', () => {
    full(10_000, 12_000);
    const token = given(11_000);
    const end = { ...nothing, onPhone: new Map([[token, 1]]), daemonKills: [11_500] };
    expect(ledger.verdict(end)).toEqual({ ...clean, out: 1 });
  });
});

it('a seed gives the same plan again, and another seed another one', () => {
  const plan = (seed: number) => {
    const random = createRandom(seed);
    return Array.from({ length: 20 }, () => random.weighted([{ weight: 1 }, { weight: 2 }, { weight: 5 }]).weight);
  };
  expect(plan(7)).toEqual(plan(7));
  expect(plan(7)).not.toEqual(plan(8));
});
