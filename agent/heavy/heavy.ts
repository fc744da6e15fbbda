// Where the daemon renders, redacts and judges: small inputs at once, large ones in a worker thread with a deadline. What comes to
// no end there goes out as plain text, or is asked and denied as if nothing were known of it.

import type { TextMode } from '../../protocol/polling.ts';
import { jsonOf } from '../approvals/danger/call.ts';
import { type JudgeOptions, unjudged } from '../approvals/policy/judge-now.ts';
import { hideBy, type Shows, showHere } from '../approvals/question/question.ts';
import type { RedactionOptions, Redactor } from '../format/redact.ts';
import type { Log } from '../log.ts';
import { type Typesetter, typesetHere } from '../relay/render.ts';
import type { Job, JobResult } from './jobs.ts';
import { createThread, type Thread } from './thread.ts';

export interface HeavyOptions {
  redaction: RedactionOptions;
  redactor: Redactor;
  /** A gate waits for its verdict; a text can wait longer. */
  deadlinesMs?: { judge: number; typeset: number } | undefined;
  log: Log;
}

export interface Heavy {
  /** For a phone whose messages hold so many UTF-16 units. */
  typesetterFor(maxText: () => number): Typesetter;
  readonly judgeLarge: NonNullable<JudgeOptions['judgeLarge']>;
  readonly shows: Shows;
  /** How many threads there are. */
  threads(): number;
  close(): Promise<void>;
}

/** Up to this much is done at once: in a few milliseconds, and most texts and calls are smaller. */
export const inlineChars = 8_192;

const usualDeadlinesMs = { judge: 5_000, typeset: 10_000 };

export function createHeavy({ redaction, redactor, deadlinesMs = usualDeadlinesMs, log }: HeavyOptions): Heavy {
  const threadFor = (what: string, deadlineMs: number) =>
    createThread({
      data: { redaction },
      deadlineMs,
      onFailed: (why) => log('warn', 'large input not done', { what, why }),
    });
  // Two of them, so that no text holds up a gate.
  const judging = threadFor('judge', deadlinesMs.judge);
  const typesetting = threadFor('render', deadlinesMs.typeset);
  const hereFor = (maxText: number) => typesetHere((text) => redactor(text).text, maxText);
  const shownHere = showHere(hideBy(redactor));

  async function clean(text: string): Promise<string> {
    if (text.length <= inlineChars) return redactor(text).text;
    const done = await run(typesetting, { kind: 'redacted', text });
    return done?.kind === 'redacted' ? done.text : notChecked(text);
  }

  return {
    typesetterFor: (maxTextNow) => ({
      clean,
      async parts(text: string, mode: TextMode) {
        const maxText = maxTextNow();
        const here = hereFor(maxText);
        if (text.length <= inlineChars) return here.parts(text, mode);
        for (const as of mode === 'Plain' ? [mode] : [mode, 'Plain' as const]) {
          const done = await run(typesetting, { kind: 'parts', text, mode: as, maxText });
          if (done?.kind === 'parts') return done.parts;
        }
        return here.parts(notChecked(text), 'Plain');
      },
    }),
    judgeLarge(task) {
      if (charsIn(task.call.input) <= inlineChars) return undefined;
      return run(judging, { kind: 'judged', task }).then((done) =>
        done?.kind === 'judged' ? done.judged : { judgement: unjudged(task), places: new Map() },
      );
    },
    shows: {
      async question(question) {
        const { call, why, fileNow = '' } = question;
        if (charsIn(call.input) + why.join().length + fileNow.length <= inlineChars)
          return shownHere.question(question);
        const done = await run(judging, { kind: 'shown', question });
        return done?.kind === 'shown' ? done.shown : undefined;
      },
      async hide(text) {
        if (text.length <= inlineChars) return shownHere.hide(text);
        const done = await run(judging, { kind: 'hidden', text });
        return done?.kind === 'hidden'
          ? done.hidden
          : { text: `(${text.length} characters, not checked for secrets in time)`, places: 1 };
      },
    },
    threads: () => [judging, typesetting].filter((thread) => thread.isRunning()).length,
    async close() {
      await Promise.all([judging.close(), typesetting.close()]);
    },
  };
}

function run(thread: Thread, job: Job): Promise<JobResult | undefined> {
  return thread.run(job) as Promise<JobResult | undefined>;
}

/** What cannot be looked through for secrets does not leave. */
function notChecked(text: string): string {
  return `(A text of ${text.length} characters could not be checked for secrets in time, so it was not sent; it stands where it was written. The patterns under "redact" in config.json may be slow.)`;
}

/** What nests too deep to be written down is as large as anything. */
function charsIn(input: object): number {
  return jsonOf(input)?.length ?? Number.POSITIVE_INFINITY;
}
