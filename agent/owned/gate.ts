// What a permission request of the agent becomes: judged by policies, budgets and rules as a tool at a gate is, and asked on the
// phone where these do not decide. Without a yes the answer is no.

import type { HookCall, TurnAnswer, TurnEvent } from '../../protocol/turn-events.ts';
import type { HookHost } from '../session/types.ts';
import type { OwnedTool, PermissionOption, PermissionRequest } from './owned.ts';

/** The part of the guard that an owned session meets. */
export interface Gatekeeper {
  /** A refusal before anything else sees the call. */
  admit(call: HookCall): Promise<TurnAnswer | undefined>;
  /** Holds for as long as a person takes. Never rejects. */
  follow(call: HookCall, host: HookHost & { leave(): void }): Promise<TurnAnswer>;
}

export type Verdict = { allowed: true } | { allowed: false; reason: string; ends: boolean };

export interface GateOptions {
  guard: Gatekeeper;
  /** What the turn rules say to this call; `halt` = an abort of the owner. */
  rules(call: HookCall): Promise<TurnAnswer>;
}

/** The agent asks, so a person is asked unless a policy has decided. */
export async function judgeTool(
  call: HookCall,
  host: HookHost,
  { guard, rules }: GateOptions,
  signal: AbortSignal,
): Promise<Verdict> {
  let isLeft = false;
  const asking = {
    ...host,
    isGone: () => isLeft || signal.aborted || host.isGone(),
    leave: () => {
      isLeft = true;
    },
  };
  const refused = await guard.admit(call);
  if (refused?.deny !== undefined) return no(refused.deny);
  const turn = await rules(call);
  const said = turn.deny !== undefined || turn.halt !== undefined ? turn : await guard.follow(call, asking);
  if (said.halt !== undefined) return { ...no(said.halt), ends: true };
  if (said.deny !== undefined) return no(said.deny);
  // ACP has no words for other arguments: the agent has to ask again with them.
  if (said.input !== undefined)
    return no(`Not as it stands. Run it with these arguments instead: ${JSON.stringify(said.input)}`);
  if (said.ask) return no('Nobody is at a terminal of this session to answer.');
  return { allowed: true };
}

function no(reason: string) {
  return { allowed: false, reason, ends: false } as const;
}

/** A request as a call at a gate. */
export function gateOf({ tool }: PermissionRequest): Extract<TurnEvent, { type: 'gate' }> {
  return { type: 'gate', tool: nameOf(tool), input: { ...tool.input }, server: undefined, mustAsk: true };
}

export function nameOf({ name, kind, title }: OwnedTool): string {
  return name ?? kind ?? title ?? 'tool';
}

/** By kind, never by id: agents name their options as they like. A lasting rule is never chosen here. */
export function optionOf(options: readonly PermissionOption[], isAllowed: boolean): string | undefined {
  const kind = isAllowed ? 'allowOnce' : 'denyOnce';
  return options.find((option) => option.kind === kind)?.id;
}
