// Times and counts in words for the phone. Pure.

/** `14:02 UTC`, with the date when it was another day. */
export function clockText(atMs: number, nowMs: number): string {
  const iso = new Date(atMs).toISOString();
  const time = `${iso.slice(11, 16)} UTC`;
  return iso.slice(0, 10) === new Date(nowMs).toISOString().slice(0, 10) ? time : `${iso.slice(0, 10)} ${time}`;
}

/** `1 message`, `3 messages`. */
export function messagesText(count: number): string {
  return count === 1 ? '1 message' : `${count} messages`;
}

const previewChars = 60;

/** The first words of a text, in one line. */
export function previewOf(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const cut = [...line].slice(0, previewChars).join('');
  return cut === line ? line : `${cut}…`;
}
