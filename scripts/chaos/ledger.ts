// Remembers by identity what the phone and the agent said, and where each text was seen. Knows no file and no process.

import { type Happened, storyLines } from './story.ts';
import {
  type EndState,
  hadNoPlace,
  type Item,
  isOutbound,
  isReplacementSeen,
  isSeen,
  judge,
  type Span,
  type Times,
  type TokenKind,
  type Verdict,
} from './verdict.ts';

export interface Ledger {
  /** Makes the next token of its kind; it must stand in the text as it is. */
  issue(kind: TokenKind, what: string): string;
  note(token: string, what: string): void;
  given(text: string, span: Span, what: string): void;
  taken(token: string, span: Span): void;
  /** The owner corrected it: whoever sees the new words need not see the old ones. */
  replaced(token: string, by: string): void;
  /** What it replaced. */
  earlier(token: string): string[];
  excuse(token: string, why: string): void;
  waive(token: string, why: string): void;
  /** The turn of this answer is over. */
  said(token: string, span: Span): void;
  /** No place could be written meanwhile. */
  noPlace(span: Span): void;
  /** Only the memory of a daemon that was killed may have had this answer, because no place could be written. */
  mayBeLost(token: string, daemonKills: readonly number[]): boolean;
  tokens(kind: TokenKind): string[];
  isGivenOrTaken(token: string): boolean;
  /** Nobody waits for it any more. */
  isSettledOtherwise(token: string): boolean;
  /** Said less than this long ago. */
  isYoung(token: string, ms: number): boolean;
  /** Something that concerns all: a fault, a restart. */
  mark(what: string): void;
  /** All of them, for the histories of others. */
  marks(): readonly Happened[];
  /** A fault after which a message may come twice. */
  stateLost(): void;
  /** Another program rewrote the inbox from what it had read at `fromAt`. */
  foreignWrite(span: Span): void;
  times(): Times;
  verdict(end: EndState): Verdict;
  /** The history of one token between the faults of its time, and what else is known of that time. */
  story(token: string, records?: readonly Happened[]): string[];
}

const pattern = /\bwa-([mefans])\d+\b/g;

/** Every token in a text, each once. */
export function tokensIn(text: string): string[] {
  return [...new Set(text.match(pattern) ?? [])];
}

export function createLedger(clock: () => number): Ledger {
  const items = new Map<string, Item>();
  const marks: Happened[] = [];
  const stateLosses: number[] = [];
  const foreignWrites: Span[] = [];
  const noPlaces: Span[] = [];
  let last = 0;

  const find = (token: string): Item => {
    const item = items.get(token);
    if (!item) throw new Error(`nobody said ${token}`);
    return item;
  };
  const add = (token: string, what: string) => find(token).history.push({ at: clock(), what });

  return {
    issue(kind, what) {
      last += 1;
      const token = `wa-${kind}${last}`;
      const history = [{ at: clock(), what }];
      items.set(token, {
        token,
        kind,
        history,
        given: [],
        taken: [],
        excused: false,
        replacedBy: undefined,
        said: undefined,
        optional: false,
      });
      return token;
    },
    note: add,
    given(text, span, what) {
      for (const token of tokensIn(text)) {
        const item = items.get(token);
        if (!item || isOutbound(item.kind)) continue;
        item.given.push(span);
        add(token, what);
      }
    },
    taken(token, span) {
      find(token).taken.push(span);
      add(token, 'taken by another program');
    },
    replaced(token, by) {
      find(token).replacedBy = find(by);
      add(token, `replaced by ${by}`);
    },
    earlier: (token) =>
      [...items.values()].filter(({ replacedBy }) => replacedBy?.token === token).map((item) => item.token),
    excuse(token, why) {
      find(token).excused = true;
      add(token, why);
    },
    waive(token, why) {
      find(token).optional = true;
      add(token, why);
    },
    said(token, span) {
      find(token).said = span;
    },
    noPlace: (span) => noPlaces.push(span),
    mayBeLost: (token, daemonKills) => hadNoPlace(find(token), noPlaces, daemonKills),
    tokens: (kind) => [...items.values()].filter((item) => item.kind === kind).map(({ token }) => token),
    isGivenOrTaken: (token) => isSeen(find(token)),
    isSettledOtherwise: (token) => find(token).optional || isReplacementSeen(find(token)),
    isYoung: (token, ms) => clock() - (find(token).history[0]?.at ?? 0) < ms,
    mark: (what) => marks.push({ at: clock(), what }),
    marks: () => marks,
    stateLost: () => stateLosses.push(clock()),
    foreignWrite: (span) => foreignWrites.push(span),
    times: () => ({ stateLosses, foreignWrites, noPlaces }),
    verdict: (end) => judge([...items.values()], end, { stateLosses, foreignWrites, noPlaces }),
    story: (token, records = []) => storyLines(token, find(token).history, [...marks, ...records]),
  };
}
