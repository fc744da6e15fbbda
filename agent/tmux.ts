// The tmux pane in which a process runs: what its screen shows, and the keys that are typed into it. Decides nothing. Linux only.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';

export interface Pane {
  /** Path of the socket of the tmux server. */
  socket: string;
  /** As tmux names it: `%3`. */
  id: string;
}

const tmuxTimeoutMs = 2_000;

/** The pane in which the process was started, from its environment; undefined = not in tmux. Rejects when the process cannot be read. */
export async function paneOf(pid: number): Promise<Pane | undefined> {
  const variables = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0');
  const value = (name: string) => variables.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
  const socket = value('TMUX')?.split(',')[0];
  const id = value('TMUX_PANE');
  return socket && id ? { socket, id } : undefined;
}

/** The lines that the pane shows now, without what has scrolled away. Rejects when tmux does not answer. */
export function screenOf(pane: Pane): Promise<string> {
  return tmux(pane, ['capture-pane', '-p', '-t', pane.id]);
}

/** The screen of the terminal in which a process runs; undefined = not in tmux, scrolled back, or tmux does not answer. */
export async function terminalScreen(pid: number): Promise<string | undefined> {
  try {
    const pane = await paneOf(pid);
    if (!pane || (await tmux(pane, ['display-message', '-p', '-t', pane.id, '#{pane_in_mode}'])).trim() !== '0')
      return undefined;
    return await screenOf(pane);
  } catch {
    return undefined;
  }
}

/** False = the key was not pressed, or tmux did not answer. */
export async function pressInTerminal(pid: number, key: string): Promise<boolean> {
  try {
    const pane = await paneOf(pid);
    if (pane) await pressKey(pane, key);
    return pane !== undefined;
  } catch {
    return false;
  }
}

/** A key by its tmux name: `Enter`, `Escape`, `1`. Rejects when tmux does not answer. */
export async function pressKey(pane: Pane, key: string): Promise<void> {
  await tmux(pane, ['send-keys', '-t', pane.id, key]);
}

/** Bracketed paste: several lines stay one input. Rejects when tmux does not answer. */
export async function pasteText(pane: Pane, text: string): Promise<void> {
  await tmux(pane, ['load-buffer', '-b', 'wa-sync', '-'], text);
  await tmux(pane, ['paste-buffer', '-p', '-d', '-b', 'wa-sync', '-t', pane.id]);
}

/** The newest key of a person in a client of the pane's session, in epoch milliseconds by whole seconds; undefined = nobody is attached. Rejects when tmux does not answer. */
export async function lastKeyIn(pane: Pane): Promise<number | undefined> {
  const lines = (await tmux(pane, ['list-clients', '-t', pane.id, '-F', '#{client_activity}'])).split('\n');
  const seconds = lines.map(Number).filter((each) => each > 0);
  return seconds.length === 0 ? undefined : Math.max(...seconds) * 1000;
}

/** Any command of tmux, on the server of the pane. Resolves with its output; rejects when it fails or takes longer than `tmuxTimeoutMs`. */
function tmux({ socket }: Pane, args: string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile('tmux', ['-S', socket, ...args], { timeout: tmuxTimeoutMs }, (error, stdout) => {
      if (error) reject(error);
      else resolve(stdout);
    });
    child.stdin?.on('error', () => {}).end(input);
  });
}
