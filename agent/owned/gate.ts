// What of a session's requests and tools the rest of the daemon is told, in the words of the turn rules.

import type { HookCall, TurnAnswer, TurnEvent } from '../../protocol/turn-events.ts';
import type { HookHost } from '../session/types.ts';
import type { OwnedTool, PermissionRequest } from './owned.ts';

/** The part of the guard that every session meets. */
export interface Gatekeeper {
  /** A refusal, once a budget is used up. */
  admit(call: HookCall): Promise<TurnAnswer | undefined>;
  /** Audit, budgets, and what a policy runs. Never rejects. */
  follow(call: HookCall, host: HookHost & { leave(): void }): Promise<TurnAnswer>;
}

export function gateOf({ tool }: PermissionRequest): TurnEvent {
  return { type: 'gate', tool: nameOf(tool), input: { ...tool.input }, server: undefined };
}

export function nameOf({ name, kind, title }: OwnedTool): string {
  return name ?? kind ?? title ?? 'tool';
}

/** The option that refuses this call alone. By kind, never by id: agents name their options as they like. */
export function refusalIn({ options }: PermissionRequest): string | undefined {
  return options.find(({ kind }) => kind === 'denyOnce')?.id;
}
