// Token buckets: how fast the platform may be called. Pure; times and state are arguments.

interface Rate {
  capacity: number;
  /** One token comes back after this long. */
  refillMs: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

export const rates = {
  chat: { capacity: 3, refillMs: 1_000 },
  group: { capacity: 20, refillMs: 3_000 },
  bot: { capacity: 25, refillMs: 40 },
} as const satisfies Record<string, Rate>;

export type BucketName = keyof typeof rates;

export type Buckets = Partial<Record<BucketName, Bucket>>;

function refilled(rate: Rate, bucket: Bucket | undefined, nowMs: number): Bucket {
  if (bucket === undefined) return { tokens: rate.capacity, at: nowMs };
  // A clock that went back must not stall the chat.
  const elapsedMs = Math.max(0, nowMs - bucket.at);
  return { tokens: Math.min(rate.capacity, bucket.tokens + elapsedMs / rate.refillMs), at: nowMs };
}

/** How long until every named bucket has a token beside those that are held back for others; 0 = now. */
export function waitMs(buckets: Buckets, names: readonly BucketName[], nowMs: number, heldBack = 0): number {
  const waits = names.map((name) => {
    const { tokens } = refilled(rates[name], buckets[name], nowMs);
    return tokens >= 1 + heldBack ? 0 : Math.ceil((1 + heldBack - tokens) * rates[name].refillMs);
  });
  return Math.max(0, ...waits);
}

/** Takes a token of each; call only when `waitMs` is 0. */
export function take(buckets: Buckets, names: readonly BucketName[], nowMs: number): Buckets {
  const next: Buckets = { ...buckets };
  for (const name of names) {
    const bucket = refilled(rates[name], buckets[name], nowMs);
    next[name] = { tokens: bucket.tokens - 1, at: bucket.at };
  }
  return next;
}
