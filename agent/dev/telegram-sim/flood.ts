// The flood limits of Telegram, only on request: the real ones are flexible, these are the published ones.

import { Refusal } from './refusal.ts';
import type { SimChat } from './types.ts';

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

interface Rate {
  perSecond: number;
  burst: number;
}

const rates = {
  bot: { perSecond: 30, burst: 30 },
  privateChat: { perSecond: 1, burst: 3 },
  group: { perSecond: 20 / 60, burst: 20 },
} as const satisfies Record<string, Rate>;

export type FloodGate = (chat: SimChat) => void;

/** Counts a message or an edit. @throws {Refusal} 429 with retry_after. */
export function createFloodGate(clock: () => number): FloodGate {
  const buckets = new Map<string, Bucket>();
  const take = (key: string, rate: Rate) => {
    const bucket = buckets.get(key) ?? { tokens: rate.burst, filledAtMs: clock() };
    const refilled = bucket.tokens + ((clock() - bucket.filledAtMs) / 1000) * rate.perSecond;
    bucket.tokens = Math.min(rate.burst, refilled);
    bucket.filledAtMs = clock();
    buckets.set(key, bucket);
    if (bucket.tokens < 1) throw tooMany(Math.ceil((1 - bucket.tokens) / rate.perSecond));
    bucket.tokens -= 1;
  };
  return (chat) => {
    take(`chat ${chat.id}`, chat.type === 'private' ? rates.privateChat : rates.group);
    take('bot', rates.bot);
  };
}

function tooMany(retryAfterSeconds: number): Refusal {
  return new Refusal(429, `Too Many Requests: retry after ${retryAfterSeconds}`, { retry_after: retryAfterSeconds });
}
