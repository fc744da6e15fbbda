// A hook's work when there is no daemon: another program under the open contract of the two files, with the same rules as the
// daemon's. Leaves notes in the entries, from which the next daemon settles; expansion and proof stay with the daemon.

import { loadConfig } from '../agent/config.ts';
import { randomHex } from '../agent/crypto.ts';
import { driverOf, isGate } from '../agent/drivers/registry.ts';
import { readMailbox } from '../agent/mailbox/update.ts';
import type { PathsInput } from '../agent/paths.ts';
import { type Decision, decide } from '../agent/turns/rules.ts';
import { stopOf } from '../agent/turns/stop.ts';
import type { WaitingMessage } from '../agent/turns/view.ts';
import { type InboxEntry, identityOf } from '../protocol/files.ts';
import { messageTtlMs } from '../protocol/limits.ts';
import { type Alone, lookAround, noteNow, update } from './alone.ts';
import { tellAnswer } from './answer.ts';
import { answerGate, lastAnswer } from './gate.ts';

export interface FallbackCall {
  tool: string;
  event: string;
  stdin: Buffer;
}

/** The others need the daemon. */
const ownEvents: ReadonlySet<string> = new Set(['turnStart', 'toolEnd', 'gate', 'turnEnd']);

/** The tool's own answer; `{}` whenever something is missing. */
export async function actOnFiles(world: PathsInput, { tool, event, stdin }: FallbackCall): Promise<object> {
  const io = driverOf(tool);
  const call = io?.readCall(event, parseJson(stdin));
  if (!call && isGate(tool, event)) return JSON.parse(lastAnswer(world, tool, event)) as object;
  if (!io || !call || !ownEvents.has(call.event.type)) return {};
  const config = loadConfig(world);
  const alone = await lookAround(config, call, tool);
  if (!alone) return {};
  const gate = { tool, event, key: alone.key, config: config.dirs.config };
  if (!alone.place) return call.event.type === 'gate' ? answerGate(world, gate) : {};
  // An inbox that cannot be read holds nothing for us; what else the event asks for goes on, above all the answer of a turn.
  const { entries } = await readMailbox<InboxEntry>(alone.place.inbox, 'inbox').catch(() => ({ entries: [] }));
  const isOwners = (entry: InboxEntry) => alone.signer.isSigned(entry, 'inbox');
  const stops = entries.flatMap((entry) => stopOf(entry, isOwners) ?? []);
  const takes = call.event.type === 'turnStart' || call.event.type === 'toolEnd';
  const nonce = randomHex(4);
  const rulesFor = (found: readonly InboxEntry[]) =>
    decide(
      call,
      {
        now: alone.now,
        // Which session is the project's, only the daemon knows: without it every reader of the file takes what is there.
        bound: { id: call.session, pid: undefined },
        boundAlive: true,
        waiting: takes ? unread(alone, found) : [],
        further: 0,
        turnRuns: false,
        degraded: true,
        offered: undefined,
        continuations: 0,
        stop: stops[0],
        canHalt: io.canHalt !== false,
        sprint: undefined,
        sprintText: undefined,
        // Only the daemon can wait for the phone.
        hold: { policy: 'never', away: false, fromPhone: false, nobody: false, interactive: false },
        answeredAt: 0,
      },
      nonce,
    );
  const decision = await takeHanded(alone, rulesFor(entries), rulesFor);
  if (!decision) return {};
  if (call.event.type === 'turnEnd') await tellAnswer(alone, call.event, entries);
  if (call.event.type === 'turnEnd' || decision.effects.some(({ type }) => type === 'stopSpent')) {
    if (stops.length > 0) await spendStops(alone);
  }
  const { answer } = decision;
  if (call.event.type === 'gate' && answer.deny === undefined && answer.halt === undefined) {
    return answerGate(world, gate);
  }
  return io.writeAnswer(event, answer);
}

function parseJson(stdin: Buffer): unknown {
  try {
    return JSON.parse(stdin.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Oldest first. */
function unread({ signer, now }: Alone, entries: readonly InboxEntry[]): WaitingMessage[] {
  const waiting: WaitingMessage[] = [];
  for (const entry of entries) {
    if (entry.read || entry.parked || entry.control) continue;
    const at = Date.parse(entry.timestamp) || 0;
    const fromOwner = signer.isSigned(entry, 'inbox');
    const { expiresAt = fromOwner ? at + messageTtlMs : undefined } = entry;
    if (typeof expiresAt === 'number' && expiresAt <= now) continue;
    // Somebody has it, whatever another program made of the mark: only the daemon gives a message of the owner again.
    if (fromOwner && entry.via !== undefined) continue;
    const later = entry.later === true ? ({ later: true } as const) : {};
    waiting.push({ entry, at, fromOwner, ...later });
  }
  return waiting.sort((a, b) => a.at - b.at);
}

/** Decides once more under the lock of the file: another hook may take the same messages in this moment. Undefined = nothing may be given. */
async function takeHanded(
  alone: Alone,
  first: Decision,
  rulesFor: (entries: readonly InboxEntry[]) => Decision,
): Promise<Decision | undefined> {
  if (handedBy(first).size === 0) return first;
  const via = { ...noteNow(alone), ...(alone.call.event.type === 'turnStart' ? { starts: true } : {}) };
  let decision = first;
  const isWritten = await update<InboxEntry>(alone.place.inbox, 'inbox', (entries) => {
    decision = rulesFor(entries);
    const handed = handedBy(decision);
    return entries.map((entry) => (handed.has(identityOf(entry)) ? { ...entry, read: true, via } : entry));
  });
  return isWritten ? decision : undefined;
}

/** Identities of what the agent gets. */
function handedBy({ effects }: Decision): ReadonlySet<string> {
  const messages = effects.flatMap((effect) => (effect.type === 'hand' ? effect.messages : []));
  return new Set(messages.map(({ entry }) => identityOf(entry)));
}

/** The turn is over, so every STOP that stands in the file by now has had its effect. */
async function spendStops(alone: Alone): Promise<void> {
  const via = noteNow(alone);
  await update<InboxEntry>(alone.place.inbox, 'inbox', (entries) =>
    entries.map((entry) => (stopOf(entry) ? { ...entry, read: true, via } : entry)),
  );
}
