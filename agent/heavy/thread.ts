// One worker thread for work that may take long, so that the daemon goes on answering. Starts with the first job and ends when
// idle. Whatever becomes of the thread, a job then has no result.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

export interface ThreadOptions {
  /** Cloneable; what `work.ts` builds its tools from. */
  data: unknown;
  /** From the call on, waiting for other jobs included. */
  deadlineMs: number;
  onFailed(why: string): void;
}

export interface Thread {
  /** One job after the other. Undefined = not done in time, or the thread ended (out of memory, a bug). Never rejects. */
  run(job: unknown): Promise<unknown>;
  isRunning(): boolean;
  /** What is under way has no result. */
  close(): Promise<void>;
}

interface Job {
  number: number;
  job: unknown;
  settle(result: unknown): void;
}

const idleMs = 30_000;
/** A job of the largest text needs less; what asks for more is stopped and counts as too late. */
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };

export function createThread({ data, deadlineMs, onFailed }: ThreadOptions): Thread {
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let count = 0;
  let isClosed = false;
  const jobs: Job[] = [];

  function start(): Worker {
    const path = workPath();
    const started = new Worker(path, { workerData: data, resourceLimits, execArgv: typeStripping(path) });
    started.unref();
    started.on('message', ({ number, result }: { number: number; result: unknown }) => {
      if (jobs[0]?.number === number) jobs[0].settle(result);
    });
    started.on('error', (cause) => fail((cause as NodeJS.ErrnoException).code ?? cause.message));
    started.on('exit', () => fail('it ended'));
    return started;

    function fail(why: string): void {
      if (worker !== started) return;
      worker = undefined;
      onFailed(why);
      jobs[0]?.settle(undefined);
    }
  }

  function next(): void {
    clearTimeout(idle);
    const first = jobs[0];
    if (!first) {
      idle = setTimeout(end, idleMs).unref();
      return;
    }
    try {
      worker ??= start();
      worker.postMessage({ number: first.number, job: first.job });
    } catch (cause) {
      onFailed((cause as Error).name);
      first.settle(undefined);
    }
  }

  function end(): Promise<unknown> {
    const ending = worker;
    worker = undefined;
    return ending?.terminate() ?? Promise.resolve();
  }

  return {
    run(job) {
      return new Promise((resolve) => {
        const number = count++;
        const late = setTimeout(() => {
          onFailed(`nothing within ${deadlineMs} ms`);
          if (jobs[0]?.number === number) void end();
          settle(undefined);
        }, deadlineMs);
        function settle(result: unknown): void {
          clearTimeout(late);
          const at = jobs.findIndex((each) => each.number === number);
          if (at < 0) return;
          jobs.splice(at, 1);
          resolve(result);
          if (at === 0) next();
        }
        jobs.push({ number, job, settle });
        if (isClosed) settle(undefined);
        else if (jobs.length === 1) next();
      });
    },
    isRunning: () => worker !== undefined,
    async close() {
      const ended = end();
      isClosed = true;
      for (const { settle } of [...jobs].reverse()) settle(undefined);
      clearTimeout(idle);
      await ended;
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
