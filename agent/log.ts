// Structured log of the daemon: one JSON line per event with ids and sizes. Never a token, never the text of a message.

import { appendFileSync, mkdirSync, renameSync, statSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';

export type LogLevel = 'info' | 'warn' | 'error';

/** Values that are safe by construction: numbers, flags, ids, codes. What names the line itself is no field. */
export type LogFields = Record<string, string | number | boolean | null | undefined> & {
  time?: never;
  level?: never;
  event?: never;
};

export type Log = (level: LogLevel, event: string, fields?: LogFields) => void;

/** One older file is kept as well. */
const maxLogBytes = 5 * 1024 * 1024;

/** The event of a daemon of a service that ends with an error. */
export const daemonEnded = 'daemon ended';

/** Empties a file to which the system itself appends what a service prints. Ignores errors. */
export function keepShort(path: string): void {
  try {
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > maxLogBytes) truncateSync(path);
  } catch {
    // The next start tries again.
  }
}

/** Where a person sees the log as well. */
export interface LogEcho {
  line(text: string): void;
  /** Lower levels are left out. */
  least: LogLevel;
}

const levels: readonly LogLevel[] = ['info', 'warn', 'error'];

/** Ignores write errors: logging must never stop a delivery. */
export function fileLog(path: string, clock: () => number, echo?: LogEcho): Log {
  let bytes = 0;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    // The first append fails the same way and is ignored there.
  }
  return (level, event, fields = {}) => {
    const line = `${JSON.stringify({ time: new Date(clock()).toISOString(), level, event, ...fields })}\n`;
    try {
      if (bytes + line.length > maxLogBytes) {
        renameSync(path, `${path}.1`);
        bytes = 0;
      }
      appendFileSync(path, line, { mode: 0o600 });
      bytes += line.length;
    } catch {
      // See above.
    }
    if (!echo || levels.indexOf(level) < levels.indexOf(echo.least)) return;
    const shown = Object.entries(fields).map(([key, value]) => (value === undefined ? '' : ` ${key}=${value}`));
    echo.line(`${level === 'info' ? '' : `${level}: `}${event}${shown.join('')}`);
  };
}
