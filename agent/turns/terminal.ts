// Texts for the phone about the session in the terminal, and the text for a new session about the phone. Pure; only the daemon uses it.

import type { TurnEvent } from '../../protocol/turn-events.ts';
import type { HoldPolicy } from './hold.ts';

/** For the model, at the start of the bound session. */
export const sessionContext = [
  "wa-sync connects this session with the owner's phone: framed messages of the owner may come with a prompt or a tool result.",
  'Your final answer of each turn goes to the phone: begin with a short status, ask questions with options, name files instead of pasting them.',
  'From the phone the owner can stop you, abort a tool and start sprints.',
].join('\n');

/** A line for the phone; undefined = the phone hears nothing. Dialogs are told with what can be done about them. */
export function terminalNews(event: TurnEvent): string | undefined {
  return event.type === 'notice' && event.text !== '' ? event.text : undefined;
}

/** When the agent will get a message that no route can deliver now, and what brings it there. */
export function pickUpText(terminal: {
  isOpen: boolean;
  /** A person's, and no headless run. */
  isTerminal: boolean;
  wakeable: boolean;
  policy: HoldPolicy;
  /** "nudge" is "off" in config.json, so tmux changes nothing. */
  nudgeOff: boolean;
}): string {
  const { isOpen, isTerminal, wakeable, policy, nudgeOff } = terminal;
  if (!isOpen)
    return 'It waits: no session of the coding agent is open in this project. The first turn of the next session gets it.';
  if (!isTerminal) return 'It waits for the next turn of the coding agent.';
  if (wakeable)
    return 'It waits: something stands in the prompt of the terminal, or somebody types there. It goes with that prompt, or as soon as the prompt is empty.';
  const waits =
    'It waits for a prompt at the terminal, which is idle and cannot be woken from here: type anything there';
  if (policy === 'never') return `${waits}. ("hold" is "never" in config.json.)`;
  const inTmux = nudgeOff ? '("nudge" is "off" in config.json.)' : 'In tmux it is woken by itself.';
  return `${waits}, and before you leave /wa:away, so that the agent listens. ${inTmux}`;
}

/** On the screen when a session begins in a terminal that cannot be woken. */
export function unwakeableNotice(nudgeOff: boolean): string {
  const inTmux = nudgeOff
    ? 'or set "nudge" to "auto" in config.json and start the agent in tmux'
    : 'or start the agent in tmux';
  return `wa-sync: while this terminal is idle, no message of the phone can wake it. Type /wa:away before you leave; ${inTmux}, where it is woken by itself.`;
}
