// What every part of one mailbox is given. Clock, ids and sockets come from outside, so that the same code runs in plain tests.

import type { Platform } from '../platform.ts';
import type { Counters } from './counters.ts';
import type { PollSocket } from './poll/sockets.ts';
import type { Sql } from './tables/sql.ts';

export interface Core {
  readonly sql: Sql;
  /** Made with the storage, `[a-z0-9]{1,32}`. */
  readonly epoch: string;
  readonly chatId: string;
  readonly platform: Platform;
  readonly counters: Counters;
  /** How long a message waits for its workstation. */
  readonly messageTtlMs: number;
  /** Epoch milliseconds. The same during one event: the clock of a Worker stands while nothing is awaited. */
  clock(): number;
  /** Unguessable, `[A-Za-z0-9_-]`, at most 64 bytes. */
  randomId(): string;
  /** The sockets of a project that hold a parked poll. */
  parked(project: number): PollSocket[];
}
