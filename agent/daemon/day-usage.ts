// Turns and tokens of each session today, in the workstation's time: counted at the ends of turns, kept in one small file so that a
// restart goes on counting. A hint for people: a turn is never refused or delayed by it.

import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type SessionUsage, standingLimits } from '../../protocol/standing.ts';
import type { HookCall } from '../../protocol/turn-events.ts';
import { createCoalesced } from '../coalesce.ts';
import { driverOf } from '../drivers/registry.ts';
import { sizeOf } from '../drivers/session-file.ts';
import { replaceFile } from '../fs/atomic.ts';
import { readRaw } from '../fs/raw-file.ts';
import { eachLine } from '../fs/tail.ts';
import type { Log } from '../log.ts';
import { createQueue } from '../queue.ts';

export interface DayUsage {
  /** Every hook call of the project. Never rejects and never waits. */
  note(call: HookCall): void;
  /** Today's, the one that ended a turn last first. */
  sessions(): SessionUsage[];
  stop(): Promise<void>;
}

interface Counted {
  session: string;
  agent: string;
  turns: number;
  tokens: number | null;
  context: number | null;
  /** Up to where its session file is counted, in bytes. */
  offset: number;
}

interface Stored {
  format: 1;
  /** `2026-11-22`, local. */
  day: string;
  sessions: Counted[];
}

/** A host may write a message again with its tokens: the last line counts. Of that many messages it is known. */
const knownMessages = 100;

export async function createDayUsage(path: string, { clock, log }: { clock(): number; log: Log }): Promise<DayUsage> {
  let { day, sessions } = await readStored(path);
  const totals = new Map<string, number>();
  const enqueue = createQueue();
  const save = createCoalesced(async () => {
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await replaceFile(path, JSON.stringify({ format: 1, day, sessions } satisfies Stored));
    } catch (cause) {
      log('warn', 'usage not kept', { error: (cause as Error).message });
    }
  });

  /** Counts begin anew with the day; up to where the files are counted stays. */
  function turnDay(): void {
    const today = localDay(clock());
    if (today === day) return;
    day = today;
    sessions = sessions.map((each) => ({ ...each, turns: 0, tokens: null, context: null }));
  }

  async function begin({ agent, session, transcript }: HookCall): Promise<Counted> {
    const known = sessions.find((each) => each.session === session);
    if (known) return known;
    const offset = await sizeOf(transcript);
    const fresh = { session, agent, turns: 0, tokens: null, context: null, offset };
    sessions = [fresh, ...sessions].slice(0, standingLimits.sessions);
    return fresh;
  }

  async function count(counted: Counted, { agent, transcript }: HookCall): Promise<void> {
    if (transcript === undefined) return;
    counted.offset = await eachLine(transcript, { from: counted.offset }, (line) => {
      const record = driverOf(agent)?.readSession(line);
      counted.context = record?.contextShare ?? counted.context;
      for (const [id, total] of record?.tokens ?? []) {
        counted.tokens = (counted.tokens ?? 0) + total - (totals.get(id) ?? 0);
        totals.delete(id);
        totals.set(id, total);
      }
    });
    for (const id of [...totals.keys()].slice(0, -knownMessages)) totals.delete(id);
  }

  async function take(call: HookCall): Promise<void> {
    turnDay();
    const counted = await begin(call);
    if (call.event.type !== 'turnEnd') return;
    counted.turns += 1;
    const { tokens } = call.event;
    if (tokens !== undefined && call.transcript === undefined) counted.tokens = (counted.tokens ?? 0) + tokens;
    sessions = [counted, ...sessions.filter((each) => each !== counted)];
    try {
      await count(counted, call);
    } finally {
      await save();
    }
  }

  return {
    note(call) {
      const { type } = call.event;
      if (type !== 'sessionStart' && type !== 'turnStart' && type !== 'turnEnd') return;
      enqueue(() => take(call)).catch((cause) =>
        log('warn', 'usage not counted', { session: call.session, error: (cause as Error).message }),
      );
    },
    sessions() {
      turnDay();
      return sessions
        .filter(({ turns }) => turns > 0)
        .map(({ session, agent, turns, tokens, context }) => ({
          session,
          agent,
          turns,
          ...(tokens === null ? {} : { tokens: Math.max(0, tokens) }),
          ...(context === null ? {} : { context: Math.min(1, Math.max(0, context)) }),
        }));
    },
    stop: () => enqueue(async () => {}),
  };
}

/** What cannot be read counts nothing. */
async function readStored(path: string): Promise<Pick<Stored, 'day' | 'sessions'>> {
  const none = { day: '', sessions: [] };
  try {
    const stored = JSON.parse((await readRaw(path))?.bytes.toString('utf8') ?? '') as Stored;
    if (stored.format !== 1 || !Array.isArray(stored.sessions)) return none;
    return { day: String(stored.day), sessions: stored.sessions.slice(0, standingLimits.sessions).filter(isCounted) };
  } catch {
    return none;
  }
}

function isCounted({ session, agent, turns, offset, tokens, context }: Counted): boolean {
  const isNumber = (value: unknown) => value === null || Number.isFinite(value);
  const isText = typeof session === 'string' && typeof agent === 'string';
  return isText && Number.isFinite(turns) && Number.isFinite(offset) && isNumber(tokens) && isNumber(context);
}

function localDay(atMs: number): string {
  const at = new Date(atMs);
  return `${at.getFullYear()}-${at.getMonth() + 1}-${at.getDate()}`;
}
