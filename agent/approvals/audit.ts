// `wa_audit.jsonl` in the folder of the project's two files: one line per decision, STOP, tool call and turn. Append-only for this
// user alone, rotated once; holds no text that the redaction would hide.

import { join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { appendBelow, readBelow } from '../fs/below.ts';
import type { Log } from '../log.ts';

export type AuditLine = {
  kind: 'decision' | 'stop' | 'tool' | 'after' | 'turn' | 'mode' | 'ungated' | 'dialog';
} & Record<string, unknown>;

const auditFileName = 'wa_audit.jsonl';

const maxBytes = 5 * 1024 * 1024;
/** Room for one line more; a larger file came with a cloned repository. */
const maxReadBytes = 2 * maxBytes;

export interface AuditOptions {
  dir: string;
  /** Makes the folder. */
  prepare(): Promise<void>;
  redact(text: string): string;
  clock: () => number;
  log: Log;
}

export function createAudit({ dir, prepare, redact, clock, log }: AuditOptions) {
  const path = join(dir, auditFileName);
  let last: Promise<void> = Promise.resolve();
  let trouble = false;

  function textOf(at: string, { kind, ...rest }: AuditLine): string {
    const hide = (value: unknown): unknown =>
      typeof value === 'string' ? redact(value) : Array.isArray(value) ? value.map(hide) : value;
    const clean = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, hide(value)]));
    return `${JSON.stringify({ at, kind, ...clean })}\n`;
  }

  return {
    /** In the order of the calls; a line that cannot be written is logged, once until one can. */
    write(line: AuditLine | Promise<AuditLine>): void {
      const at = new Date(clock()).toISOString();
      last = last.then(async () => {
        try {
          const text = textOf(at, await line);
          await prepare();
          await appendBelow(path, text, { rotateBytes: maxBytes, isPrivate: true });
          trouble = false;
        } catch (cause) {
          if (!trouble) log('error', 'audit not written', { error: (cause as Error).message });
          trouble = true;
        }
      });
    },
    /** Resolves when all lines are written. */
    flush: () => last,
  };
}

/** Lines since a time, oldest first; unreadable ones are left out. Errors: `outside_project`, `file_unusable`. */
export async function readAudit(dir: string, since: number): Promise<Record<string, unknown>[]> {
  const path = join(dir, auditFileName);
  const texts = await Promise.all([`${path}.1`, path].map(readText));
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

async function readText(path: string): Promise<string> {
  const file = await readBelow(path, maxReadBytes);
  if (!file?.oversized) return file?.bytes.toString('utf8') ?? '';
  throw new WaError('file_unusable', `${path} has ${file.sizeBytes} bytes, more than wa-sync writes`, {
    hint: `Move ${path} away.`,
  });
}
