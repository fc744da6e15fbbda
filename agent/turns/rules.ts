// The rules for a hook event as one pure function of (call, view). The hook server and the fallback both obey it. The caller carries
// out the effects, in order, before it gives the answer. after-turn.ts has the rules after a settled turn.

import { deskWords, type HookCall, nudgeLine, type TurnAnswer } from '../../protocol/turn-events.ts';
import { handOver, screenText } from './framing.ts';
import { awayOverNotice, holdNotice, wantsHold } from './hold.ts';
import { abortText, stopText } from './stop.ts';
import type { TurnView, WaitingMessage } from './view.ts';

export type TurnEffect =
  /** From now on this session belongs to the project. */
  | { type: 'bind'; session: string }
  /** Waits for the next prompt without a turn's end. */
  | { type: 'waits' }
  /** The session is gone; the next session with an event takes over. */
  | { type: 'unbind' }
  /** Mark these messages read, durably, before the answer leaves. */
  | { type: 'hand'; messages: readonly WaitingMessage[] }
  /** Look for the proof of the messages that the running turn carries; `texts` = the model request, if the host gives it. */
  | { type: 'prove'; texts: readonly string[] | undefined }
  /**
   * `continued`: with the prompt of wa-sync; the turn carries the messages of that prompt. `nudged`: with the line that wa-sync typed.
   * `byHost`: with a prompt that the host made up. Without these, a person typed it.
   */
  | { type: 'turnStarted'; continued: boolean; nudged: boolean; byHost?: true }
  /** Settle the messages of the turn and tell the phone. `undefined` = the host gave no answer. At a turnStart: then decide again. */
  | { type: 'turnEnded'; answer: string | undefined }
  /** The open STOP has had its effect: `late` = the turn had already ended by itself; `aborted` = at a gate. */
  | { type: 'stopSpent'; how: 'late' | 'aborted' }
  | { type: 'setAway'; away: boolean };

export interface Decision {
  answer: TurnAnswer;
  effects: readonly TurnEffect[];
}

const nothing: Decision = { answer: {}, effects: [] };

/** `nonce` is used only when messages are handed over. */
export function decide(call: HookCall, view: TurnView, nonce: string): Decision {
  // In whichever session: the messages may have moved to another one meanwhile.
  if (call.event.type === 'turnStart' && view.stale?.includes(call.event.prompt))
    return { answer: { deny: staleText }, effects: [] };
  const bind = bindingOf(call, view);
  if (bind === 'foreign') return nothing;
  const decision = decideForOwner(call, view, nonce);
  return bind === 'new'
    ? { ...decision, effects: [{ type: 'bind', session: call.session }, ...decision.effects] }
    : decision;
}

/** A second terminal, or a headless child of the agent's own shell tool, must not take the messages. */
function bindingOf({ event, session, owned }: HookCall, view: TurnView): 'bound' | 'new' | 'foreign' {
  // The owner has asked for this session.
  if (owned && event.type === 'sessionStart') return 'new';
  if (view.bound?.id === session) return 'bound';
  if (owned || event.type === 'sessionEnd' || event.type === 'says' || event.type === 'other') return 'foreign';
  if (event.type === 'turnStart' && deskWordOf(event).word === 'here') return 'new';
  return view.bound && view.boundAlive ? 'foreign' : 'new';
}

/**
 * At the beginning of a prompt alone: further down stands what was pasted or piped, or a message of the phone. With a slash as the custom
 * commands of a host write it; without, because a host refuses a slash command that it does not know.
 */
const deskWord = /^\s*\/?wa:(away|back|here)\b/;

/** `more` = what follows the word in the prompt. */
function deskWordOf({ prompt, byHost }: TurnStart): { word?: keyof typeof deskWords; more?: string } {
  const found = byHost ? null : deskWord.exec(prompt);
  return found ? { word: found[1] as keyof typeof deskWords, more: prompt.slice(found[0].length) } : {};
}

function decideForOwner({ event, owned }: HookCall, view: TurnView, nonce: string): Decision {
  switch (event.type) {
    case 'turnStart':
      return turnStart(event, view, nonce);
    case 'modelRequest':
      return { answer: {}, effects: [{ type: 'prove', texts: event.texts }] };
    case 'gate':
      return owned ? nothing : gate(view);
    case 'permission':
      return view.stop?.type === 'abort' ? { answer: { deny: abortText(view.stop) }, effects: [] } : nothing;
    case 'toolEnd':
      // No text can be added to a result there.
      if (owned) return nothing;
      // Another agent reads what is added there.
      if (event.inside) return { answer: {}, effects: [{ type: 'prove', texts: undefined }] };
      return given(inTurn(view), view, nonce, [{ type: 'prove', texts: undefined }], true);
    case 'steerable':
      if (!view.turnRuns || view.stop) return nothing;
      return given(inTurn(view), view, nonce, [], true);
    case 'ready':
      return { answer: {}, effects: [...openTurn(view), { type: 'waits' }] };
    case 'turnEnd':
      return { answer: {}, effects: [{ type: 'turnEnded', answer: event.answer }] };
    case 'sessionEnd':
      return { answer: {}, effects: [...openTurn(view), { type: 'unbind' }] };
    default:
      return nothing;
  }
}

