// What the histories of all tokens add up to at the end: lost, doubled, excused and why. Pure.

import type { Happened } from './story.ts';

/**
 * From the phone: m = a message, e = the correction of one, f = a file. From the coding agent: a = an answer. From another program:
 * n = a note in the inbox, s = a status update.
 */
export type TokenKind = 'm' | 'e' | 'f' | 'a' | 'n' | 's';

/** From when to when it happened, epoch milliseconds: the moment itself lies in another process. */
export interface Span {
  fromAt: number;
  toAt: number;
}

export interface Item {
  token: string;
  kind: TokenKind;
  history: Happened[];
  given: Span[];
  taken: Span[];
  /** A fault destroyed the only place that knew better, so one more sight of it is nobody's mistake. */
  excused: boolean;
  /** What the owner wrote instead: the old words need not be seen any more. */
  replacedBy: Item | undefined;
  /** From when the coding agent answered until its hook had ended; undefined = no answer of it. */
  said: Span | undefined;
  /** Nobody has to bring it: its only copy was in a process or a file that the lab destroyed. */
  optional: boolean;
}

/** What the lab finds when everything is healed and quiet. */
export interface EndState {
  /** Tokens of the phone that stand unread in the file, the journal or the relay. */
  waiting: ReadonlySet<string>;
  /** Token -> how many messages on the phone show it. */
  onPhone: ReadonlyMap<string, number>;
  /** Tokens of answers whose Bot API call was cut: sent, and the answer to the call lost. */
  cut: ReadonlySet<string>;
  /** Tokens of answers that the platform refused for good and that are kept as dead letters. */
  refused: ReadonlySet<string>;
  /** When the daemon was killed, epoch milliseconds. */
  daemonKills: readonly number[];
}

export interface Verdict {
  in: number;
  /** Messages that were corrected, beside `in`; corrections count as messages in all that follows. */
  edits: number;
  files: number;
  out: number;
  lost: string[];
  duplicatedInbox: string[];
  /** On the phone more than once although no Bot API call was cut. */
  duplicatedPhoneUncut: string[];
  duplicatedPhone: number;
  takenByForeign: number;
  waiting: number;
  /** Seen twice after a state directory was deleted or the file that knew was destroyed: allowed, counted apart. */
  afterStateLoss: number;
  /** Another program and a hook read the same unread entry at the same time: nobody locks for the other. */
  racedForeign: number;
  deadLetters: number;
  /** Answers that no place could take: the daemon, or the hook that had them, was gone before one could be written again. */
  answersLostWithNoWritablePlace: number;
}

/** What concerns all tokens. */
export interface Times {
  stateLosses: readonly number[];
  /** Of another program on the inbox file. */
  foreignWrites: readonly Span[];
  noPlaces: readonly Span[];
}

/** What the daemon needs to write down what it holds, once a disk has room again. */
const roomMs = 1_000;

/** Of a run in which nobody said anything. */
export function emptyVerdict(): Verdict {
  return {
    in: 0,
    edits: 0,
    files: 0,
    out: 0,
    lost: [],
    duplicatedInbox: [],
    duplicatedPhoneUncut: [],
    duplicatedPhone: 0,
    takenByForeign: 0,
    waiting: 0,
    afterStateLoss: 0,
    racedForeign: 0,
    deadLetters: 0,
    answersLostWithNoWritablePlace: 0,
  };
}

/** What it all adds up to. */
export function judge(items: readonly Item[], end: EndState, times: Times): Verdict {
  const { stateLosses, foreignWrites, noPlaces } = times;
  const verdict = emptyVerdict();
  for (const item of items) {
    if (isOutbound(item.kind)) judgeOutbound(item);
    else judgeInbound(item);
  }
  return verdict;

  function judgeInbound(item: Item): void {
    const seen = [...item.given, ...item.taken];
    if (item.kind !== 'n') {
      if (item.kind === 'm') verdict.in += 1;
      else if (item.kind === 'e') verdict.edits += 1;
      else verdict.files += 1;
      const isMessage = item.kind !== 'f';
      if (isMessage && item.taken.length > 0 && item.given.length === 0) verdict.takenByForeign += 1;
      if (seen.length === 0 && end.waiting.has(item.token)) verdict.waiting += isMessage ? 1 : 0;
      else if (seen.length === 0 && !item.optional && !isReplaced(item)) verdict.lost.push(item.token);
    }
    // A file comes as often as its message, which is counted.
    if (seen.length < 2 || item.kind === 'f') return;
    // The words of a correction reach the file in their message's entry as well; only the journal knows that they are there.
    const from = item.kind === 'e' ? (item.history[0]?.at ?? 0) : Math.min(...seen.map(({ fromAt }) => fromAt));
    const to = Math.max(...seen.map(({ toAt }) => toAt));
    if (item.excused || stateLosses.some((at) => at >= from && at <= to)) verdict.afterStateLoss += 1;
    else if (seen.some((span) => foreignWrites.some((write) => overlap(write, span)))) verdict.racedForeign += 1;
    else verdict.duplicatedInbox.push(item.token);
  }

  function isReplaced({ replacedBy }: Item): boolean {
    return replacedBy !== undefined && (isSeen(replacedBy) || end.waiting.has(replacedBy.token));
  }

  function judgeOutbound(item: Item): void {
    const shown = end.onPhone.get(item.token) ?? 0;
    if (!item.optional || shown > 0) verdict.out += 1;
    if (shown === 0 && end.refused.has(item.token)) verdict.deadLetters += 1;
    else if (shown === 0 && !item.optional) {
      if (hadNoPlace(item, noPlaces, end.daemonKills)) verdict.answersLostWithNoWritablePlace += 1;
      else verdict.lost.push(item.token);
    }
    if (shown < 2) return;
    verdict.duplicatedPhone += 1;
    if (!end.cut.has(item.token)) verdict.duplicatedPhoneUncut.push(item.token);
  }
}

export function isOutbound(kind: TokenKind): boolean {
  return kind === 'a' || kind === 's';
}

export function isSeen({ given, taken }: Item): boolean {
  return given.length + taken.length > 0;
}

export function isReplacementSeen({ replacedBy }: Item): boolean {
  return replacedBy !== undefined && isSeen(replacedBy);
}

/**
 * Said while no place could be written, and the daemon was killed before it had the time to write again. Of two such times with
 * less than that between them the daemon may have carried it from the first into the second.
 */
export function hadNoPlace({ said }: Item, noPlaces: readonly Span[], daemonKills: readonly number[]): boolean {
  if (!said) return false;
  let from = Number.POSITIVE_INFINITY;
  let until = said.toAt;
  for (const { fromAt, toAt } of [...noPlaces].sort((a, b) => a.fromAt - b.fromAt)) {
    if (fromAt > until || toAt + roomMs < said.fromAt) continue;
    from = Math.min(from, fromAt);
    until = Math.max(until, toAt + roomMs);
  }
  return daemonKills.some((at) => at >= from && at <= until);
}

function overlap(a: Span, b: Span): boolean {
  return a.fromAt <= b.toAt && b.fromAt <= a.toAt;
}
