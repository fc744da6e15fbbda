// The newest key of a person in the terminal of a process, as the machine tells it. Keys that wa-sync types there itself do not
// count. Decides nothing.

import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { lastKeyIn, paneOf } from './tmux.ts';

export interface Keys {
  /**
   * Epoch milliseconds of the newest key; undefined = not to be seen. A terminal alone tells it to 8 seconds (Linux notes no second read
   * of a pty in that time), tmux to the second; some terminals report a change of the window as a key. Never rejects.
   */
  lastAt(pid: number): Promise<number | undefined>;
  /** Whether the process runs in tmux, so that wa-sync can type there. Never rejects. */
  isInTmux(pid: number): Promise<boolean>;
  /** Runs work that types into the terminal of the process. */
  typing<T>(pid: number, work: () => Promise<T>): Promise<T>;
}

/** The time in which a terminal's program reads what was typed there. */
const readWithinMs = 2_000;

const askTmuxEveryMs = 2_000;

export interface KeysOptions {
  clock: () => number;
  platform: NodeJS.Platform;
  /** When the terminal of the process was last read from, in epoch milliseconds. */
  readAt?(pid: number): Promise<number | undefined>;
}

export function watchKeys({ clock, platform, readAt = (pid) => terminalReadAt(pid, platform) }: KeysOptions): Keys {
  /** What wa-sync typed last, by process: the reads in this time are its own, and `before` is the newest key of a person. */
  const own = new Map<number, { from: number; until: number; before: number | undefined }>();

  async function inTerminal(pid: number): Promise<number | undefined> {
    const at = await readAt(pid).catch(() => undefined);
    const typed = own.get(pid);
    // A read is noted by whole seconds.
    const isOwn = typed !== undefined && at !== undefined && at >= typed.from - 1_000 && at <= typed.until;
    return isOwn ? typed.before : at;
  }

  /** A held terminal is asked for keys often, and tmux is a process of its own. */
  const asked = new Map<number, { at: number; answer: Promise<number | undefined> }>();

  function inTmux(pid: number): Promise<number | undefined> {
    const last = asked.get(pid);
    if (last && Math.abs(clock() - last.at) < askTmuxEveryMs) return last.answer;
    const answer = paneOf(pid)
      .then((pane) => pane && lastKeyIn(pane))
      .catch(() => undefined);
    asked.set(pid, { at: clock(), answer });
    return answer;
  }

  return {
    async lastAt(pid) {
      const found = (await Promise.all([inTerminal(pid), inTmux(pid)])).filter((at) => at !== undefined);
      return found.length === 0 ? undefined : Math.max(...found);
    },
    async isInTmux(pid) {
      return (await paneOf(pid).catch(() => undefined)) !== undefined;
    },
    async typing(pid, work) {
      const before = await inTerminal(pid);
      const from = clock();
      own.set(pid, { from, until: Number.POSITIVE_INFINITY, before });
      try {
        return await work();
      } finally {
        own.set(pid, { from, until: clock() + readWithinMs, before });
      }
    },
  };
}

async function terminalReadAt(pid: number, platform: NodeJS.Platform): Promise<number | undefined> {
  if (platform === 'win32') return undefined;
  const path = platform === 'linux' ? `/proc/${pid}/fd/0` : await terminalOf(pid);
  if (path === undefined) return undefined;
  const { atimeMs, rdev } = await stat(path);
  // A pipe or a file is no terminal.
  return rdev === 0 ? undefined : atimeMs;
}

function terminalOf(pid: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'tty=', '-p', String(pid)], { timeout: 1_000 }, (error, stdout) => {
      const name = stdout.trim();
      resolve(error || !/^\w+$/.test(name) ? undefined : `/dev/${name}`);
    });
  });
}