/** What is open ends without an answer. */
function openTurn({ turnRuns, offered }: TurnView): TurnEffect[] {
  return turnRuns || offered !== undefined ? [{ type: 'turnEnded', answer: undefined }] : [];
}

function inTurn({ waiting }: TurnView): readonly WaitingMessage[] {
  return waiting.filter((message) => !message.later);
}

type TurnStart = Extract<HookCall['event'], { type: 'turnStart' }>;

function turnStart(event: TurnStart, view: TurnView, nonce: string): Decision {
  const { prompt, byHost } = event;
  // The host may append texts of other hooks to the prompt of wa-sync.
  const continued = view.offered !== undefined && prompt.startsWith(view.offered);
  if (!continued && (view.turnRuns || view.offered !== undefined)) {
    // A turn without an end event (some paths of the host have none) ends where the next turn starts.
    const ended = { type: 'turnEnded', answer: undefined } as const;
    const rest = turnStart(event, { ...view, turnRuns: false, offered: undefined }, nonce);
    return { answer: rest.answer, effects: [ended, ...rest.effects] };
  }
  const effects: TurnEffect[] = [];
  // The STOP was not meant for a new prompt of a person.
  const stop = continued ? view.stop : undefined;
  if (view.stop && !continued) effects.push({ type: 'stopSpent', how: 'late' });
  const nudged = !continued && prompt === nudgeLine;
  const byPerson = !continued && !nudged && !byHost;
  const { hold } = view;
  const { word } = deskWordOf(event);
  const away = word === 'away';
  // A person who types a prompt is back; one who chooses the terminal that listens is about to leave.
  const isLeaving = away || word === 'here';
  const isBack = hold.away && hold.interactive && byPerson && !isLeaving;
  if (away || isBack) effects.push({ type: 'setAway', away });
  effects.push({ type: 'turnStarted', continued, nudged, ...(byHost && !continued ? { byHost } : {}) });
  const decision = answered(given(view.waiting, { ...view, stop }, nonce, effects, false), event);
  const holds =
    byPerson && wantsHold({ ...hold, away: away || (hold.away && !isBack), fromPhone: false, nobody: false });
  return withNotices(decision, [...(holds ? [holdNotice] : []), ...(isBack ? [awayOverNotice] : [])]);
}

/** The model, which does not know the word, does nothing but answer it. */
function answered(decision: Decision, event: TurnStart): Decision {
  const { word, more } = deskWordOf(event);
  if (word === undefined || more?.trim() !== '' || decision.answer.context !== undefined) return decision;
  return { ...decision, answer: { ...decision.answer, context: `wa:${word} means: ${deskWords[word]}` } };
}

/** Ahead of what the decision itself shows. */
function withNotices(decision: Decision, notices: readonly string[]): Decision {
  const { notice } = decision.answer;
  const shown = [...notices, ...(notice === undefined ? [] : [notice])];
  return shown.length === 0 ? decision : { ...decision, answer: { ...decision.answer, notice: shown.join('\n') } };
}

const staleText = 'wa-sync: what this prompt of the queue carries has gone another way already.';

function gate(view: TurnView): Decision {
  if (view.stop?.type === 'abort') {
    const reason = abortText(view.stop);
    // Each tool up to the end of the turn, at which the abort has had its effect.
    if (view.canHalt === false) return { answer: { deny: reason }, effects: [] };
    return {
      answer: { deny: reason, halt: reason },
      effects: [{ type: 'stopSpent', how: 'aborted' }],
    };
  }
  return nothing;
}

function given(
  waiting: readonly WaitingMessage[],
  view: TurnView,
  nonce: string,
  effects: readonly TurnEffect[],
  midTurn: boolean,
): Decision {
  const handed = handOver(waiting, view, nonce, midTurn);
  if (!handed) return { answer: view.stop ? { context: stopText(view.stop) } : {}, effects };
  const { messages, text } = handed;
  return { answer: { context: text, notice: screenText(messages) }, effects: [...effects, { type: 'hand', messages }] };
}
