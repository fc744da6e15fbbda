// Parked polls: sockets that outlive hibernation and carry the data of their answer. Holds no state in memory.

import type { ErrorBody } from '../../../protocol/errors.ts';
import type { PollAnswer } from '../../../protocol/relay-api.ts';

export interface Waiter {
  daemonId: string;
  startedAt: number;
  /** The cursor of the daemon: the answer holds the rows above. */
  after: number;
}

/** A socket must keep the waiter across hibernation, and must not be listed again after its frame was sent. */
export interface PollSocket {
  waiter(): Waiter | null;
  park(waiter: Waiter): void;
  /** Sends a frame that is not the last. */
  send(frame: string): void;
  /** Sends the last frame. */
  finish(frame: string): void;
}

/** Frames to the stateless Worker: a status line, then the JSON of the answer. */
export function answerFrame(status: number, body: PollAnswer | ErrorBody): string {
  return `${status}\n${JSON.stringify(body)}`;
}

/** Says that the poll is held, with the empty answer that ends it when nothing comes. */
export function parkedFrame(empty: PollAnswer): string {
  return `parked\n${JSON.stringify(empty)}`;
}
