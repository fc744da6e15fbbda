// Wakes an idle Claude Code: by typing in tmux, where the line is a person's prompt; else through the socket on which the program takes
// messages of other sessions, where the line comes as one of those. That socket is no stable interface: everything about it is looked at first.

import { lstat } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { nudgeLine } from '../../../protocol/turn-events.ts';
import { readLinked } from '../../fs/raw-file.ts';
import { paneOf } from '../../tmux.ts';
import { object, text } from '../fields.ts';
import { nudgeInTmux } from '../nudge.ts';
import type { Typing } from '../workstation.ts';

const maxBytes = 64 * 1024;
const connectMs = 2_000;

export async function nudge(pid: number, typing: Typing): Promise<boolean> {
  const pane = await paneOf(pid).catch(() => undefined);
  return pane ? nudgeInTmux(pid, typing, isEmptyPrompt) : nudgeBySocket(pid);
}

/** Whether there is a way at all. */
export async function canNudge(pid: number): Promise<boolean> {
  return (await paneOf(pid).catch(() => undefined)) !== undefined || (await inboxOf(pid, false)) !== undefined;
}

/** The prompt stands between two rules at the bottom, and holds nothing. */
export function isEmptyPrompt(screen: string): boolean {
  const lines = screen.split('\n').map((line) => line.trimEnd());
  const at = lines.findLastIndex((line) => line.startsWith('❯'));
  const isRule = (line: string | undefined) => /^─{8}/.test(line ?? '');
  if (at < 1 || !isRule(lines[at - 1]) || !isRule(lines[at + 1])) return false;
  return lines[at]?.slice(1).trim() === '' && !lines.slice(at).some((line) => line.includes('esc to interrupt'));
}

/** True = the line was written. That a turn begins, its hook tells. */
async function nudgeBySocket(pid: number): Promise<boolean> {
  const path = await inboxOf(pid, true);
  if (path === undefined) return false;
  return new Promise((resolve) => {
    const socket = createConnection(path);
    const end = (isWritten: boolean) => {
      socket.destroy();
      resolve(isWritten);
    };
    socket.setTimeout(connectMs, () => end(false));
    socket.once('error', () => end(false));
    socket.once('connect', () => {
      const line = JSON.stringify({ type: 'user', message: { role: 'user', content: nudgeLine } });
      socket.end(`${line}\n`, () => end(true));
    });
  });
}

/** The socket of a session, as the program names it; undefined = none, or none that is this user's. Never rejects. */
async function inboxOf(pid: number, isWantedIdle: boolean): Promise<string | undefined> {
  try {
    const folder = await settingsFolder(pid);
    const file = await readLinked(join(folder, 'sessions', `${pid}.json`), maxBytes);
    const { pid: named, status, messagingSocketPath } = object(JSON.parse(file?.bytes.toString('utf8') ?? ''));
    const path = text(messagingSocketPath);
    if (named !== pid || (isWantedIdle && status !== 'idle') || path === undefined) return undefined;
    const info = await lstat(path);
    return info.isSocket() && info.uid === process.getuid?.() ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Of that process, from its own environment. */
async function settingsFolder(pid: number): Promise<string> {
  const file = await readLinked(`/proc/${pid}/environ`, maxBytes);
  const variables = (file?.bytes.toString('utf8') ?? '').split('\0');
  const value = (name: string) => variables.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
  return value('CLAUDE_CONFIG_DIR') || join(value('HOME') ?? '', '.claude');
}
