// Who waits for what became of an outbox key. In memory alone: a waiter is a call that is open right now.

import type { OutboxOutcome } from '../../protocol/relay-api.ts';
import type { ProjectState } from '../journal/state.ts';
import { pause } from './backoff.ts';

export interface Outcomes {
  /** Resolves when the key is sent or dead, or with undefined after `timeoutMs` or when the signal aborts. Never rejects. */
  wait(key: string, timeoutMs: number, signal: AbortSignal): Promise<OutboxOutcome | undefined>;
  settled(outcomes: readonly OutboxOutcome[]): void;
}

export function createOutcomes(): Outcomes {
  const waiting = new Map<string, (outcome: OutboxOutcome) => void>();
  return {
    async wait(key, timeoutMs, signal) {
      const over = new AbortController();
      try {
        return await Promise.race([
          new Promise<OutboxOutcome>((resolve) => waiting.set(key, resolve)),
          pause(timeoutMs, AbortSignal.any([signal, over.signal])).then(() => undefined),
        ]);
      } finally {
        over.abort();
        waiting.delete(key);
      }
    },
    settled(outcomes) {
      for (const outcome of outcomes) {
        if (outcome.state === 'sent' || outcome.state === 'dead') waiting.get(outcome.key)?.(outcome);
      }
    },
  };
}

/** What became of a key, as far as the journal tells; undefined = still open, or unknown. */
export function settledOutcome(project: ProjectState, key: string): OutboxOutcome | undefined {
  const { state, error } = project.outbox.get(key) ?? {};
  if (state !== 'sent' && state !== 'dead') return undefined;
  return { key, state, ...(error ? { error } : {}) };
}
