// Wakes an idle coding agent in tmux by typing one fixed line. Types only while the screen shows the empty prompt: Enter in an approval
// dialog would approve, and Enter after a draft would send the draft. Linux only.

import { nudgeLine } from '../../protocol/turn-events.ts';
import { paneOf, pasteText, pressKey, screenOf } from '../tmux.ts';
import type { Typing } from './workstation.ts';

/** A CLI takes an earlier Enter for a newline of the pasted text. */
const pasteSettleMs = 400;

/** True = the line was typed. False for a process outside tmux, a busy screen, or a tmux that does not answer. */
export async function nudgeInTmux(
  pid: number,
  typing: Typing,
  isEmptyPrompt: (screen: string) => boolean,
): Promise<boolean> {
  try {
    const pane = await paneOf(pid);
    if (!pane) return false;
    if (!isEmptyPrompt(await screenOf(pane))) return false;
    return await typing(async () => {
      await pasteText(pane, nudgeLine);
      await new Promise((resolve) => setTimeout(resolve, pasteSettleMs));
      // Without the line on the screen Enter could hit something else. The line then stays as a draft, which is harmless.
      if (!(await screenOf(pane)).includes(nudgeLine)) return false;
      await pressKey(pane, 'Enter');
      return true;
    });
  } catch {
    return false;
  }
}
