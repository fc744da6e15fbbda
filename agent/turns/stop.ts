// What a STOP says to the agent and to the host. Pure; the hook fallback bundles it.

import type { InboxEntry } from '../../protocol/files.ts';
import type { StopView } from './view.ts';

const signal =
  '⛔ STOP signal received from user. Complete your current action, write a final status update, and halt. Do not start any new tasks.';

/** For the model, with the owner's words when they say more than stop. */
export function stopText({ text }: StopView): string {
  const words = text.trim();
  return /^\/?(stop|abort)?[\s.!]*$/i.test(words) ? signal : `${signal}\nThe owner's words: ${words}`;
}

/** For whoever sits at the desk. */
export const abortText = 'Aborted from the phone by /abort.';

/** A STOP that stands in the inbox file, whoever wrote it. */
export function stopOf(entry: InboxEntry): StopView | undefined {
  if (entry.read || (entry.control !== 'stop' && entry.control !== 'abort')) return undefined;
  return { id: entry.id, type: entry.control, text: typeof entry.text === 'string' ? entry.text : '' };
}
