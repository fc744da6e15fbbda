// Counts of what happened, each with its help, and the costs of the day. Unsaved ones live in memory and go into the project row
// when it is written anyway; an object that falls asleep before that forgets them.

import { type DayName, type DayUse, dayMs, noUse, utcDay } from '../../protocol/free-plan.ts';

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
  worker_requests: 'Requests to the Worker that reached a mailbox.',
  object_requests: 'Requests to mailbox objects, alarms included.',
  active_ms: 'Time that mailbox objects were awake, estimated.',
};

type CounterName = keyof typeof counterHelp;

export const counterNames = Object.keys(counterHelp) as CounterName[];

export type Counts = Partial<Record<CounterName, number>>;

/** The counts that Cloudflare limits for each day. */
const dayNameOf: Partial<Record<CounterName, DayName>> = {
  worker_requests: 'workerRequests',
  object_requests: 'objectRequests',
  rows_read: 'rowsRead',
  rows_written: 'rowsWritten',
  active_ms: 'activeMs',
};

/** An object is awake about this long for each event, measured with polls; waiting for a platform is added. */
const eventMs = 20;

export class Counters {
  unsaved: Counts = {};
  /** Of this day alone: nobody asks for the day before. */
  unsavedToday: DayUse = noUse('');
  readonly #clock: () => number;
  /** The day of `unsavedToday`, in days since the epoch: its name would cost more than all counts of a statement. */
  #day = Number.NaN;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  add(name: CounterName, by = 1): void {
    this.unsaved[name] = (this.unsaved[name] ?? 0) + by;
    const dayName = dayNameOf[name];
    if (dayName !== undefined) this.#today()[dayName] += by;
  }

  /** An event of the object: a call of the Worker, or without one an alarm. */
  addEvent(by: 'worker' | 'alarm'): void {
    if (by === 'worker') this.add('worker_requests');
    this.add('object_requests');
    this.add('active_ms', eventMs);
  }

  #today(): DayUse {
    const nowMs = this.#clock();
    const day = Math.floor(nowMs / dayMs);
    if (this.#day !== day) {
      this.#day = day;
      this.unsavedToday = noUse(utcDay(nowMs));
    }
    return this.unsavedToday;
  }

  /** As `take`, of the day. */
  takeToday(): DayUse {
    const taken = this.#today();
    this.unsavedToday = noUse(taken.day);
    return taken;
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
