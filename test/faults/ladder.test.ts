// What the fault lab says about the reactions on the phone: hand-made histories, each with its verdict.

import { describe, expect, it } from 'vitest';
import type { SimMessage } from '../../agent/dev/telegram-sim/sim.ts';
import { createLadder, judgePhone, type Watched } from '../../scripts/chaos/ladder.ts';

const message = (history: Partial<Watched>): Watched => ({
  name: 'wa-m1',
  isPart: false,
  written: [],
  answered: [],
  failed: [],
  reactions: [],
  ...history,
});
const untold = { written: [], answered: [], failed: [] };
const shows = (...reactions: [string | null, number][]) => reactions.map(([emoji, at]) => ({ emoji, at }));
const verdictOf = (history: Partial<Watched>) => {
  const { tooGood, late } = judgePhone([message(history)]);
  return { tooGood: tooGood.length > 0, late: late.length > 0 };
};
const right = { tooGood: false, late: false };

describe('a reaction on the phone', () => {
  it.each([
    ['is right at each step', shows(['👀', 5], ['✍', 11], ['👍', 21]), { written: [10], answered: [20] }],
    ['may leave out steps', shows(['👍', 21]), { written: [10], answered: [20] }],
    ['is 👀 while the message waits, or when another program took it', shows(['👀', 5]), {}],
    ['is 👎 when the turn ended without an answer', shows(['✍', 11], ['👎', 30]), { written: [10], failed: [20] }],
    ['may stay ✍ when the turn never ended', shows(['✍', 11]), { written: [10] }],
    [
      'may be that of either turn when a message was given twice',
      shows(['👎', 15], ['👍', 31]),
      { written: [10, 20], failed: [12], answered: [30] },
    ],
    [
      'is that of the words of a correction once a turn carried them',
      shows(['👀', 5], ['👍', 21], ['✍', 31], ['👎', 41]),
      { written: [10, 30], answered: [20], failed: [40], present: { written: [30], answered: [], failed: [40] } },
    ],
    [
      'is that of the words before while no turn carried those of a correction',
      shows(['👍', 21]),
      { written: [10], answered: [20], present: untold },
    ],
    ['is on the first part of an album', [], { isPart: true, written: [10], answered: [20] }],
  ])('%s', (_title, reactions, history) => {
    expect(verdictOf({ reactions, ...history })).toEqual(right);
  });

  it.each([
    [
      '✍ before the text stands in the session file',
      shows(['👀', 5], ['✍', 9], ['👍', 21]),
      { written: [10], answered: [20] },
    ],
    ['✍ on a message that no turn carried', shows(['✍', 9], ['👀', 12]), {}],
    ['👍 before the answer', shows(['👍', 19]), { written: [10], answered: [20] }],
    ['👍 after a turn that failed', shows(['👍', 30]), { written: [10], failed: [20] }],
    ['what the ladder does not know', shows(['❤', 30]), { written: [10] }],
  ])('is too good: %s', (_title, reactions, history) => {
    expect(verdictOf({ reactions, ...history }).tooGood).toBe(true);
  });

  it.each([
    ['none', [], {}],
    ['one that was taken away', shows(['👀', 5], [null, 8]), {}],
    ['👀 although a turn carries it', shows(['👀', 5]), { written: [10] }],
    ['✍ although it is answered', shows(['✍', 11]), { written: [10], answered: [20] }],
    ['👎 although it is answered', shows(['👎', 21]), { written: [10], answered: [20] }],
    ['✍ although its turn failed', shows(['✍', 11]), { written: [10], failed: [20] }],
    ['👎 although it waits', shows(['👎', 5]), {}],
    [
      '👀 although its correction is answered',
      shows(['👀', 5]),
      { written: [30], answered: [40], present: { written: [30], answered: [40], failed: [] } },
    ],
    [
      '👍 for words before a correction whose turn failed',
      shows(['👍', 21]),
      { written: [10, 30], answered: [20], failed: [40], present: { written: [30], answered: [], failed: [40] } },
    ],
    ['an older one on a later part of an album', shows(['👀', 5]), { isPart: true, written: [10], answered: [20] }],
  ])('is late in the end: %s', (_title, reactions, history) => {
    expect(verdictOf({ reactions, ...history })).toEqual({ tooGood: false, late: true });
  });
});

describe('the book of the coding agent', () => {
  const said = (messageId: number, text: string, album?: string): SimMessage => ({
    ...{ messageId, chatId: 7, from: 'owner', at: 0, text, entities: [], buttons: [], reactions: [] },
    ...(album === undefined ? {} : { album }),
  });

  it('gives each message the turns that carried it, by the clock of the reactions', () => {
    let now = 0;
    const ladder = createLadder(() => now);
    const writes = (at: number, type: string, text: string) => {
      now = at;
      ladder.writes(type, text);
    };
    writes(10, 'user', 'Please look at wa-m1. And at wa-m2.');
    writes(20, 'gemini', 'Done, wa-a4.');
    writes(30, 'user', 'Rather look at wa-e3.');
    writes(40, 'error', 'told to fail');
    const reactions = [{ chatId: 7, messageId: 2, emoji: '👍', at: 19 }];
    const watched = ladder.watched(
      [said(1, 'wa-m1'), said(2, 'wa-e3'), said(3, 'wa-m9'), { ...said(4, 'Done, wa-a4.'), from: 'bot' }],
      reactions,
      (token) => (token === 'wa-e3' ? ['wa-m2'] : []),
    );
    expect(watched).toEqual([
      message({ name: 'wa-m1', written: [10], answered: [20] }),
      message({
        ...{ name: 'wa-e3', written: [30, 10], answered: [20], failed: [40], reactions },
        present: { written: [30], answered: [], failed: [40] },
      }),
      message({ name: 'wa-m9' }),
    ]);
    expect(judgePhone(watched)).toEqual({ checked: 3, tooGood: ['wa-e3'], late: ['wa-m1', 'wa-e3', 'wa-m9'] });
  });

  it('knows the first part of each album', () => {
    const parts = [said(1, 'wa-m1', 'a'), said(2, 'wa-m2', 'a'), said(3, 'wa-m3', 'b'), said(4, 'wa-m4')];
    const watched = createLadder(() => 0).watched(parts, [], () => []);
    expect(watched.map(({ isPart }) => isPart)).toEqual([false, true, false, false]);
  });
});
