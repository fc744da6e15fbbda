// Gives messages to the coding agent without a daemon, and each of them once, whatever other hooks run in the same moment.

import { stat } from 'node:fs/promises';
import { isBefore, readSpool, removeSpooled } from '../agent/files/spool.ts';
import { spoolDirs } from '../agent/paths.ts';
import type { Decision } from '../agent/turns/rules.ts';
import { isSpooled } from '../agent/turns/spooled.ts';
import type { WaitingMessage } from '../agent/turns/view.ts';
import { type InboxEntry, identityOf } from '../protocol/files.ts';
import type { HookCall, TurnAnswer } from '../protocol/turn-events.ts';
import { type Alone, spool, update } from './alone.ts';

/** The answer, once what it gives is ours alone: another hook may take the same messages in this moment. Undefined = nothing may be given. */
export async function answerWith(
  alone: Alone,
  call: HookCall,
  first: Decision,
  waiting: readonly WaitingMessage[],
  rulesFor: (messages: readonly WaitingMessage[]) => Decision,
): Promise<TurnAnswer | undefined> {
  let left = waiting;
  for (let decision = first; ; decision = rulesFor(left)) {
    const hands = decision.effects.find((effect) => effect.type === 'hand');
    if (!hands) return decision.answer;
    const beaten = await hand(alone, call, hands.messages);
    if (beaten?.size === 0) return decision.answer;
    if (!beaten) return undefined;
    left = left.filter(({ entry }) => !beaten.has(identityOf(entry)));
  }
}

/**
 * Either of the file and the spool keeps a message from being given twice, and both tell the daemon. Gives the identities that
 * another hook was first to take, then nothing was handed over; undefined = nowhere could it be noted.
 */
async function hand(
  alone: Alone,
  call: HookCall,
  messages: readonly WaitingMessage[],
): Promise<ReadonlySet<string> | undefined> {
  const identities = messages.map((message) => identityOf(message.entry));
  const offset = call.transcript ? ((await stat(call.transcript).catch(() => undefined))?.size ?? 0) : 0;
  // The spool before the file: read without a record of ours means that another program has taken it.
  const spooled = await spool(alone, {
    kind: 'handed',
    project: alone.key,
    at: alone.now,
    ids: messages.filter((message) => message.fromOwner).map((message) => message.entry.id),
    identities,
    tool: alone.tool,
    session: call.session,
    transcript: call.transcript ?? null,
    offset,
  });
  let beaten: string[] = [];
  const marked = await update<InboxEntry>(alone.place.inbox, 'inbox', (entries) => {
    const mine = entries.filter((entry) => identities.includes(identityOf(entry)));
    beaten = mine.filter(({ read }) => read).map(identityOf);
    return entries.map((entry) => (beaten.length === 0 && mine.includes(entry) ? { ...entry, read: true } : entry));
  });
  if (!marked && spooled) beaten = await spooledBefore(alone, spooled, identities);
  if (beaten.length > 0 && spooled) await removeSpooled(spooled);
  return spooled || marked ? new Set(beaten) : undefined;
}

/** Those of `identities` that the spool had before our record: the file could not say. */
async function spooledBefore({ config }: Alone, ours: string, identities: readonly string[]): Promise<string[]> {
  const { records } = await readSpool(spoolDirs(config.dirs));
  const handed = records.flatMap(({ path, record }) =>
    isBefore(path, ours) && isSpooled(record) && record.kind === 'handed' ? record.identities : [],
  );
  return identities.filter((identity) => handed.includes(identity));
}
