// The id of a session as people tell sessions apart. Pure.

import { oneLine } from '../../protocol/lines.ts';

export function shortId(session: string): string {
  return oneLine(session.slice(0, 8), 8);
}
