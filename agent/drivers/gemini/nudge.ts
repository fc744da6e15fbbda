// Wakes an idle Gemini CLI in tmux by typing one fixed line, unless the owner has switched nudges off. Types only while the screen shows
// the CLI's empty prompt: Enter in an approval dialog would approve, and Enter after a draft would send the draft.

import { nudgeLine } from '../../../protocol/turn-events.ts';
import { paneOf, pasteText, pressKey, screenOf } from '../../tmux.ts';
import type { Typing } from '../driver.ts';

/** The CLI shows this text in the empty prompt only. */
const emptyPrompt = 'Type your message';
/** The CLI takes an earlier Enter for a newline of the pasted text. */
const pasteSettleMs = 400;

/** True = the line was typed. False for a process outside tmux, a busy screen, or a tmux that does not answer. Linux only. */
export async function nudgeInTmux(pid: number, typing: Typing): Promise<boolean> {
  try {
    const pane = await paneOf(pid);
    if (!pane) return false;
    if (!(await screenOf(pane)).includes(emptyPrompt)) return false;
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
