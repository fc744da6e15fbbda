// Where the daemon renders, redacts and judges: small inputs at once, large ones in a worker thread with a deadline. A text that is not
// done in time goes out as a notice; a call that is not done in time is asked or denied as if nothing were known of it.

import { textsIn } from '../../protocol/texts.ts';
import { jsonOf } from '../approvals/danger/call.ts';
import { type Judged, type JudgeTask, unjudged } from '../approvals/policy/judge-now.ts';
import type { Shows } from '../approvals/question/question.ts';
import type { RedactionOptions, Redactor } from '../format/redact.ts';
import type { Log } from '../log.ts';
import type { ToolDiff } from '../owned/owned.ts';
import type { Typesetter } from '../relay/render.ts';
import { type Jobs, jobsWith, type TextJob } from './jobs.ts';
import { createThread, type Job, type Result, type Thread } from './thread.ts';

export interface HeavyOptions {
  redaction: RedactionOptions;
  redactor: Redactor;
  /** A gate waits for its verdict; a text can wait longer. */
  deadlinesMs?: { judge: number; typeset: number } | undefined;
  log: Log;
}

export type Heavy = ReturnType<typeof createHeavy>;

/** Up to this much is done at once: in a few milliseconds, and most texts and calls are smaller. */
export const inlineChars = 8_192;

const usualDeadlinesMs = { judge: 5_000, typeset: 10_000 };

export function createHeavy({ redaction, redactor, deadlinesMs = usualDeadlinesMs, log }: HeavyOptions) {
  const threadFor = (what: string, deadlineMs: number) =>
    createThread({
      data: { redaction },
      deadlineMs,
      onFailed: (why) => log('warn', 'large input not done', { what, why }),
    });
  // Two of them, so that no text holds up a gate.
  const judging = threadFor('judge', deadlinesMs.judge);
  const typesetting = threadFor('render', deadlinesMs.typeset);
  const here = jobsWith(redactor);

  /** Undefined = not done in time. */
  function run<K extends keyof Jobs>(thread: Thread, { kind, input }: Job<K>, chars: number) {
    const small = here[kind] as (input: Job<K>['input']) => Promise<Result<K> | undefined>;
    return chars <= inlineChars ? small(input) : thread.run({ kind, input });
  }

  return {
    /** For a phone whose messages hold `maxText` UTF-16 units. */
    typesetterFor: (phone: () => Omit<TextJob, 'text' | 'mode'>): Typesetter => ({
      async parts(text, mode) {
        const on = phone();
        for (const as of mode === 'Plain' ? [mode] : [mode, 'Plain' as const]) {
          const parts = await run(typesetting, { kind: 'parts', input: { text, mode: as, ...on } }, text.length);
          if (parts) return parts;
        }
        return here.parts({ text: notChecked(text, on), mode: 'Plain', ...on });
      },
      async clean(text) {
        return (await run(typesetting, { kind: 'redacted', input: text }, text.length)) ?? notChecked(text, phone());
      },
      texts: () => textsIn(phone().language),
    }),
    async judge(task: JudgeTask): Promise<Judged> {
      return (await run(judging, { kind: 'judged', input: task }, charsIn(task.call.input))) ?? unjudged(task);
    },
    shows: {
      question(question) {
        const { call, why, fileNow = '' } = question;
        const chars = charsIn(call.input) + why.join().length + fileNow.length + charsOf(question.diffs ?? []);
        return run(judging, { kind: 'shown', input: question }, chars);
      },
      async hide(text, { answers } = textsIn('en')) {
        const unchecked = { text: answers.unhidden(text.length), places: 1 };
        return (await run(judging, { kind: 'hidden', input: text }, text.length)) ?? unchecked;
      },
      async diff(diffs, language) {
        const chars = charsOf(diffs);
        return (
          (await run(typesetting, { kind: 'diff', input: { diffs, language } }, chars)) ??
          notChecked({ length: chars }, { language })
        );
      },
    } satisfies Shows,
    /** What runs or waits is done as it is; later jobs see `redaction` as it is then. */
    renew(): void {
      judging.renew();
      typesetting.renew();
    },
    /** How many threads there are. */
    threads: () => [judging, typesetting].filter((thread) => thread.isRunning()).length,
    close: () => Promise.all([judging.close(), typesetting.close()]),
  };
}

/** A text that could not be looked through for secrets does not leave the workstation. */
function notChecked({ length }: { readonly length: number }, { language }: Pick<TextJob, 'language'>): string {
  return textsIn(language).answers.unchecked(length);
}

function charsOf(diffs: readonly ToolDiff[]): number {
  return diffs.reduce((sum, { path, before, after }) => sum + path.length + (before?.length ?? 0) + after.length, 0);
}

/** Arguments that nest too deep to be written down count as larger than any. */
function charsIn(input: object): number {
  return jsonOf(input)?.length ?? Number.POSITIVE_INFINITY;
}
