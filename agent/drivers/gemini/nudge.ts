// Wakes an idle Gemini CLI in tmux by typing one fixed line, when the owner has allowed nudges. Types only while the screen shows
// the CLI's empty prompt: Enter in an approval dialog would approve, and Enter after a draft would send the draft.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/** Never text from the phone, which the turn carries. Does not begin with `/` or `!`, which the CLI would run. */
const line = 'Something from the phone has come by way of wa-sync.';
/** The CLI shows this text in the empty prompt only. */
const emptyPrompt = 'Type your message';
/** The CLI takes an earlier Enter for a newline of the pasted text. */
const pasteSettleMs = 400;
const tmuxTimeoutMs = 2_000;

interface Pane {
  socket: string;
  id: string;
}

/** True = the line was typed. False for a process outside tmux, a busy screen, or a tmux that does not answer. Linux only. */
export async function nudgeInTmux(pid: number): Promise<boolean> {
  try {
    const pane = await paneOf(pid);
    if (!pane) return false;
    const screen = () => tmux(pane, ['capture-pane', '-p', '-t', pane.id]);
    if (!(await screen()).includes(emptyPrompt)) return false;
    await tmux(pane, ['load-buffer', '-b', 'wa-sync', '-'], line);
    await tmux(pane, ['paste-buffer', '-p', '-d', '-b', 'wa-sync', '-t', pane.id]);
    await new Promise((resolve) => setTimeout(resolve, pasteSettleMs));
    // Without the line on the screen Enter could hit something else. The line then stays as a draft, which is harmless.
    if (!(await screen()).includes(line)) return false;
    await tmux(pane, ['send-keys', '-t', pane.id, 'Enter']);
    return true;
  } catch {
    return false;
  }
}

/** The tmux pane in which the process was started, from its environment. */
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
