// Token buckets: how fast the platform may be called. Pure; rates, times and state are arguments.

import type { Rate, Rates } from '../../platform.ts';

type Bucket = { tokens: number; at: number };

/** By the names of the platform's rates. */
export type Buckets = Readonly<Record<string, Bucket>>;

function refilled(rate: Rate, bucket: Bucket | undefined, nowMs: number): Bucket {
  if (bucket === undefined) return { tokens: rate.capacity, at: nowMs };
  // A clock that went back must not stall the chat.
  const elapsedMs = Math.max(0, nowMs - bucket.at);
  return { tokens: Math.min(rate.capacity, bucket.tokens + elapsedMs / rate.refillMs), at: nowMs };
}

/** How long until each bucket has one token more than `heldBack`, which is reserved for others; 0 = now. */
export function waitMs(buckets: Buckets, rates: Rates, nowMs: number, heldBack = 0): number {
  const waits = Object.entries(rates).map(([name, rate]) => {
    const { tokens } = refilled(rate, buckets[name], nowMs);
    return tokens >= 1 + heldBack ? 0 : Math.ceil((1 + heldBack - tokens) * rate.refillMs);
  });
  return Math.max(0, ...waits);
}

/** Takes a token of each; call only when `waitMs` is 0. */
export function take(buckets: Buckets, rates: Rates, nowMs: number): Buckets {
  const taken = Object.entries(rates).map(([name, rate]) => {
    const { tokens, at } = refilled(rate, buckets[name], nowMs);
    return [name, { tokens: tokens - 1, at }];
  });
  return { ...buckets, ...Object.fromEntries(taken) };
}

/** Idle for this long, an object hibernates. */
const hibernatesAfterMs = 10_000;

/** Some bucket takes longer to fill than the object stays in memory, so that they must be kept. */
export function outlivesMemory(rates: Rates): boolean {
  return Object.values(rates).some(({ capacity, refillMs }) => capacity * refillMs > hibernatesAfterMs);
}
