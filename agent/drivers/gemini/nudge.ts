// Wakes an idle Gemini CLI in tmux by typing one line of ours, when its owner asked for that. Types only while the screen shows the
// CLI's empty prompt: an Enter that met an approval dialog would approve, and a draft of the owner would be sent along.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/** Never a text of the phone: that comes with the turn. Begins with neither `/` nor `!`, which the CLI would run. */
const line = 'Something from the phone has come by way of wa-sync.';
/** Shown in the empty prompt alone. */
const emptyPrompt = 'Type your message';
/** An Enter that follows a paste sooner becomes a newline of the prompt. */
const pasteSettleMs = 400;
const tmuxTimeoutMs = 2_000;

interface Pane {
  socket: string;
  id: string;
}

/** True = the line was typed. False for a process outside of tmux, a busy screen, or a tmux that does not answer. Linux only. */
export async function nudgeInTmux(pid: number): Promise<boolean> {
  try {
    const pane = await paneOf(pid);
    if (!pane || !(await showsEmptyPrompt(pane))) return false;
    await tmux(pane, ['load-buffer', '-b', 'wa-sync', '-'], line);
    await tmux(pane, ['paste-buffer', '-p', '-d', '-b', 'wa-sync', '-t', pane.id]);
    await new Promise((resolve) => setTimeout(resolve, pasteSettleMs));
    // Something may have come between; then the line stays as a draft, which is harmless.
    if (!(await tmux(pane, ['capture-pane', '-p', '-t', pane.id])).includes(line)) return false;
    await tmux(pane, ['send-keys', '-t', pane.id, 'Enter']);
    return true;
  } catch {
    return false;
  }
}

async function showsEmptyPrompt(pane: Pane): Promise<boolean> {
  return (await tmux(pane, ['capture-pane', '-p', '-t', pane.id])).includes(emptyPrompt);
}

/** The process was started in this pane, by what its environment says. */
async function paneOf(pid: number): Promise<Pane | undefined> {
  const variables = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0');
  const value = (name: string) => variables.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
  const socket = value('TMUX')?.split(',')[0];
  const id = value('TMUX_PANE');
  return socket && id ? { socket, id } : undefined;
}

function tmux({ socket }: Pane, args: string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile('tmux', ['-S', socket, ...args], { timeout: tmuxTimeoutMs }, (error, stdout) => {
      if (error) reject(error);
      else resolve(stdout);
    });
    child.stdin?.on('error', () => {}).end(input);
  });
}
