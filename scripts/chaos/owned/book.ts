// What the scripted agents of owned sessions wrote down of themselves, in this process's time; and which of their processes live.

import { readdirSync, readFileSync } from 'node:fs';

export interface Entry {
  /** `start` of a process; the model has a `prompt`, or got a text `steered` into one; a tool `runs`; an `answer` is about to be said; the turn's `end`. */
  what: 'start' | 'prompt' | 'steered' | 'runs' | 'answer' | 'end';
  /** `performance.now()` of this process. */
  at: number;
  pid: number;
  /** Of the process, as the daemon named it. */
  mark: string;
  /** Absent at a start, which has the style. */
  turn?: string;
  style?: string;
  text?: string;
}

export interface Book {
  /** All so far, oldest first. */
  entries(): readonly Entry[];
  /** The process that was started last, while it lives. */
  living(): number | undefined;
  /** Processes of an agent that is not the one started last. */
  left(): number[];
}

export function createBook(ledgerFile: string): Book {
  const entries: Entry[] = [];
  let chars = 0;
  /** The monotonic clock of the machine is one for all processes; each counts `performance.now()` from a moment of its own. */
  const offset = Number(process.hrtime.bigint()) / 1e6 - performance.now();

  function read(): readonly Entry[] {
    const text = readOrEmpty(ledgerFile);
    const end = text.lastIndexOf('\n') + 1;
    for (const line of text.slice(chars, end).split('\n').filter(Boolean)) {
      const entry = JSON.parse(line) as Entry;
      entries.push({ ...entry, at: entry.at - offset });
    }
    chars = Math.max(chars, end);
    return entries;
  }

  const last = () => read().findLast(({ what }) => what === 'start');
  const environment = (pid: number | string) => `\0${readOrEmpty(`/proc/${pid}/environ`)}`;
  /** A zombie has no environment any more. */
  const isOurs = (of: string) => of.includes(`\0ACP_LEDGER=${ledgerFile}\0`);

  return {
    entries: read,
    living() {
      const pid = last()?.pid;
      return pid !== undefined && isOurs(environment(pid)) ? pid : undefined;
    },
    left() {
      const mark = last()?.mark;
      if (mark === undefined) return [];
      return readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .filter((name) => {
          const of = environment(name);
          return isOurs(of) && !of.includes(`\0WA_OWNED=${mark}\0`);
        })
        .map(Number);
    },
  };
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
