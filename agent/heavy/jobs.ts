// The work of the daemon that takes long for a large input, as functions of what can be cloned: the daemon itself calls these for
// a small input, a worker thread for a large one. Pure, but for the look at the file system that a judgement takes.

import type { Language } from '../../protocol/languages.ts';
import type { TextMode } from '../../protocol/polling.ts';
import { type JudgeTask, judgeHere } from '../approvals/policy/judge-now.ts';
import { hideBy, type QuestionOptions, questionPart, wholeDiff } from '../approvals/question/question.ts';
import type { Redactor } from '../format/redact.ts';
import type { ToolDiff } from '../owned/owned.ts';
import { typesetHere } from '../relay/render.ts';

export interface TextJob {
  text: string;
  mode: TextMode;
  /** UTF-16 units of one message on the phone. */
  maxText: number;
  language: Language;
}

export function jobsWith(redactor: Redactor) {
  const redact = (text: string) => redactor(text).text;
  const hide = hideBy(redactor);
  const secretsIn = (text: string) => Object.values(redactor(text).counts).reduce((sum, count) => sum + count, 0);
  return {
    parts: ({ text, mode, maxText, language }: TextJob) => typesetHere(redact, maxText, language).parts(text, mode),
    redacted: async (text: string) => redact(text),
    judged: (task: JudgeTask) => judgeHere(task, secretsIn),
    shown: async (question: QuestionOptions) => questionPart(question, hide),
    hidden: async (text: string) => hide(text),
    diff: async ({ diffs, language }: { diffs: readonly ToolDiff[]; language: Language }) =>
      wholeDiff(diffs, hide, language),
  };
}

export type Jobs = ReturnType<typeof jobsWith>;
