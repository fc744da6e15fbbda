// What the measurements give: nested numbers, the keys of `--json`. A part fills its own keys; issue by issue more are added.

import type { Lab } from '../lab/lab.ts';
import type { Spread } from './stats.ts';

export interface BenchResult {
  hook?: { message: Spread; empty: Spread; fallback: Spread; fallbackEmpty: Spread; late: number };
  baseline?: { bashJqMessage: Spread; bashJqEmpty: Spread; sh: Spread; node: Spread };
  /** The judge of a tool call. */
  gate?: { verdictP95Ms: number };
  /** What the acceptance criteria promise. */
  turn?: { context: Spread; summary: Spread; mute: Spread; peakRssMb?: number };
  /** Of the message that shows an owned turn: microseconds to note a chunk, CPU time of one edit, and its size. */
  stream?: { chunkUs: number; edit: Spread; editBytes: number };
  inbound?: Spread;
  outbound?: Spread;
  accept?: { perSecond: number };
  drain?: { perSecond: number };
  /** Milliseconds per message, by the number of messages that waited. */
  backlog?: Record<string, number>;
  /** Milliseconds from the start of the daemon's process to the first message in the file, by the same number. */
  backlogFirstMs?: Record<string, number>;
  idle?: { cpuPercent: number; rssMb: number; ownMb: number };
  /** The daemon with three sessions that it runs itself, without the agents. */
  owned?: { rssMb: number; ownMb: number };
  /** Session files of 50 MB: the slowest agent, and a new line until its event. */
  sessions?: { firstMs: number; listMs: number; peakRssMb: number; event: Spread };
  relay?: {
    rowsWrittenPerMessage?: number;
    rowsReadPerMessage?: number;
    rowsWrittenByDelete?: number;
    rowsWrittenPerMessageWithReactions?: number;
    rowsReadPerMessageWithReactions?: number;
    requestsPerIdleDay?: number;
    gbSecondsPerIdleDay?: number;
  };
  /** What the two numbers of an idle day were computed from; the first of each pair while a day begins, then in its quiet rest. */
  idleRelay?: { polls: Pair; wakesPerPoll: Pair; requestsPerPoll: Pair; awakeMsPerPoll: Pair; periodMs: Pair };
}

export type Pair = [number, number];

/** One measurement. Must stop by itself and leave nothing running. */
export interface Part {
  name: string;
  run(lab: Lab): Promise<BenchResult>;
}
