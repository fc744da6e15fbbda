// The id of a session as people tell sessions apart. Pure.

import { oneLine } from '../../protocol/lines.ts';

export function shortId(session: string): string {
  return oneLine(session.slice(0, 8), 8);
}

const minDigits = 4;

/** Whether a person means this id: its beginning, typed or tapped. Dashes and letter case do not count, as `/resume_…` has neither. */
export function beginsId(session: string, typed: string): boolean {
  const bare = (text: string) => text.toLowerCase().replaceAll('-', '');
  return bare(typed).length >= minDigits && bare(session).startsWith(bare(typed));
}
