// What the fallback tells the daemon about work it did alone. Written to the spool, read by the daemon at its start and, after
// it was too slow for a hook, while it runs.

interface Spooled {
  /** `projectKey()` */
  project: string;
  /** Epoch milliseconds. */
  at: number;
}

export type SpoolRecord = Spooled &
  (
    | {
        kind: 'handed';
        ids: string[];
        identities: string[];
        tool: string;
        session: string;
        transcript: string | null;
        offset: number;
      }
    /** These entries of the inbox file, STOPs, had their effect. */
    | { kind: 'stopped'; entries: string[] }
    | { kind: 'settled'; proved: string[]; unproved: string[]; failed: boolean }
    /**
     * A status update for which the outbox file had no room or could not be written. `replyTo` = a message's id; `apart` = said by
     * `wa-sync send`, so it ends no turn; `startedAt` = of the daemon that keeps it here and goes on trying by itself: it is for the next one.
     */
    | {
        kind: 'answer';
        answer: { id: string; timestamp: string; text: string };
        replyTo?: string;
        apart?: true;
        startedAt?: number;
      }
  );

/** From a report of the daemon to that of the same answer by a hook that found it dead or too slow; times are cut to seconds. */
export const toldWithinMs = 3_000;

export function isSpooled(value: unknown): value is SpoolRecord {
  if (typeof value !== 'object' || value === null) return false;
  const record = value as Record<string, unknown>;
  if (typeof record.project !== 'string' || typeof record.at !== 'number') return false;
  const texts = (key: string) => Array.isArray(record[key]) && record[key].every((each) => typeof each === 'string');
  switch (record.kind) {
    case 'handed':
      return (
        texts('ids') &&
        texts('identities') &&
        typeof record.tool === 'string' &&
        typeof record.session === 'string' &&
        typeof record.offset === 'number'
      );
    case 'stopped':
      return texts('entries');
    case 'settled':
      return texts('proved') && texts('unproved') && typeof record.failed === 'boolean';
    case 'answer': {
      const { answer } = record;
      return typeof answer === 'object' && answer !== null && 'text' in answer && typeof answer.text === 'string';
    }
    default:
      return false;
  }
}
