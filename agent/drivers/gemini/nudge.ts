// Wakes an idle Gemini CLI in tmux by typing one fixed line, when the owner has allowed nudges. Types only while the screen shows
// the CLI's empty prompt: Enter in an approval dialog would approve, and Enter after a draft would send the draft.

import { paneOf, pasteText, pressKey, screenOf } from '../../tmux.ts';

/** Never text from the phone, which the turn carries. Does not begin with `/` or `!`, which the CLI would run. */
const line = 'Something from the phone has come by way of wa-sync.';
/** The CLI shows this text in the empty prompt only. */
const emptyPrompt = 'Type your message';
/** The CLI takes an earlier Enter for a newline of the pasted text. */
const pasteSettleMs = 400;

/** True = the line was typed. False for a process outside tmux, a busy screen, or a tmux that does not answer. Linux only. */
export async function nudgeInTmux(pid: number): Promise<boolean> {
  try {
    const pane = await paneOf(pid);
    if (!pane) return false;
    if (!(await screenOf(pane)).includes(emptyPrompt)) return false;
    await pasteText(pane, line);
    await new Promise((resolve) => setTimeout(resolve, pasteSettleMs));
    // Without the line on the screen Enter could hit something else. The line then stays as a draft, which is harmless.
    if (!(await screenOf(pane)).includes(line)) return false;
    await pressKey(pane, 'Enter');
    return true;
  } catch {
    return false;
  }
}
