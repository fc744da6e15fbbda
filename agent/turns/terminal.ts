// Texts for the phone about the session in the terminal, and the text for a new session about the phone. Pure; only the daemon uses it.

import type { Texts } from '../../protocol/texts.ts';
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
export function pickUpText(
  terminal: {
    isOpen: boolean;
    /** A person's, and no headless run. */
    isTerminal: boolean;
    wakeable: boolean;
    policy: HoldPolicy;
    /** "nudge" is "off" in config.json, so tmux changes nothing. */
    nudgeOff: boolean;
  },
  { turns }: Texts,
): string {
  const { isOpen, isTerminal, wakeable, policy, nudgeOff } = terminal;
  const { waits } = turns;
  if (!isOpen) return waits.noSession;
  if (!isTerminal) return waits.nextTurn;
  if (wakeable) return waits.typing;
  if (policy === 'never') return waits.neverHolds;
  return nudgeOff ? waits.idleNudgeOff : waits.idle;
}

/** On the screen when a session begins in a terminal that cannot be woken. */
export function unwakeableNotice(nudgeOff: boolean): string {
  const inTmux = nudgeOff
    ? 'or set "nudge" to "auto" in config.json and start the agent in tmux'
    : 'or start the agent in tmux';
  return `wa-sync: while this terminal is idle, no message of the phone can wake it. Type wa:away before you leave; ${inTmux}, where it is woken by itself.`;
}
