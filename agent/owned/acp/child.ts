// The process of an agent: in a group of its own, which ends as a whole. What an agent leaves behind would go on working unseen.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { AgentError, type Says } from '../agent-error.ts';

export interface AgentChild {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves when the process is gone and its group has been killed. `lastWords` = the end of its stderr, bounded. */
  readonly ended: Promise<ChildEnd>;
  /** Resolves when it is gone; SIGKILL of the group at the latest after `graceMs`. Idempotent. */
  close(): Promise<void>;
  /** At once, without a chance to end well. */
  kill(): Promise<void>;
}

export interface ChildEnd {
  code: number | null;
  signal: string | null;
  lastWords: string;
}

export interface ChildOptions {
  cwd: string;
  env: Record<string, string>;
  exitBy: 'stdin' | 'SIGTERM';
  graceMs: number;
}

const lastWordsChars = 2_000;
/** The longest wait for the group and its pipes after SIGKILL: a zombie may never be reaped. */
const lateMs = 1_000;

/** Errors: `not_found` for a program that does not start. */
export async function startChild(
  [program = '', ...args]: readonly string[],
  options: ChildOptions,
): Promise<AgentChild> {
  const { cwd, env, exitBy, graceMs } = options;
  const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  // A write to a process that has ended is seen as its end.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {});
  const lastWords = tailOf(child.stderr);
  const ended = new Promise<ChildEnd>((resolve) => {
    child.once('exit', (code, signal) => {
      // The leader has ended; a child of it may go on, and may hold the pipes open.
      signalGroup(child, 'SIGKILL');
      const closed = new Promise<void>((done) => child.once('close', () => done()));
      const late = new Promise<void>((done) => setTimeout(done, lateMs).unref());
      const whole = () => resolve({ code, signal, lastWords: lastWords() });
      Promise.race([Promise.all([closed, groupIsGone(child)]), late]).then(whole, whole);
    });
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => {
      const says: Says = (texts) => texts.startsNot(program, cause.message);
      reject(new AgentError('not_found', says, (texts) => texts.checkProgram(program, cwd), cause));
    });
  });
  let closing: Promise<void> | undefined;
  const end = async () => {
    if (exitBy === 'stdin') {
      child.stdin.end();
      if (await endsWithin(ended, graceMs)) return;
    }
    signalGroup(child, 'SIGTERM');
    if (await endsWithin(ended, graceMs)) return;
    signalGroup(child, 'SIGKILL');
    await ended;
  };
  return {
    pid: child.pid as number,
    stdin: child.stdin,
    stdout: child.stdout,
    ended,
    close: () => (closing ??= end()),
    async kill() {
      signalGroup(child, 'SIGKILL');
      await ended;
    },
  };
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

function signalGroup(child: Child, signal: NodeJS.Signals): void {
  try {
    // Windows has no groups.
    if (process.platform === 'win32') child.kill(signal);
    else process.kill(-(child.pid as number), signal);
  } catch {
    // Nobody of the group is left.
  }
}

/** A killed process is gone some moments later. */
async function groupIsGone(child: Child): Promise<void> {
  while (process.platform !== 'win32') {
    try {
      process.kill(-(child.pid as number), 0);
    } catch {
      return;
    }
    await new Promise((next) => setTimeout(next, 10).unref());
  }
}

function tailOf(stream: Readable): () => string {
  let tail = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-lastWordsChars);
  });
  return () => tail.trim();
}

export async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const isOver = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return isOver;
}
