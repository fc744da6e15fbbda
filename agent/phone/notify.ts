// What a project says to the phone of its own accord: how a turn ended, and notes about itself.

import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { isoSeconds, type OutboxEntry } from '../../protocol/files.ts';
import type { OutboxItem } from '../../protocol/relay-api.ts';
import { summarize } from '../format/summary.ts';
import type { Log } from '../log.ts';
import { keepAnswer } from '../relay/full-answers.ts';
import type { OutboxSync } from '../relay/outbox.ts';
import type { Redact } from '../relay/render.ts';
import type { TurnReport } from '../session/types.ts';

export interface NotifierOptions {
  /** `projectKey()` */
  key: string;
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

export function createNotifier({ key, outbox, redact, clock, log, ...options }: NotifierOptions) {
  function note(prefix: string, about: string, text: string, replyTo?: string): Promise<void> {
    const hash = createHash('sha256').update(about).digest('hex').slice(0, 40);
    const item: OutboxItem = { key: `${prefix}_${hash}`, class: 'answer', parts: [{ text, entities: [] }] };
    return outbox.send(replyTo === undefined ? item : { ...item, replyTo });
  }

  const lastAside = new Map<string, { at: number; untold: number }>();

  return {
    /** Resolves when the update stands in the journal, or in memory while that cannot be written. Errors: see `TurnsOptions`. */
    async report({ id, turn, receipts, via, text, failed, replyTo, lead }: TurnReport): Promise<void> {
      const short = summarize(text, options.summaryMaxChars);
      const summary = failed ? `Failed: ${short}` : lead === undefined ? short : `${lead}\n${short}`;
      if (short !== text) {
        await keepAnswer(options.answersDir, id, text).catch((cause) =>
          log('warn', 'full answer not kept', { error: (cause as Error).message }),
        );
      }
      const entry: OutboxEntry = { id, timestamp: isoSeconds(clock()), from: 'agent', text: summary, sent: false, via };
      await outbox.report(entry, { replyTo, turn, receipts });
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
      const since = last?.untold ? ` Since the last note it did so ${last.untold} more times.` : '';
      const text = `Another program left a malformed ${file}. It lies aside as ${name}; ${salvaged} of its entries were recovered, and no message of yours is lost.${since}`;
      note('aside', path, text).catch((cause) => log('warn', 'phone not told', { error: (cause as Error).message }));
    },
  };
}
