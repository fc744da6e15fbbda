// A hook's work when there is no daemon: the same rules on the files alone. Injects, writes the status update, and leaves
// in the spool what it did; expansion and everything else of the journal stay with the daemon.

import { statSync } from 'node:fs';
import { loadConfig } from '../agent/config.ts';
import { randomHex } from '../agent/crypto.ts';
import type { SessionRecord } from '../agent/drivers/driver.ts';
import { driverOf, isGate } from '../agent/drivers/registry.ts';
import { appendUnsent } from '../agent/files/append.ts';
import { ensureMailbox } from '../agent/files/location.ts';
import { readMailbox } from '../agent/files/read.ts';
import { readFrom } from '../agent/files/tail.ts';
import { updateMailboxFile } from '../agent/files/update.ts';
import { summarize } from '../agent/format/summary.ts';
import type { PathsInput } from '../agent/paths.ts';
import { isAlive } from '../agent/process.ts';
import { decide } from '../agent/turns/rules.ts';
import { toldWithinMs } from '../agent/turns/spooled.ts';
import { stopOf } from '../agent/turns/stop.ts';
import type { StopView, TurnPlace, WaitingMessage } from '../agent/turns/view.ts';
import { type InboxEntry, identityOf, isoSeconds, type OutboxEntry } from '../protocol/files.ts';
import { hookLimits } from '../protocol/limits.ts';
import type { HookCall } from '../protocol/turn-events.ts';
import { type Alone, lookAround, spool, update } from './alone.ts';
import { answerGate, lastAnswer } from './gate.ts';
import { answerWith } from './hand-over.ts';

/** Every hook reads the spool, so what also stands in the file is kept there only while there are few. */
const spooledRecords = 50;

export interface FallbackCall {
  tool: string;
  event: string;
  stdin: Buffer;
  /** The coding agent's process. */
  pid: number;
}

