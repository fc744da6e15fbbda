// The rules for a hook event as one pure function of (call, view). The hook server and the fallback both obey it;
// whoever asks carries out the effects, in order, before it gives the answer.

import { hookLimits } from '../../protocol/limits.ts';
import type { HookCall, TurnAnswer } from '../../protocol/turn-events.ts';
import { frameMessages } from './framing.ts';
import type { TurnView, WaitingMessage } from './view.ts';

export type TurnEffect =
  /** From now on this session is the project's. */
  | { type: 'bind'; session: string }
  /** The session is gone; the next one that shows an event takes over. */
  | { type: 'unbind' }
  /** Mark these read, durably, before the answer leaves. */
  | { type: 'hand'; messages: readonly WaitingMessage[] }
  /** Look for the proof of what the running turn carries; `texts` is what the model was sent, when the host says so. */
  | { type: 'prove'; texts: readonly string[] | undefined }
  | { type: 'turnStarted' }
  /** Settle what the turn carried and tell the phone. `undefined` = the host gave no answer. */
  | { type: 'turnEnded'; answer: string | undefined };

export interface Decision {
  answer: TurnAnswer;
  effects: readonly TurnEffect[];
}

const nothing: Decision = { answer: {}, effects: [] };

/** `nonce` is used only when messages are handed over. */
export function decide(call: HookCall, view: TurnView, nonce: string): Decision {
  const bind = bindingOf(call, view);
  if (bind === 'foreign') return nothing;
  const decision = decideForOwner(call, view, nonce);
  return bind === 'new'
    ? { ...decision, effects: [{ type: 'bind', session: call.session }, ...decision.effects] }
    : decision;
}

/** A second terminal, or a headless child of the agent's own shell tool, must not take the messages. */
function bindingOf(call: HookCall, view: TurnView): 'bound' | 'new' | 'foreign' {
  if (view.bound?.id === call.session) return 'bound';
  if (call.event.type === 'sessionEnd' || call.event.type === 'other') return 'foreign';
  return view.bound && view.boundAlive ? 'foreign' : 'new';
}

function decideForOwner({ event }: HookCall, view: TurnView, nonce: string): Decision {
  switch (event.type) {
    case 'turnStart': {
      // A turn that never ended (its end event does not exist on every path) ends where the next one starts.
      const effects: TurnEffect[] = view.turnRuns ? [{ type: 'turnEnded', answer: undefined }] : [];
      effects.push({ type: 'turnStarted' });
      return handOver(view, nonce, effects);
    }
    case 'modelRequest':
      return { answer: {}, effects: [{ type: 'prove', texts: event.texts }] };
    case 'toolEnd':
      return { answer: {}, effects: [{ type: 'prove', texts: undefined }] };
    case 'turnEnd':
      return { answer: {}, effects: [{ type: 'turnEnded', answer: event.answer }] };
    case 'sessionEnd':
      return {
        answer: {},
        effects: [...(view.turnRuns ? [{ type: 'turnEnded', answer: undefined } as const] : []), { type: 'unbind' }],
      };
    default:
      return nothing;
  }
}

function handOver(view: TurnView, nonce: string, effects: TurnEffect[]): Decision {
  const messages = selectForTurn(view.waiting);
  if (messages.length === 0) return { answer: {}, effects };
  const more = view.waiting.length - messages.length + view.further;
  const context = frameMessages(messages, { now: view.now, nonce, more, degraded: view.degraded });
  return { answer: { context }, effects: [...effects, { type: 'hand', messages }] };
}

/** What one turn receives: oldest first, at least one, within the limits of a turn. */
export function selectForTurn(waiting: readonly WaitingMessage[]): WaitingMessage[] {
  const selected: WaitingMessage[] = [];
  let bytes = 0;
  for (const message of waiting) {
    bytes += byteLength(message.expansion?.text ?? '') + byteLength(message.entry.text);
    if (selected.length > 0 && (selected.length >= hookLimits.turnMessages || bytes > hookLimits.turnBytes)) break;
    selected.push(message);
  }
  return selected;
}

/** UTF-8 bytes, without Buffer: this module is pure. */
function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
