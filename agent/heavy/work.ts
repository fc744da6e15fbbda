// The worker thread's side: does one job after the other with tools of its own, made from what can be cloned. An entry point.

import { parentPort, workerData } from 'node:worker_threads';
import { judgeHere } from '../approvals/policy/judge-now.ts';
import { hideBy, questionPart } from '../approvals/question/question.ts';
import { createRedactor } from '../format/redact.ts';
import { renderText } from '../relay/render.ts';
import type { HeavyData, Job, JobResult } from './jobs.ts';

const { redaction } = workerData as HeavyData;
const redactor = createRedactor(redaction);
const redact = (text: string) => redactor(text).text;
const secretsIn = (text: string) => Object.values(redactor(text).counts).reduce((sum, count) => sum + count, 0);
const hide = hideBy(redactor);

async function done(job: Job): Promise<JobResult> {
  switch (job.kind) {
    case 'parts':
      return { kind: 'parts', parts: await renderText(job.text, job.mode, redact, job.maxText) };
    case 'redacted':
      return { kind: 'redacted', text: redact(job.text) };
    case 'judged':
      return { kind: 'judged', judged: await judgeHere(job.task, secretsIn) };
    case 'shown':
      return { kind: 'shown', shown: questionPart({ ...job.question, hide }) };
    case 'hidden':
      return { kind: 'hidden', hidden: hide(job.text) };
  }
}

parentPort?.on('message', async ({ number, job }: { number: number; job: Job }) => {
  parentPort?.postMessage({ number, result: await done(job) });
});
