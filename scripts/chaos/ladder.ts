// What the phone was shown of each message, judged by what had happened to it. Both are ordered by one clock, which never goes
// back: `performance.now()` of the process in which the simulated Telegram and the coding agent live.

import type { PhoneReaction, SimMessage } from '../../agent/dev/telegram-sim/sim.ts';
import { tokensIn } from './ledger.ts';

/** Lines of the session file that hold a message, or that end the turn which carried it; when each began to be written. */
export interface Carried {
  written: number[];
  answered: number[];
  failed: number[];
}

/** One message of the phone, its reactions in the order in which it was given them. */
export interface Watched extends Carried {
  name: string;
  /** Of its present words alone, where the owner has corrected it. */
  present?: Carried;
  reactions: readonly Pick<PhoneReaction, 'emoji' | 'at'>[];
  /** A further part of an album: the reaction is on the first. */
  isPart: boolean;
}

export interface PhoneVerdict {
  /** Messages of the owner. */
  checked: number;
  /** Those that showed at some moment more than had happened. */
  tooGood: string[];
  /** Those that do not show in the end what happened. */
  late: string[];
}

export function judgePhone(messages: readonly Watched[]): PhoneVerdict {
  const named = (wrong: (message: Watched) => boolean) => messages.filter(wrong).map(({ name }) => name);
  return { checked: messages.length, tooGood: named(wasTooGood), late: named(isLate) };
}

function wasTooGood({ reactions, written, answered }: Watched): boolean {
  const before = (moments: readonly number[], at: number) => moments.some((moment) => moment <= at);
  return reactions.some(({ emoji, at }) => {
    if (emoji === '✍') return !before(written, at);
    if (emoji === '👍') return !before(answered, at);
    return emoji !== null && emoji !== '👀' && emoji !== '👎';
  });
}

/** A message that was given again, which a lost state allows, may show the end of either turn. */
function isLate({ reactions, present, isPart, ...all }: Watched): boolean {
  const shown = reactions.at(-1)?.emoji;
  if (isPart && shown === undefined) return false;
  // Until a turn carries them, those of the words before.
  const { written, answered, failed } = present && present.written.length > 0 ? present : all;
  const ends = [...(answered.length > 0 ? ['👍'] : []), ...(failed.length > 0 ? ['👎'] : [])];
  if (ends.length > 0) return !ends.includes(shown ?? '');
  // A turn that never ended; and a message that no turn carried.
  return written.length > 0 ? shown !== '✍' && shown !== '👎' : shown !== '👀';
}

export interface Ladder {
  /** A line of the session file is about to be written: to be called before anybody can read it. */
  writes(type: string, text: string): void;
  /** What the phone shows of the owner's messages; `others` = earlier words of the same message. */
  watched(
    messages: readonly SimMessage[],
    reactions: readonly PhoneReaction[],
    others: (token: string) => string[],
  ): Watched[];
}

export function createLadder(now: () => number): Ladder {
  const carried = new Map<string, Carried>();
  let turn: string[] = [];

  const of = (token: string): Carried => {
    const known = carried.get(token) ?? { written: [], answered: [], failed: [] };
    carried.set(token, known);
    return known;
  };

  return {
    writes(type, text) {
      const at = now();
      if (type === 'user') {
        turn = tokensIn(text);
        for (const token of turn) of(token).written.push(at);
      } else {
        for (const token of turn) of(token)[type === 'gemini' ? 'answered' : 'failed'].push(at);
      }
    },
    watched(messages, reactions, others) {
      const albums = new Set<string>();
      return messages.flatMap(({ messageId, chatId, from, text, album }) => {
        const [name] = tokensIn(text);
        if (from !== 'owner' || name === undefined) return [];
        const isPart = album !== undefined && albums.has(album);
        if (album !== undefined) albums.add(album);
        const before = others(name);
        const words = [name, ...before].map(of);
        return {
          name,
          isPart,
          ...(before.length > 0 ? { present: of(name) } : {}),
          reactions: reactions.filter((each) => each.chatId === chatId && each.messageId === messageId),
          written: words.flatMap(({ written }) => written),
          answered: words.flatMap(({ answered }) => answered),
          failed: words.flatMap(({ failed }) => failed),
        };
      });
    },
  };
}

/** The history of one message, for the reader of a failed run. */
export function ladderLines({ name, reactions, written, answered, failed }: Watched): string[] {
  const lines = [
    ...written.map((at) => ({ at, what: 'is written to the session file' })),
    ...answered.map((at) => ({ at, what: 'has its answer in the session file' })),
    ...failed.map((at) => ({ at, what: 'has an error in the session file' })),
    ...reactions.map(({ at, emoji }) => ({ at, what: `shows ${emoji ?? 'nothing'}` })),
  ];
  return lines
    .sort((a, b) => a.at - b.at)
    .map(({ at, what }) => `${new Date(performance.timeOrigin + at).toISOString().slice(11, 23)} ${name} ${what}`);
}
