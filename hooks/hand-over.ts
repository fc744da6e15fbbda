// Gives messages to the coding agent without a daemon, and each of them once, whatever other hooks run in the same moment.

import type { Decision } from '../agent/turns/rules.ts';
import type { WaitingMessage } from '../agent/turns/view.ts';
import { type InboxEntry, identityOf } from '../protocol/files.ts';
import type { TurnAnswer } from '../protocol/turn-events.ts';
import { type Alone, noteNow, update } from './alone.ts';

/** The answer, once what it gives is ours alone: another hook may take the same messages in this moment. Undefined = nothing may be given. */
export async function answerWith(
  alone: Alone,
  first: Decision,
  waiting: readonly WaitingMessage[],
  rulesFor: (messages: readonly WaitingMessage[]) => Decision,
): Promise<TurnAnswer | undefined> {
  let left = waiting;
  for (let decision = first; ; decision = rulesFor(left)) {
    const hands = decision.effects.find((effect) => effect.type === 'hand');
    if (!hands) return decision.answer;
    const beaten = await take(alone, hands.messages);
    if (beaten?.size === 0) return decision.answer;
    if (!beaten) return undefined;
    left = left.filter(({ entry }) => !beaten.has(identityOf(entry)));
  }
}

/** Gives the identities that another hook was first to take, then nothing was taken; undefined = the file cannot be written. */
async function take(alone: Alone, messages: readonly WaitingMessage[]): Promise<ReadonlySet<string> | undefined> {
  const identities = messages.map((message) => identityOf(message.entry));
  const via = noteNow(alone);
  let beaten: string[] = [];
  const marked = await update<InboxEntry>(alone.place.inbox, 'inbox', (entries) => {
    const mine = entries.filter((entry) => identities.includes(identityOf(entry)));
    beaten = mine.filter(({ read }) => read).map(identityOf);
    return entries.map((entry) =>
      beaten.length === 0 && mine.includes(entry) ? { ...entry, read: true, via } : entry,
    );
  });
  return marked ? new Set(beaten) : undefined;
}
