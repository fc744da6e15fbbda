// What became of each message to a session that the daemon runs, by identity: the agent's own ledger against the phone. Pure.

import type { Span } from '../verdict.ts';
import type { Entry } from './book.ts';

/** What the lab knows at the end. All times are `performance.now()`. */
export interface OwnedEnd {
  messages: readonly { token: string; at: number }[];
  entries: readonly Entry[];
  /** What the phone shows last on each message. */
  reactions: ReadonlyMap<string, string | undefined>;
  /** Turn -> how many messages of the phone show its answer. */
  shown: ReadonlyMap<string, number>;
  /** Turns of whose answer a call of the Bot API was cut. */
  cut: ReadonlySet<string>;
  /** Of the agent and of the daemon. */
  kills: readonly number[];
  stateLosses: readonly number[];
  /** Nothing could be written meanwhile. */
  noPlaces: readonly Span[];
  /** When the owner said /cancel or STOP. */
  orders: readonly number[];
}

export interface OwnedVerdict {
  in: number;
  /** Messages that a model was given; `steered` of them into a running prompt. */
  given: number;
  steered: number;
  answered: number;
  toldFailed: number;
  /** Never given to a model, or neither answered nor told as failed. */
  lost: string[];
  /** Given to a model more than once, although the daemon had the time to write down the first sign of it. */
  doubled: string[];
  /** Answers on the phone more than once, although no call of the Bot API was cut. */
  doubledOnPhone: string[];
  /** Given again after a kill right behind the first sign, or while no disk took it: nobody could know of that. */
  unseen: number;
  afterStateLoss: number;
}

/** From the first sign of the model to the journal, on a busy machine. */
const signMs = 1_000;

const pattern = /\bown-\d+\b/g;

export function ownTokens(text: string): string[] {
  return [...new Set(text.match(pattern) ?? [])];
}

/** Of a run in which nobody said anything. */
function emptyOwned(): OwnedVerdict {
  return {
    ...{ in: 0, given: 0, steered: 0, answered: 0, toldFailed: 0 },
    ...{ lost: [], doubled: [], doubledOnPhone: [], unseen: 0, afterStateLoss: 0 },
  };
}

/** Turn -> the messages that it carried. A prompt that carries none, the reason of a refusal, goes on with those before it. */
export function carriedIn(entries: readonly Entry[]): Map<string, string[]> {
  const carried = new Map<string, string[]>();
  const last = new Map<string, string[]>();
  for (const { what, mark, turn, text = '' } of entries) {
    if (turn === undefined || (what !== 'prompt' && what !== 'steered')) continue;
    const own = ownTokens(text);
    const before = carried.get(turn) ?? [];
    const tokens = what === 'prompt' && own.length === 0 ? (last.get(mark) ?? []) : [...before, ...own];
    carried.set(turn, tokens);
    last.set(mark, tokens);
  }
  return carried;
}

export function judgeOwned(end: OwnedEnd): OwnedVerdict {
  const verdict = emptyOwned();
  const carried = carriedIn(end.entries);
  const answers = end.entries.flatMap(({ what, turn }) => (what === 'answer' && turn !== undefined ? [turn] : []));
  for (const turn of answers) {
    const shown = end.shown.get(turn) ?? 0;
    if (shown > 1 && !end.cut.has(turn)) verdict.doubledOnPhone.push(turn);
  }
  const isAnswered = (token: string) =>
    answers.some((turn) => (end.shown.get(turn) ?? 0) > 0 && carried.get(turn)?.includes(token));
  for (const { token, at } of end.messages) {
    const seen = end.entries.filter(
      ({ what, text = '' }) => (what === 'prompt' || what === 'steered') && ownTokens(text).includes(token),
    );
    const isFailed = end.reactions.get(token) === '👎';
    verdict.in += 1;
    if (seen.length > 0) verdict.given += 1;
    if (seen.some(({ what }) => what === 'steered')) verdict.steered += 1;
    if (isAnswered(token)) verdict.answered += 1;
    else if (isFailed) verdict.toldFailed += 1;
    // The owner may have ended its prompt before the model had it.
    const isCancelled = isFailed && end.orders.some((order) => order >= at);
    // Only the journal knew that the agent had been given it, and what became of its turn.
    const isForgotten = end.stateLosses.some((loss) => loss >= at) && end.reactions.get(token) !== undefined;
    if (seen.length === 0 ? !isCancelled : !isAnswered(token) && !isFailed) {
      if (isForgotten) verdict.afterStateLoss += 1;
      else verdict.lost.push(token);
    }
    if (seen.length > 1)
      noteDoubled(
        token,
        seen.map((each) => each.at),
        end,
        verdict,
      );
  }
  return verdict;
}

/** So many messages, and one must have its answer: where nothing is ever answered, no answer is lost or doubled either. */
const answeredAfter = 20;

export function isUnanswered({ in: said, answered }: Pick<OwnedVerdict, 'in' | 'answered'>): boolean {
  return said > answeredAfter && answered === 0;
}

function noteDoubled(token: string, seen: readonly number[], end: OwnedEnd, verdict: OwnedVerdict): void {
  const { kills, stateLosses, noPlaces } = end;
  const pairs = seen.slice(1).map((to, index) => ({ from: seen[index] ?? 0, to }));
  const isUnseen = ({ from, to }: { from: number; to: number }) =>
    kills.some(
      (kill) =>
        kill >= from &&
        kill <= to &&
        (kill <= from + signMs ||
          noPlaces.some(({ fromAt, toAt }) => fromAt <= from + signMs && kill <= toAt + signMs)),
    );
  const isLost = ({ from, to }: { from: number; to: number }) => stateLosses.some((at) => at >= from && at <= to);
  if (pairs.some((pair) => !isLost(pair) && !isUnseen(pair))) verdict.doubled.push(token);
  else if (pairs.some(isLost)) verdict.afterStateLoss += 1;
  else verdict.unseen += 1;
}
