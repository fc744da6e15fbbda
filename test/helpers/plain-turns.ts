// The turn rules over a real journal, with an inbox and a phone that only keep what they are given. Holds no expectations.

import type { Journal } from '../../agent/journal/journal.ts';
import { toEntry } from '../../agent/mailbox/inbox-entries.ts';
import { createTurns } from '../../agent/session/turns.ts';
import type { Turns, TurnsOptions } from '../../agent/session/types.ts';

export interface PlainTurns {
  journal: Journal;
  /** The key of the project. */
  p: string;
  clock: () => number;
  /** Gets each status update. */
  reports: { text: string; failed: boolean }[];
  /** Gets the id of each status update. */
  ids?: string[];
  /** Gets each note for the phone. */
  told: string[];
  more?: Partial<TurnsOptions>;
}

/** Each call is a daemon that starts with this journal. */
export function plainTurns({ journal, p, clock, reports, ids, told, more = {} }: PlainTurns): Turns {
  const project = journal.project(p);
  return createTurns({
    project,
    journal,
    inbox: {
      waiting: async () => ({
        messages: [...project.waiting.values()].map((message) => ({
          entry: toEntry(message),
          at: message.row.at,
          fromOwner: true,
        })),
        further: 0,
      }),
      take: async (_messages, _note, record) => record().then(() => true),
      claim: async () => [],
      catchUp: async () => {},
      refresh: async () => {},
      hasNews: () => project.waiting.size > 0,
      foreignStop: () => undefined,
      settleForeignStops: async () => {},
    },
    answerInFile: async () => undefined,
    report: async ({ id, text, failed, receipts, turn }) => {
      ids?.push(id);
      reports.push({ text, failed });
      await journal.append([...receipts, { t: 'turn', p, at: clock(), turn }]);
    },
    onReceipts: () => {},
    activity: { started: () => {}, running: () => {}, said: () => {}, tool: () => {}, ended: () => {} },
    tell: async (_, text) => void told.push(text),
    compressions: async () => [],
    scanOutbox: async () => true,
    onDialog: () => {},
    isAlive: () => false,
    isInteractive: async () => true,
    lastKeyAt: async () => undefined,
    canWake: async () => true,
    nudge: async () => true,
    awayAfterMs: 0,
    follow: 'auto',
    tellWithheld: async () => {},
    routes: () => [],
    holdPolicy: 'never',
    sprintText: undefined,
    clock,
    log: () => {},
    ...more,
  });
}
