// Removes control characters of terminals and tools, and characters that the chat server would silently change.
// Must never change a visible character: only control characters, escape sequences and hidden blocks go.

const reminderOpen = '<system-reminder>';
const reminderClose = '</system-reminder>';

// Written as strings because a control character in a regular expression literal is unreadable.
const csi = '\\u001b\\[[0-?]*[ -/]*[@-~]|\\u009b[0-?]*[ -/]*[@-~]';
const osc = '\\u001b[\\]PX^_][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)';
const escapeSequence = new RegExp(`${csi}|${osc}|\\u001b[@-Z\\\\-_]`, 'g');
// All C0 and C1 controls but tab and newline; embedding and override marks, which the server removes from under the offsets.
const controls = '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f';
const removed = new RegExp(`[${controls}\\u202a-\\u202e\\ufeff]`, 'g');
const loneSurrogate = /\p{Surrogate}/gu;

/** Newlines become `\n`, escape sequences and control characters go, lone surrogates become U+FFFD; tabs stay. */
export function cleanText(text: string): string {
  return text
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(escapeSequence, '')
    .replace(removed, '')
    .replace(loneSurrogate, '\ufffd');
}

/** Drops `<system-reminder>` blocks: they address the model, not the owner. An unclosed block stays visible. */
export function dropReminders(text: string): string {
  let kept = '';
  let from = 0;
  for (;;) {
    const open = text.indexOf(reminderOpen, from);
    const close = open < 0 ? -1 : text.indexOf(reminderClose, open);
    if (close < 0) return kept + text.slice(from);
    kept += text.slice(from, open);
    from = close + reminderClose.length;
  }
}
