// What a project says to the phone of its own accord: how a turn ended, and notes about itself.

import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { isoSeconds, type OutboxEntry } from '../../protocol/files.ts';
import { summarize } from '../format/summary.ts';
import type { Journal } from '../journal/journal.ts';
import { type ProjectState, phoneTexts } from '../journal/state.ts';
import type { Log } from '../log.ts';
import { textItem } from '../plain-text.ts';
import { keepAnswer } from '../relay/full-answers.ts';
import type { OutboxSync } from '../relay/outbox.ts';
import type { Redact } from '../relay/render.ts';
import type { TurnReport } from '../session/types.ts';

export interface NotifierOptions {
  project: ProjectState;
  journal: Pick<Journal, 'append'>;
  outbox: Pick<OutboxSync, 'send' | 'report'>;
  /** The folder of full answers. */
  answersDir: string;
  summaryMaxChars: number;
  redact: Redact;
  clock: () => number;
  log: Log;
}

/** A program that goes on writing malformed files must not fill the phone. */
const asideEveryMs = 3_600_000;

/** What the platform takes in one message, less what rendering may add. */
const noteChars = 4_000;

export function createNotifier({ project, journal, outbox, redact, clock, log, ...options }: NotifierOptions) {
  const { key } = project;
  const texts = () => phoneTexts(project);

  function note(prefix: string, about: string, text: string, replyTo?: string): Promise<void> {
    const hash = createHash('sha256').update(about).digest('hex').slice(0, 40);
    const item = textItem(`${prefix}_${hash}`, 'answer', text);
    return outbox.send(replyTo === undefined ? item : { ...item, replyTo });
  }

  const lastAside = new Map<string, { at: number; untold: number }>();

  return {
    /** Resolves when the update stands in the journal, or in memory while that cannot be written. Errors: see `TurnsOptions`. */
    async report(given: TurnReport): Promise<void> {
      const { id, turn, receipts, via, text, failed, replyTo, lead, withheld } = given;
      const short = summarize(text, options.summaryMaxChars);
      const summary = failed ? texts().turns.failed(short) : lead === undefined ? short : `${lead}\n${short}`;
      if (short !== text) {
        await keepAnswer(options.answersDir, id, text).catch((cause) =>
          log('warn', 'full answer not kept', { error: (cause as Error).message }),
        );
      }
      if (withheld) {
        // Told by a hook alone, or before a restart.
        if (project.outbox.has(id)) return journal.append([...receipts, { t: 'turn', p: key, at: clock(), turn }]);
        const last = { id, text: summary, failed, via, at: clock() };
        const before = project.withheld;
        const turns = (before?.turns ?? 0) + (before?.last.id === id ? 0 : 1);
        const record = { t: 'withheld', p: key, at: clock(), withheld: { turns, last } } as const;
        return journal.append([record, { t: 'turn', p: key, at: clock(), turn }, ...receipts]);
      }
      const entry: OutboxEntry = { id, timestamp: isoSeconds(clock()), from: 'agent', text: summary, sent: false, via };
      await outbox.report(entry, { replyTo, turn, receipts });
    },
    /** See `TurnsOptions`. The summary has the id of the last answer: told twice, it is one message. */
    async tellWithheld(): Promise<void> {
      if (!project.withheld) return;
      const { turns, last } = project.withheld;
      const said = texts().turns;
      const lead = turns === 1 ? said.withheldOne : said.withheld(turns);
      const text = `${lead}\n${last.text}`;
      const { id, via } = last;
      const entry: OutboxEntry = { id, timestamp: isoSeconds(clock()), from: 'agent', text, sent: false, via };
      const receipts = [{ t: 'withheld', p: key, at: clock(), withheld: null }] as const;
      await outbox.report(entry, { replyTo: undefined, turn: project.turn ?? { runs: false }, receipts });
    },
    /** A note; the same `about` is told once. `replyTo` = a message's id. */
    tell: (about: string, text: string, replyTo?: string): Promise<void> =>
      note('note', about, redact(text).slice(0, noteChars), replyTo),
    /** A file of the mailbox was malformed and lies aside. Told once in `asideEveryMs` for each file, with the number of times. */
    quarantined({ path, salvaged }: { path: string; salvaged: number }): void {
      const name = basename(path);
      const file = name.replace(/\.corrupt-.*/, '');
      log('error', 'malformed file moved aside', { project: key, name, salvaged });
      const last = lastAside.get(file);
      if (last && clock() - last.at < asideEveryMs) {
        last.untold += 1;
        return;
      }
      lastAside.set(file, { at: clock(), untold: 0 });
      const { notes } = texts();
      const since = last?.untold ? ` ${notes.malformedAgain(last.untold)}` : '';
      const text = notes.malformed(file, name, salvaged) + since;
      note('aside', path, text).catch((cause) => log('warn', 'phone not told', { error: (cause as Error).message }));
    },
  };
}
