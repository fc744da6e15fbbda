// The daemon's real pull loop on a wire that a test holds in its hand: every answer arrives, or does not, when the test says so.

import type { Journal } from '../../agent/journal/journal.ts';
import type { ProjectState } from '../../agent/journal/state.ts';
import type { RelayClient } from '../../agent/relay/client.ts';
import { createOutages } from '../../agent/relay/outages.ts';
import { type Pull, startPull } from '../../agent/relay/pull.ts';
import { WaError } from '../../protocol/errors.ts';
import type { PollAnswer, PollRequest } from '../../protocol/relay-api.ts';

interface Pending {
  request: PollRequest;
  resolve(answer: PollAnswer): void;
  reject(error: Error): void;
}

export interface Wire {
  /** What the daemon asks; waits until it does. */
  request(): Promise<PollRequest>;
  /** Resolves when the daemon has dealt with it and asks again. */
  answer(answer: PollAnswer): Promise<void>;
  /** The same for a call that fails. */
  fail(error?: WaError): Promise<void>;
  stop(): Promise<void>;
}

export interface WireOptions {
  mailbox: string;
  project: number;
  state: ProjectState;
  journal: Journal;
  daemon: { id: string; startedAt: number };
  clock: () => number;
}

export function createWire({ mailbox, project, state, journal, daemon, clock }: WireOptions): Wire {
  let pending: Pending | undefined;
  let arrived = () => {};
  const poll: RelayClient['poll'] = (request, signal) =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      pending = { request, resolve, reject };
      arrived();
    });
  const pull: Pull = startPull({
    project: state,
    address: { mailbox, project },
    journal,
    client: { poll } as Partial<RelayClient> as RelayClient,
    daemon,
    clock,
    random: () => 0.5,
    log: () => {},
    outages: createOutages({ log: () => {}, clock: () => 0 }),
    // The model's time stands still.
    pace: { turn: async () => {}, giveBack: () => {} },
    onRows: () => Promise.resolve(),
    onEnded: () => {},
    onEpoch: () => {},
    onRelayClock: () => {},
  });

  async function call(): Promise<Pending> {
    while (!pending) {
      await new Promise<void>((resolve) => {
        arrived = resolve;
      });
    }
    return pending;
  }

  async function take(): Promise<Pending> {
    const taken = await call();
    pending = undefined;
    return taken;
  }

  return {
    request: async () => (await call()).request,
    async answer(answer) {
      (await take()).resolve(answer);
      await call();
    },
    async fail(error = new WaError('relay_unreachable', 'the connection was lost')) {
      (await take()).reject(error);
      // No waiting between tries.
      pull.wake();
      await call();
    },
    stop: () => pull.stop(),
  };
}
