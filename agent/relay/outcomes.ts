// The calls that wait for the end of an outbox key. In memory alone: a waiter is a call that is open now.

import type { KeyEnd } from '../../protocol/log.ts';
import { pause } from './backoff.ts';

export interface Outcomes {
  /** Resolves when the key is sent or dead, or with undefined after `timeoutMs` or when the signal aborts. Never rejects. */
  wait(key: string, timeoutMs: number, signal: AbortSignal): Promise<KeyEnd | undefined>;
  ended(ends: readonly KeyEnd[]): void;
}

export function createOutcomes(): Outcomes {
  const waiting = new Map<string, (end: KeyEnd) => void>();
  return {
    async wait(key, timeoutMs, signal) {
      const over = new AbortController();
      try {
        return await Promise.race([
          new Promise<KeyEnd>((resolve) => waiting.set(key, resolve)),
          pause(timeoutMs, AbortSignal.any([signal, over.signal])).then(() => undefined),
        ]);
      } finally {
        over.abort();
        waiting.delete(key);
      }
    },
    ended(ends) {
      for (const end of ends) waiting.get(end.key)?.(end);
    },
  };
}
