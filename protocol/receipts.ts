// The ladder of a message (design: one message, down and up) and the rule which report of it counts.

export const receiptStates = [
  'stored',
  'delivered',
  'taken',
  'injected',
  'answered',
  'failed',
  'expired',
  'refused',
  'lost',
] as const;

export type ReceiptState = (typeof receiptStates)[number];

/** The states that a daemon may report; the relay knows `stored` and `delivered` by itself. */
export const reportedStates = ['taken', 'injected', 'answered', 'failed', 'expired', 'refused', 'lost'] as const;

export type ReportedState = (typeof reportedStates)[number];

export interface Receipt {
  /** `msg_…` */
  id: string;
  /** 0 for the first hand-over; raised each time a message is proved lost. */
  attempt: number;
  state: ReportedState;
  /** Epoch milliseconds by the relay's clock as the daemon knows it. */
  at: number;
}

/** All terminal states share the highest rank, so the first of them wins. */
const rank: Record<ReceiptState, number> = {
  stored: 0,
  delivered: 1,
  taken: 2,
  injected: 3,
  answered: 4,
  failed: 4,
  expired: 4,
  refused: 4,
  lost: 4,
};

export interface LadderPosition {
  attempt: number;
  state: ReceiptState;
}

export function isTerminal(state: ReceiptState): boolean {
  return rank[state] === rank.answered;
}

/** True when `next` moves a message from `current`: a higher attempt, or the same attempt and a higher rank. */
export function supersedes(next: LadderPosition, current: LadderPosition): boolean {
  if (next.attempt !== current.attempt) return next.attempt > current.attempt;
  return rank[next.state] > rank[current.state];
}
