// One worker thread for work that may take long, so that the daemon goes on answering. The thread starts with the first job and ends
// when idle. Whatever becomes of the thread, its job then has no result.

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { RedactionOptions } from '../format/redact.ts';
import type { Jobs } from './jobs.ts';

/** Both can be cloned. */
export interface ThreadData {
  redaction: RedactionOptions;
}

export interface Job<K extends keyof Jobs = keyof Jobs> {
  kind: K;
  input: Parameters<Jobs[K]>[0];
}

export type Result<K extends keyof Jobs> = Awaited<ReturnType<Jobs[K]>>;

export interface ThreadOptions {
  data: ThreadData;
  /** From the call on, waiting for other jobs included. */
  deadlineMs: number;
  onFailed(why: string): void;
}

export type Thread = ReturnType<typeof createThread>;

const idleMs = 30_000;
/** A job of the largest text needs less; a job that asks for more is stopped and counts as too late. */
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };

export function createThread({ data, deadlineMs, onFailed }: ThreadOptions) {
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let isClosed = false;
  /** Every job has the same time from its call on, so none is late before those ahead of it have ended. */
  let last: Promise<unknown> = Promise.resolve();

  function start(): Worker {
    const path = workPath();
    const started = new Worker(path, { workerData: data, resourceLimits, execArgv: typeStripping(path) });
    started.unref();
    // Whoever waits for a result sees it as well; an idle thread takes nothing along.
    started.on('error', () => {});
    started.on('exit', () => {
      if (worker === started) worker = undefined;
    });
    return started;
  }

  async function end(): Promise<void> {
    const ending = worker;
    worker = undefined;
    await ending?.terminate();
  }

  /** `stop` is aborted when the time of the job is over. */
  async function resultOf(job: unknown, stop: AbortController): Promise<unknown> {
    stop.signal.throwIfAborted();
    worker ??= start();
    const busy = worker;
    const ended = () => stop.abort(new Error('it ended'));
    busy.once('exit', ended);
    busy.postMessage(job);
    const [result] = await once(busy, 'message', { signal: stop.signal });
    busy.off('exit', ended);
    return result;
  }

  async function attempt(job: unknown, stop: AbortController): Promise<unknown> {
    clearTimeout(idle);
    try {
      return isClosed ? undefined : await resultOf(job, stop);
    } catch (cause) {
      // Whoever aborted says why as the cause.
      const { code, message } = ((cause as Error).cause ?? cause) as NodeJS.ErrnoException;
      if (!isClosed) onFailed(typeof code === 'string' ? code : message);
      void end();
      return undefined;
    } finally {
      idle = setTimeout(end, idleMs).unref();
    }
  }

  return {
    /** One job after the other. Undefined = not done in time, or the thread ended (out of memory, a bug). Never rejects. */
    run<K extends keyof Jobs>(job: Job<K>): Promise<Result<K> | undefined> {
      const stop = new AbortController();
      const late = setTimeout(() => stop.abort(new Error(`nothing within ${deadlineMs} ms`)), deadlineMs);
      const done = last.then(() => attempt(job, stop)).finally(() => clearTimeout(late));
      last = done;
      return done as Promise<Result<K> | undefined>;
    },
    /** A later job gets a new thread, with `data` as it is then. */
    renew(): void {
      last = last.then(end);
    },
    isRunning: () => worker !== undefined,
    /** No job that runs or waits has a result. */
    async close(): Promise<void> {
      isClosed = true;
      await end();
    },
  };
}

/** In this file's folder in the sources; in the bundle this may be a chunk, one folder below. */
function workPath(): string {
  const candidates = ['./work.ts', './heavy-work.js', '../heavy-work.js'];
  const paths = candidates.map((candidate) => fileURLToPath(new URL(candidate, import.meta.url)));
  return paths.find((path) => existsSync(path)) ?? (paths.at(-1) as string);
}

/** Only the sources need it, and an older Node does not know it. */
function typeStripping(path: string): string[] {
  return path.endsWith('.ts') ? ['--experimental-strip-types', '--disable-warning=ExperimentalWarning'] : [];
}
