// What the daemon may give to its worker threads, and what comes back. All of it can be cloned.

import type { TextMode } from '../../protocol/polling.ts';
import type { TextPart } from '../../protocol/relay-api.ts';
import type { JudgedTask, JudgeTask } from '../approvals/policy/judge-now.ts';
import type { Hidden, Shown, Unshown } from '../approvals/question/question.ts';
import type { RedactionOptions } from '../format/redact.ts';

export interface HeavyData {
  redaction: RedactionOptions;
}

export type Job =
  | { kind: 'parts'; text: string; mode: TextMode; maxText: number }
  | { kind: 'redacted'; text: string }
  | { kind: 'judged'; task: JudgeTask }
  | { kind: 'shown'; question: Unshown }
  | { kind: 'hidden'; text: string };

export type JobResult =
  | { kind: 'parts'; parts: TextPart[] }
  | { kind: 'redacted'; text: string }
  | { kind: 'judged'; judged: JudgedTask }
  | { kind: 'shown'; shown: Shown }
  | { kind: 'hidden'; hidden: Hidden };
