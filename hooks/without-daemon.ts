// A hook's work when there is no daemon: another program under the open contract of the two files, with the same rules as the
// daemon's. Leaves notes in the entries, from which the next daemon settles; expansion and proof stay with the daemon.

import { loadConfig } from '../agent/config.ts';
import { randomHex } from '../agent/crypto.ts';
import { driverOf, isGate } from '../agent/drivers/registry.ts';
import { readMailbox } from '../agent/mailbox/read.ts';
import { updateMailboxFile } from '../agent/mailbox/update.ts';
import type { PathsInput } from '../agent/paths.ts';
import { decide } from '../agent/turns/rules.ts';
import { stopOf } from '../agent/turns/stop.ts';
import type { StopView, WaitingMessage } from '../agent/turns/view.ts';
import type { InboxEntry } from '../protocol/files.ts';
import { hookLimits } from '../protocol/limits.ts';
import { type Alone, lookAround, noteNow, update } from './alone.ts';
import { tellAnswer } from './answer.ts';
import { answerGate, lastAnswer } from './gate.ts';
import { answerWith } from './hand-over.ts';

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
  const entries = await readEntries(alone.place.inbox).catch(() => []);
  const stops = entries.flatMap((entry) => stopOf(entry, alone.signer.isSigned(entry, 'inbox')) ?? []);
  const rulesFor = (messages: readonly WaitingMessage[]) =>
    decide(
      call,
      {
        now: alone.now,
        // Which session is the project's, only the daemon knows: without it every reader of the file takes what is there.
        bound: { id: call.session, pid: undefined },
        boundAlive: true,
        waiting: messages,
        further: 0,
        turnRuns: false,
        degraded: true,
        offered: undefined,
        continuations: 0,
        stop: stops[0],
        sprint: undefined,
        sprintText: undefined,
        // Only the daemon can wait for the phone.
        hold: { policy: 'never', away: false, fromPhone: false, interactive: false },
        answeredAt: 0,
      },
      randomHex(4),
    );
  const waiting = call.event.type === 'turnStart' || call.event.type === 'toolEnd' ? unread(alone, entries) : [];
  const decision = rulesFor(waiting);
  if (call.event.type === 'turnEnd') await tellAnswer(alone, call.event, entries);
  if (call.event.type === 'turnEnd' || decision.effects.some(({ type }) => type === 'stopSpent')) {
    await spendStops(alone, stops);
  }
  const answer = await answerWith(alone, decision, waiting, rulesFor);
  if (!answer) return {};
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
    if (typeof entry.expiresAt === 'number' && entry.expiresAt <= now) continue;
    const fromOwner = signer.isSigned(entry, 'inbox');
    // Somebody has it, whatever another program made of the mark: only the daemon gives a message of the owner again.
    if (fromOwner && entry.via !== undefined) continue;
    waiting.push({ entry, at: Date.parse(entry.timestamp) || 0, fromOwner });
  }
  return waiting.sort((a, b) => a.at - b.at);
}

async function spendStops(alone: Alone, stops: readonly StopView[]): Promise<void> {
  if (stops.length === 0) return;
  const ids = stops.map(({ id }) => id);
  const via = noteNow(alone);
  await update<InboxEntry>(alone.place.inbox, 'inbox', (entries) =>
    entries.map((entry) => (ids.includes(entry.id) && stopOf(entry) ? { ...entry, read: true, via } : entry)),
  );
}

/** With ids that stand in the file: an entry of another program may lack them. */
async function readEntries(path: string): Promise<readonly InboxEntry[]> {
  const { entries, incomplete } = await readMailbox<InboxEntry>(path, 'inbox');
  if (!incomplete) return entries;
  const options = { path, kind: 'inbox', now: Date.now, lockTimeoutMs: hookLimits.fileLockMs } as const;
  return (await updateMailboxFile<InboxEntry>(options, (each) => each)).entries;
}
