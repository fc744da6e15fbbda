// The worker thread's side: does one job after the other, with a redactor made from what can be cloned. An entry point.

import { parentPort, workerData } from 'node:worker_threads';
import { createRedactor } from '../format/redact.ts';
import { jobsWith } from './jobs.ts';
import type { Job, ThreadData } from './thread.ts';

const { redaction } = workerData as ThreadData;
const jobs = jobsWith(createRedactor(redaction));

parentPort?.on('message', async ({ kind, input }: Job) => {
  const done = await (jobs[kind] as (input: unknown) => Promise<unknown>)(input);
  parentPort?.postMessage(done);
});
