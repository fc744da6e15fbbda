// `wa_audit.jsonl` beside the project's two files: one line per decision, STOP, tool call and turn. Append-only for this
// user alone, rotated once; holds no text that the redaction would hide.

import { constants } from 'node:fs';
import { open, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../log.ts';

export type AuditLine = { kind: 'decision' | 'stop' | 'tool' | 'after' | 'turn' | 'mode' } & Record<string, unknown>;

export interface Audit {
  /** In the order of the calls; a line that cannot be written is logged, once until one can. */
  write(line: AuditLine): void;
  /** Resolves when all lines are written. */
  flush(): Promise<void>;
}

const auditFileName = 'wa_audit.jsonl';

const maxBytes = 5 * 1024 * 1024;

export interface AuditOptions {
  dir: string;
  /** Makes the folder. */
  prepare(): Promise<void>;
  redact(text: string): string;
  clock: () => number;
  log: Log;
}

export function createAudit({ dir, prepare, redact, clock, log }: AuditOptions): Audit {
  const path = join(dir, auditFileName);
  let last: Promise<void> = Promise.resolve();
  let trouble = false;

  async function append(text: string): Promise<void> {
    await prepare();
    const size = (await stat(path).catch(() => undefined))?.size ?? 0;
    if (size >= maxBytes) await rename(path, `${path}.1`);
    // A link in its place is not followed.
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
    const handle = await open(path, flags, 0o600);
    try {
      await handle.chmod(0o600);
      await handle.appendFile(text);
    } finally {
      await handle.close();
    }
  }

  return {
    write(line) {
      const { kind, ...rest } = line;
      const hide = (value: unknown): unknown =>
        typeof value === 'string' ? redact(value) : Array.isArray(value) ? value.map(hide) : value;
      const clean = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, hide(value)]));
      const text = `${JSON.stringify({ at: new Date(clock()).toISOString(), kind, ...clean })}\n`;
      last = last.then(() =>
        append(text).then(
          () => {
            trouble = false;
          },
          (cause) => {
            if (!trouble) log('error', 'audit not written', { error: (cause as Error).message });
            trouble = true;
          },
        ),
      );
    },
    flush: () => last,
  };
}

/** Lines since a time, oldest first; unreadable ones are left out. */
export async function readAudit(dir: string, since: number): Promise<Record<string, unknown>[]> {
  const path = join(dir, auditFileName);
  const texts = await Promise.all([`${path}.1`, path].map((each) => readFile(each, 'utf8').catch(() => '')));
  return texts
    .join('')
    .split('\n')
    .flatMap((text) => {
      try {
        const line = JSON.parse(text) as Record<string, unknown>;
        return Date.parse(String(line.at)) >= since ? [line] : [];
      } catch {
        return [];
      }
    });
}
