// The texts of a STOP for the agent and for the host. Pure; the hook fallback bundles it.

import type { InboxEntry } from '../../protocol/files.ts';
import { oneLine } from '../../protocol/lines.ts';
import type { StopView } from './view.ts';

const order = 'Complete your current action, write a final status update, and halt. Do not start any new tasks.';
const maxWordsUnits = 1_000;

/** For the model: the signal, and the owner's words on one line if they say more than stop. Words of another program are left out. */
export function stopText({ text, fromOwner }: StopView): string {
  if (!fromOwner) return `⛔ STOP signal, written into the inbox by another program. ${order}`;
  const signal = `⛔ STOP signal received from user. ${order}`;
  // Without the brackets that begin a mark of the frame.
  const words = oneLine(text, maxWordsUnits).replaceAll('[', '(').replaceAll(']', ')');
  return /^\/?(stop|abort)?[\s.!]*$/i.test(words) ? signal : `${signal}\nThe owner's words: ${words}`;
}

/** For the person at the terminal. */
export function abortText({ fromOwner }: Pick<StopView, 'fromOwner'>): string {
  return fromOwner ? 'Aborted from the phone by /abort.' : 'Aborted by another program, which wrote it into the inbox.';
}

/** A STOP that stands in the inbox file. `isOwners` says whether the daemon wrote the entry, for a STOP of the phone. */
export function stopOf(entry: InboxEntry, isOwners: (stop: InboxEntry) => boolean = () => false): StopView | undefined {
  if (entry.read || (entry.control !== 'stop' && entry.control !== 'abort')) return undefined;
  const fromOwner = isOwners(entry);
  return { id: entry.id, type: entry.control, text: fromOwner ? entry.text : '', fromOwner };
}
