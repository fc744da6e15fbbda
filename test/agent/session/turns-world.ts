// The turn rules over a real journal with one message in it, and what a test may break or watch of their surroundings.
// Holds no expectations.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { type Journal, openJournal } from '../../../agent/journal/journal.ts';
import { toEntry } from '../../../agent/mailbox/inbox-entries.ts';
import { createTurns } from '../../../agent/session/turns.ts';
import type { TurnReport, Turns } from '../../../agent/session/types.ts';
import type { StopView } from '../../../agent/turns/view.ts';
import type { TurnEvent } from '../../../protocol/turn-events.ts';

export const p = '1000001.0';
/** Of the message. */
export const id = 'msg_e_0_1';
export const now = 1_790_000_000_000;

/** Of a session file. */
export const line = (type: string, content: unknown) =>
  `${JSON.stringify({ id: `${type} ${JSON.stringify(content)}`, type, content })}\n`;

interface World {
  root: string;
  journal: Journal;
  turns: Turns;
  time: number;
  diskIsFull: boolean;
  fileIsFull: boolean;
  onCatchUp: () => Promise<void>;
  beforeAppend: (() => Promise<void>) | undefined;
  isPolled: boolean;
  isTerminal: boolean;
  canWake: boolean;
  keyAt: number | undefined;
  nudge: (pid: number) => Promise<boolean>;
  /** Of another program, in the inbox file. */
  foreignStop: StopView | undefined;
}

const untouched = {
  time: now,
  diskIsFull: false,
  fileIsFull: false,
  onCatchUp: async () => {},
  beforeAppend: undefined,
  isPolled: false,
  isTerminal: false,
  canWake: false,
  keyAt: undefined,
  nudge: async () => false,
  foreignStop: undefined,
} satisfies Omit<World, 'root' | 'journal' | 'turns'>;

/** A world of its own for each test. */
export function eachTurns() {
  const world = {} as World;
  const reports: TurnReport[] = [];
  /** Kinds of records, by append. */
  const appends: string[][] = [];
  const told: string[] = [];

  beforeEach(async () => {
    const root = await mkdtemp(join(tmpdir(), 'wa-turns-'));
    const journal = await openJournal(join(root, 'journal.jsonl'), () => now);
    Object.assign(world, untouched, { root, journal });
    for (const list of [reports, appends, told]) list.length = 0;
    restart();
    const row = { seq: 1, id, at: now, kind: 'message', text: 'go', expiresAt: now + 1e9 } as const;
    await journal.append([{ t: 'row', p, at: now, row }]);
  });
  afterEach(async () => {
    await world.journal.close();
    await rm(world.root, { recursive: true });
  });

  /** As a daemon that starts with this journal. */
  function restart(): void {
    const { journal } = world;
    const project = journal.project(p);
    world.turns = createTurns({
      project,
      journal: {
        ...journal,
        append: async (records) => {
          if (world.diskIsFull) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
          if (records.some(({ t }) => t === 'handed')) await world.beforeAppend?.();
          appends.push(records.map(({ t }) => t));
          await journal.append(records);
        },
      },
      inbox: {
        waiting: async () => ({
          messages: [...project.waiting.values()]
            .filter(({ parked }) => parked !== 'parked')
            .map((message) => ({ entry: toEntry(message), at: message.row.at, fromOwner: true })),
          further: 0,
        }),
        take: async (_messages, _note, record) => {
          if (!world.fileIsFull) await record();
          return !world.fileIsFull;
        },
        claim: async () => [],
        catchUp: () => world.onCatchUp(),
        refresh: async () => {},
        hasNews: () => project.waiting.size > 0,
        foreignStop: () => world.foreignStop,
        settleForeignStops: async () => {},
      },
      // As the outbox does.
      report: async (report) => {
        reports.push(report);
        const { receipts, turn } = report;
        if (world.diskIsFull && receipts.length > 0) throw new Error('no space left on device');
        if (world.diskIsFull) return;
        appends.push(['report', ...receipts.map((each) => each.t)]);
        await journal.append([...receipts, { t: 'turn', p, at: now, turn }]);
      },
      onReceipts: () => {},
      activity: { started: () => {}, running: () => {}, said: () => {}, tool: () => {}, ended: () => {} },
      tell: async (_, text, replyTo) => {
        told.push(replyTo === undefined ? text : `to ${replyTo}: ${text}`);
      },
      compressions: async () => [],
      scanOutbox: async () => true,
      onDialog: () => {},
      isAlive: () => true,
      isInteractive: async () => world.isTerminal,
      lastKeyAt: async () => world.keyAt,
      canWake: async () => world.canWake,
      nudge: (pid) => world.nudge(pid),
      awayAfterMs: 120_000,
      follow: 'always',
      tellWithheld: async () => {},
      routes: () => [
        { name: 'lease', wakes: false, gatherMs: 0, isOpen: () => world.isPolled, deliver: async () => 'nobody' },
      ],
      holdPolicy: 'auto',
      sprintText: undefined,
      clock: () => world.time,
      log: () => {},
    });
  }

  return {
    world,
    reports,
    appends,
    told,
    restart,
    happens: (event: TurnEvent, transcript?: string) =>
      world.turns.handle(
        { agent: 'gemini', event, session: 's', cwd: world.root, transcript },
        { tool: 'gemini', pid: 42, maxMs: 60_000, isGone: () => false },
      ),
    message: () => world.journal.project(p).messages.get(id),
    texts: () => reports.map(({ text }) => text),
  };
}
