// Counts of what happened, each with its help. Unsaved ones live in memory and go into the project row when it is written anyway.

export const counterHelp = {
  duplicates: 'Updates that came again.',
  unknown_edits: 'Edits of messages that are no longer in the log.',
  polls: 'Polls.',
  delivered: 'Rows handed out; a lost answer counts again.',
  deliver_ms: 'Time from storing to handing out, over wa_delivered_total.',
  calls: 'Calls of the platform.',
  sent: 'Calls that succeeded.',
  send_ms: 'Time from accepting to success, over wa_sent_total.',
  rate_limited: 'Refusals because of the rate (429).',
  retried: 'Calls to be repeated.',
  dead: 'Calls given up.',
  possible_duplicates: 'Calls repeated although they may have succeeded.',
  expired: 'Messages that expired before the workstation took them.',
  wakes: 'Starts of a mailbox object.',
  alarms: 'Alarms.',
  rows_read: 'Rows read in storage.',
  rows_written: 'Rows written in storage.',
};

type CounterName = keyof typeof counterHelp;

export const counterNames = Object.keys(counterHelp) as CounterName[];

export type Counts = Partial<Record<CounterName, number>>;

export class Counters {
  unsaved: Counts = {};

  add(name: CounterName, by = 1): void {
    this.unsaved[name] = (this.unsaved[name] ?? 0) + by;
  }

  /** The counts since the last call, which the caller now has to keep. */
  take(): Counts {
    const taken = this.unsaved;
    this.unsaved = {};
    return taken;
  }
}

export function sumCounts(...all: Counts[]): Counts {
  const sum: Counts = {};
  for (const name of counterNames) {
    const values = all.flatMap((counts) => counts[name] ?? []);
    if (values.length > 0) sum[name] = values.reduce((total, value) => total + value);
  }
  return sum;
}
