// The dialogs of a host that takes an answer from its terminal and from a hook, whichever comes first: when the phone is asked, and when
// the terminal was quicker, which the host does not tell the hook. Judges and asks nothing itself.

import { setTimeout as delay } from 'node:timers/promises';
import type { HookCall, TurnAnswer, TurnEvent } from '../../protocol/turn-events.ts';
import { answerHereMs } from './dialogs.ts';
import { type GateHost, hashOf } from './question/asked.ts';

export type PermissionCall = HookCall & { event: Extract<TurnEvent, { type: 'permission' }> };

export interface PermissionsOptions {
  /** Asks on the phone; `{}` = nothing is decided here. */
  ask(call: PermissionCall, host: GateHost): Promise<TurnAnswer>;
  /** A person sits at the terminal, who may answer there before the phone rings. */
  isPresent(): boolean;
  /** The dialog is left to the terminal, without a question on the phone. */
  onLeft(call: PermissionCall, host: GateHost): void;
  clock: () => number;
}

const lookEveryMs = 500;

interface Waiting {
  hash: string;
  /** An event came that cannot come while the dialog waits. */
  isOver: boolean;
}

export function createPermissions({ ask, isPresent, onLeft, clock }: PermissionsOptions) {
  const waiting = new Map<string, Set<Waiting>>();

  /** Calls that the owner has approved at their gate, by session, until the host asks about the same call or the turn is over. */
  const approved = new Map<string, Set<string>>();

  async function asked(call: PermissionCall, host: GateHost): Promise<TurnAnswer> {
    if (approved.get(call.session)?.delete(hashOf(call.event))) return { allow: true };
    if (call.event.hidesDialog) {
      // A wait would keep the dialog from whoever sits there.
      if (!isPresent()) return ask(call, host);
      onLeft(call, host);
      return {};
    }
    const tellAt = clock() + answerHereMs;
    while (isPresent() && clock() < tellAt) {
      if (host.isGone()) return {};
      await delay(lookEveryMs);
    }
    return host.isGone() ? {} : ask(call, host);
  }

  return {
    /** Each call, as soon as it comes. */
    sees({ session, event }: HookCall): void {
      const isBoundary = event.type === 'turnStart' || event.type === 'turnEnd' || event.type === 'sessionEnd';
      if (isBoundary) approved.delete(session);
      if (!isBoundary && event.type !== 'toolEnd') return;
      const hash = event.type === 'toolEnd' ? hashOf(event) : undefined;
      for (const each of waiting.get(session) ?? []) if (isBoundary || each.hash === hash) each.isOver = true;
    },
    /** The owner has said yes to this call at its gate. */
    passed(
      session: string,
      call: { tool: string; server: string | undefined; input: Readonly<Record<string, unknown>> },
    ): void {
      const calls = approved.get(session) ?? new Set();
      approved.set(session, calls.add(hashOf(call)));
    },
    /** Holds until the owner or the terminal has answered. */
    async decide(call: PermissionCall, host: GateHost): Promise<TurnAnswer> {
      const { session, event } = call;
      const mine: Waiting = { hash: hashOf(event), isOver: false };
      const all = waiting.get(session) ?? new Set();
      waiting.set(session, all.add(mine));
      try {
        return await asked(call, { ...host, isGone: () => mine.isOver || host.isGone() });
      } finally {
        all.delete(mine);
        if (all.size === 0 && waiting.get(session) === all) waiting.delete(session);
      }
    },
  };
}
