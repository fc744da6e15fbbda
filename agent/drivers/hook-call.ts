// What the hook payloads of the hosts have in common: session, session file and folder, and the gate of a tool. Pure; the hook fallback
// bundles it.

import type { HookCall, TurnEvent } from '../../protocol/turn-events.ts';
import type { Tools } from './driver.ts';
import { object, text } from './fields.ts';

/** `Driver.readCall` of a host that names the session, its file and a folder as all three do. */
export function callReader(
  agent: string,
  readEvent: (event: string, fields: Record<string, unknown>) => TurnEvent,
): (event: string, payload: unknown) => HookCall | undefined {
  return (event, payload) => {
    const fields = object(payload);
    const { session_id: session, transcript_path: transcript, cwd } = fields;
    if (typeof session !== 'string' || session === '' || typeof cwd !== 'string') return undefined;
    return { agent, session, transcript: text(transcript) || undefined, cwd, event: readEvent(event, fields) };
  };
}

/** A call at its gate, with the text of the question where the host's own tool asks one. */
export function gateOf(
  call: Pick<Extract<TurnEvent, { type: 'gate' }>, 'tool' | 'input' | 'server'>,
  { question }: Pick<Tools, 'question'>,
): TurnEvent {
  const asks = call.server === undefined && call.tool === question?.tool ? question.textOf(call.input) : undefined;
  return { type: 'gate', ...call, ...(asks === undefined ? {} : { asks }) };
}
