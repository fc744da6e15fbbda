// `wa-sync logs [-f]`: the daemon's log for people. The log turns over by size (agent/log.ts); following goes on with the new file.

import { stat } from 'node:fs/promises';
import { WaError } from '../../protocol/errors.ts';
import { changed } from '../fs/changed.ts';
import { eachLine, readFrom } from '../fs/tail.ts';
import { stateFiles } from '../paths.ts';
import type { CommandContext } from './context.ts';

const maxShown = 100_000;
/** A watcher may miss a change, for example on a network disk. */
const lookAgainMs = 1_000;

/** Ends with `stopping` when it follows. Errors: `bad_arguments`, `file_unusable`. */
export async function logsCommand(
  { follow, lines, json }: { follow?: boolean | undefined; lines: string; json?: boolean | undefined },
  context: CommandContext,
  stopping?: AbortSignal,
): Promise<void> {
  const count = Number(lines);
  if (!/^\d{1,6}$/.test(lines) || count > maxShown) {
    throw new WaError('bad_arguments', `--lines must be a number from 0 to ${maxShown}, not ${lines}`, {
      hint: 'For example: `wa-sync logs --lines 200`.',
    });
  }
  const { state } = context.loadConfig().dirs;
  const { log } = stateFiles(state);
  const show = (line: string) => context.out(json ? line : readable(line));
  let at = await place(log);
  const now = await text(log, at?.size);
  const all = splitLines(now);
  const older = all.length < count ? splitLines(await text(`${log}.1`)) : [];
  const shown = count === 0 ? [] : [...older, ...all].slice(-count);
  for (const line of shown) show(line);
  if (!at && !follow) context.note(`no log in ${state}: no daemon has run with this state directory`);
  let offset = Buffer.byteLength(now);
  while (follow && !stopping?.aborted) {
    const next = await place(log);
    if (at && next && next.inode !== at.inode) {
      // What was written between the last look and the turn of the log.
      await eachLine(`${log}.1`, { from: offset }, show).catch(() => {});
      offset = 0;
    }
    if (next) {
      at = next;
      // The log may turn over right now: then the next look reads the rest from its other name.
      offset = await eachLine(log, { from: offset }, show).catch((cause) => {
        if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return offset;
        throw cause;
      });
    }
    await changed(state, lookAgainMs, stopping);
  }
}

async function place(path: string): Promise<{ inode: number; size: number } | undefined> {
  const info = await stat(path).catch(() => undefined);
  return info && { inode: info.ino, size: info.size };
}

/** Up to `until`, whole lines; empty for a file that does not exist. */
async function text(path: string, until?: number): Promise<string> {
  const found = await readFrom(path, 0, until).catch((cause) => {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw cause;
  });
  return found.slice(0, found.lastIndexOf('\n') + 1);
}

function splitLines(found: string): string[] {
  return found.split('\n').filter((line) => line !== '');
}

/** `2026-02-15 14:30:00 warn   relay failing  code=relay_unreachable`, local time; a line of another form as it is. */
export function readable(line: string): string {
  try {
    const { time, level, event, ...fields } = JSON.parse(line) as Record<string, unknown>;
    const at = new Date(String(time));
    if (Number.isNaN(at.getTime())) return line;
    const pairs = Object.entries(fields).map(([key, value]) => ` ${key}=${shown(value)}`);
    return `${local(at)} ${String(level).padEnd('error'.length)} ${event}${pairs.join('')}`;
  } catch {
    return line;
  }
}

function shown(value: unknown): string {
  return typeof value === 'string' && value.includes(' ') ? JSON.stringify(value) : String(value);
}

function local(at: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}