/** The tool's own answer; `{}` whenever something is missing. */
export async function actOnFiles(world: PathsInput, { tool, event, stdin, pid }: FallbackCall): Promise<object> {
  const io = driverOf(tool);
  const call = io?.readCall(event, parseJson(stdin));
  if (!call && isGate(tool, event)) return JSON.parse(lastAnswer(world, tool, event)) as object;
  if (!io || !call || call.event.type === 'other') return {};
  const config = loadConfig(world);
  const alone = await lookAround(config, call, tool);
  if (!alone) return {};
  const gate = { tool, event, key: alone.key, config: config.dirs.config };
  if (!alone.place) return call.event.type === 'gate' ? answerGate(world, gate) : {};
  if (isHeldAgain(alone, call)) return {};
  // An inbox that cannot be read holds nothing for us; what else the event asks for goes on, above all the answer of a turn.
  const unreadable = () => ({ waiting: [], stops: [] });
  const { waiting, stops } = looksAtInbox.has(call.event.type) ? await unread(alone).catch(unreadable) : unreadable();
  const turn = currentTurn(alone, tool, call);
  const { view } = alone;
  const viewed = view?.bound;
  // As in the daemon: /clear and resume give the same process a new session id, and the binding moves with the process.
  const bound = viewed?.pid === pid ? { id: call.session, pid } : viewed;
  const rulesFor = (messages: readonly WaitingMessage[]) =>
    decide(
      call,
      {
        now: alone.now,
        bound,
        boundAlive: bound?.pid !== undefined && isAlive(bound.pid),
        waiting: messages,
        further: 0,
        carried: turn.ids,
        turnRuns: false,
        degraded: true,
        offered: view?.offered,
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
  const decision = rulesFor(waiting);
  for (const effect of decision.effects) {
    if (effect.type === 'turnEnded') await endTurn(alone, turn, effect.answer);
    if (effect.type === 'stopSpent') await spendStops(alone, stops);
  }
  if (call.event.type === 'turnEnd' && decision.effects.length > 0) await spendStops(alone, stops);
  const answer = await answerWith(alone, call, decision, waiting, rulesFor);
  if (!answer) return {};
  if (call.event.type === 'gate' && answer.deny === undefined && answer.halt === undefined) {
    return answerGate(world, gate);
  }
  return io.writeAnswer(event, answer);
}

const looksAtInbox: ReadonlySet<string> = new Set(['turnStart', 'toolEnd', 'gate', 'turnEnd']);

/** The daemon died while it held the end of this turn, which it had told to the phone before. */
function isHeldAgain({ view }: Alone, call: HookCall): boolean {
  if (call.event.type !== 'turnEnd' || view?.held?.session !== call.session || !call.transcript) return false;
  try {
    return statSync(call.transcript).size <= view.held.offset;
  } catch {
    return false;
  }
}

function parseJson(stdin: Buffer): unknown {
  try {
    return JSON.parse(stdin.toString('utf8'));
  } catch {
    return undefined;
  }
}

async function unread({ place, view, spooled, now }: Alone): Promise<{ waiting: WaitingMessage[]; stops: StopView[] }> {
  const entries = await readEntries(place.inbox);
  const owner = new Set(view?.owner ?? []);
  const handed = new Set(view?.handed ?? []);
  for (const record of spooled) if (record.kind === 'handed') for (const each of record.identities) handed.add(each);
  const waiting: WaitingMessage[] = [];
  const spent = spooled.flatMap((record) => (record.kind === 'stopped' ? record.entries : []));
  const stops = entries.flatMap((entry) =>
    spent.includes(entry.id) ? [] : (stopOf(entry, owner.has(identityOf(entry))) ?? []),
  );
  for (const entry of entries) {
    const identity = identityOf(entry);
    if (entry.read || entry.parked || entry.control || handed.has(identity)) continue;
    if (typeof entry.expiresAt === 'number' && entry.expiresAt <= now) continue;
    waiting.push({ entry, at: Date.parse(entry.timestamp) || 0, fromOwner: owner.has(identity) });
  }
  return { waiting: waiting.sort((a, b) => a.at - b.at), stops };
}

/** In the file for other programs, in the spool for the daemon. */
async function spendStops(alone: Alone, stops: readonly StopView[]): Promise<void> {
  if (stops.length === 0) return;
  const ids = stops.map(({ id }) => id);
  await Promise.all([
    spool(alone, { kind: 'stopped', project: alone.key, at: alone.now, entries: ids }),
    update<InboxEntry>(alone.place.inbox, 'inbox', (entries) =>
      entries.map((entry) => (ids.includes(entry.id) && stopOf(entry) ? { ...entry, read: true } : entry)),
    ),
  ]);
}

/** With ids that stand in the file: an entry of another program may lack them. */
async function readEntries(path: string): Promise<readonly InboxEntry[]> {
  const { entries, incomplete } = await readMailbox<InboxEntry>(path, 'inbox');
  if (!incomplete) return entries;
  const options = { path, kind: 'inbox', now: Date.now, lockTimeoutMs: hookLimits.fileLockMs } as const;
  return (await updateMailboxFile<InboxEntry>(options, (each) => each)).entries;
}

interface Turn {
  ids: string[];
  place: TurnPlace;
}

/** What this session's turn carries: what a fallback handed over, else what the daemon did before it went away. */
function currentTurn({ spooled, view }: Alone, tool: string, call: HookCall): Turn {
  const turns = spooled.filter((record) => record.kind === 'handed' || record.kind === 'settled');
  const last = turns.at(-1);
  if (last?.kind === 'handed' && last.session === call.session) {
    // What came with a tool's result belongs to the turn that was given something before.
    const since = turns.slice(turns.findLastIndex(({ kind }) => kind === 'settled') + 1);
    const handed = since.flatMap((record) =>
      record.kind === 'handed' && record.session === call.session ? record : [],
    );
    const { transcript, offset } = handed[0] ?? last;
    return { ids: handed.flatMap(({ ids }) => ids), place: { tool, transcript: transcript ?? undefined, offset } };
  }
  const nothing = { tool, transcript: call.transcript, offset: 0 };
  const runs = view?.turnRuns || view?.offered !== undefined;
  if (last?.kind === 'settled' || !runs || view?.bound?.id !== call.session) return { ids: [], place: nothing };
  return { ids: [...view.carried], place: view.place ?? nothing };
}

async function endTurn(alone: Alone, turn: Turn, hostAnswer: string | undefined): Promise<void> {
  const record = await turnRecord(turn.place);
  const proved = turn.ids.filter((id) => record?.prompts.some((text) => text.includes(id)));
  const failed = hostAnswer === undefined && (record?.answer === undefined || record.error !== undefined);
  if (turn.ids.length > 0) {
    const unproved = turn.ids.filter((id) => !proved.includes(id));
    await spool(alone, { kind: 'settled', project: alone.key, at: alone.now, proved, unproved, failed });
  }
  if (failed && record?.cancelled && turn.ids.length === 0) return;
  const full = failed ? (record?.error ?? 'The turn ended without an answer.') : (record?.answer ?? hostAnswer ?? '');
  const text = `${failed ? 'Failed: ' : ''}${summarize(full, alone.config.summaryMaxChars)}`;
  const id = `resp_${alone.now.toString(36)}_${randomHex(4)}`;
  const entry: OutboxEntry = { id, timestamp: isoSeconds(alone.now), from: 'agent', text, sent: false };
  if (await isTold(alone, text)) return;
  const answer = { id, timestamp: entry.timestamp, text };
  const keep = () => spool(alone, { kind: 'answer', project: alone.key, at: alone.now, answer });
  // Another program may rewrite the file without having seen the entry; the daemon knows by its identity that it is the same.
  const isKept = alone.spooled.length < spooledRecords && (await keep()) !== undefined;
  await ensureMailbox(alone.place, alone.projectDir).catch(() => {});
  const options = { path: alone.place.outbox, now: Date.now, lockTimeoutMs: hookLimits.fileLockMs };
  const isWritten = await appendUnsent(options, entry).catch(() => false);
  if (!isKept && !isWritten) await keep();
}

/** A daemon that was killed between its report and its answer to the hook has told this already. */
async function isTold({ place, now }: Alone, text: string): Promise<boolean> {
  const { entries } = await readMailbox<OutboxEntry>(place.outbox, 'outbox').catch(() => ({ entries: [] }));
  const isOurs = (entry: OutboxEntry) => entry.id.startsWith('resp_') && entry.text === text;
  return entries.some((entry) => isOurs(entry) && now - Date.parse(entry.timestamp) < toldWithinMs);
}

async function turnRecord({ tool, transcript, offset }: TurnPlace): Promise<SessionRecord | undefined> {
  if (!transcript) return undefined;
  const text = await readFrom(transcript, offset).catch(() => undefined);
  return text === undefined ? undefined : driverOf(tool)?.readSession(text);
}
