// Finds the messages of a session that have all of some words.

import { oneLine } from '../../protocol/lines.ts';
import { readingOf, type SessionFileName, startOf } from './read.ts';

export interface Excerpt {
  by: 'prompt' | 'answer';
  /** One line around the first word. */
  text: string;
}

const before = 60;
const excerptChars = 160;
/** Stands in JSON as it is. */
const plain = /^[\w.:/@-]+$/;

/** Of the prompts and answers, the first `max`; upper and lower case are the same. Throws the error of the system, or `file_unusable`. */
export async function searchSession(file: SessionFileName, words: readonly string[], max: number): Promise<Excerpt[]> {
  const wanted = words.map((word) => word.toLowerCase());
  const inJson = wanted.filter((word) => plain.test(word));
  const found: Excerpt[] = [];
  await readingOf(file, await startOf(file)).next(
    (event) => {
      if (event.type !== 'prompt' && event.type !== 'answer') return true;
      const text = event.text.toLowerCase();
      if (!wanted.every((word) => text.includes(word))) return true;
      const start = Math.max(0, text.indexOf(wanted[0] ?? '') - before);
      found.push({ by: event.type, text: oneLine(event.text.slice(start), excerptChars) });
      return found.length < max;
    },
    (line) => {
      const text = line.toLowerCase();
      return inJson.every((word) => text.includes(word));
    },
  );
  return found;
}
