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

/** When the agent will get a message that no route can deliver now. */
export function pickUpText(terminal: {
  isOpen: boolean;
  isAway: boolean;
  policy: HoldPolicy;
  nudges: boolean;
}): string {
  const { isOpen, isAway, policy, nudges } = terminal;
  if (!isOpen)
    return 'It waits: no session of the coding agent is open in this project. The first turn of the next session gets it.';
  const waits = `It waits for the next turn in the terminal, which is idle and ${nudges ? 'could not be woken now' : 'cannot be woken'}.`;
  if (policy === 'never') return `${waits} ("hold" is "never" in config.json.)`;
  // The end of that turn will wait for the phone, so the message will arrive.
  if (policy === 'always' || isAway) return waits;
  return `${waits} /away, or /wa:away typed there before you leave, lets it listen.`;
}
