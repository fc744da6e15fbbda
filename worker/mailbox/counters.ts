// Counts of what happened. Unsaved ones live in memory and go into the project row when it is written anyway.

export const counterNames = [
  'duplicates',
  'unknown_edits',
  'polls',
  'delivered',
  'deliver_ms',
  'calls',
  'sent',
  'send_ms',
  'rate_limited',
  'retried',
  'dead',
  'possible_duplicates',
  'expired',
  'wakes',
  'alarms',
  'rows_read',
  'rows_written',
] as const;

type CounterName = (typeof counterNames)[number];

export type Counts = Partial<Record<CounterName, number>>;

export interface Counters {
  add(name: CounterName, by?: number): void;
  /** The counts since the last call, which the caller now has to keep. */
  take(): Counts;
  unsaved(): Counts;
}

export function createCounters(): Counters {
  let counts: Counts = {};
  return {
    add(name, by = 1) {
      counts[name] = (counts[name] ?? 0) + by;
    },
    take() {
      const taken = counts;
      counts = {};
      return taken;
    },
    unsaved: () => ({ ...counts }),
  };
}

export function sumCounts(...all: Counts[]): Counts {
  const sum: Counts = {};
  for (const counts of all) {
    for (const name of counterNames) {
      const value = counts[name];
      if (value !== undefined) sum[name] = (sum[name] ?? 0) + value;
    }
  }
  return sum;
}
