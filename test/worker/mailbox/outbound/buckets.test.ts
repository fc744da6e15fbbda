import { describe, expect, it } from 'vitest';
import type { Buckets } from '../../../../worker/mailbox/outbound/buckets.ts';
import { take, waitMs } from '../../../../worker/mailbox/outbound/buckets.ts';

const nowMs = 1_790_000_000_000;
const chat = { capacity: 3, refillMs: 1_000 };
const group = { capacity: 20, refillMs: 3_000 };
const bot = { capacity: 25, refillMs: 40 };

describe('a token bucket', () => {
  it('starts full, empties one by one and says how long the next token takes', () => {
    let buckets: Buckets = {};
    for (let n = 0; n < chat.capacity; n += 1) {
      expect(waitMs(buckets, { chat }, nowMs)).toBe(0);
      buckets = take(buckets, { chat }, nowMs);
    }
    expect(waitMs(buckets, { chat }, nowMs)).toBe(1_000);
    expect(waitMs(buckets, { chat }, nowMs + 400)).toBe(600);
    expect(waitMs(buckets, { chat }, nowMs + 1_000)).toBe(0);
  });

  it('never holds more than its capacity', () => {
    const buckets = take({}, { chat }, nowMs);
    const later = take(buckets, { chat }, nowMs + 1e9);
    expect(later.chat?.tokens).toBe(chat.capacity - 1);
  });

  it('waits for the slowest of those that a call needs', () => {
    const buckets: Buckets = { group: { tokens: 0, at: nowMs }, chat: { tokens: 0, at: nowMs } };
    expect(waitMs(buckets, { chat, group, bot }, nowMs)).toBe(3_000);
    expect(waitMs(buckets, { bot }, nowMs)).toBe(0);
  });

  it('does not stall when the clock goes back', () => {
    const buckets: Buckets = { chat: { tokens: 0, at: nowMs } };
    expect(waitMs(buckets, { chat }, nowMs - 1e9)).toBe(1_000);
  });
});
