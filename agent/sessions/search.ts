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
/** What is redacted around the excerpt, so that a cut secret is still known as one. */
const aroundChars = 2_000;
/** Stands in JSON as it is. */
const plain = /^[\w.:/@-]+$/;

/** Of the prompts and answers, the first `max`; upper and lower case are the same. Throws the error of the system, or `file_unusable`. */
export async function searchSession(
  file: SessionFileName,
  words: readonly string[],
  max: number,
  redact = (text: string) => text,
): Promise<Excerpt[]> {
  const wanted = words.map((word) => word.toLowerCase());
  const inJson = wanted.filter((word) => plain.test(word));
  const found: Excerpt[] = [];
  await readingOf(file, await startOf(file)).next(
    (event) => {
      if (event.type !== 'prompt' && event.type !== 'answer') return true;
      const text = event.text.toLowerCase();
      if (!wanted.every((word) => text.includes(word))) return true;
      found.push({ by: event.type, text: excerpt(event.text, wanted[0] ?? '', redact) });
      return found.length < max;
    },
    (line) => {
      const text = line.toLowerCase();
      return inJson.every((word) => text.includes(word));
    },
  );
  return found.slice(0, max);
}

function excerpt(text: string, word: string, redact: (text: string) => string): string {
  const at = text.toLowerCase().indexOf(word);
  const around = redact(text.slice(Math.max(0, at - aroundChars), at + aroundChars));
  return oneLine(around.slice(Math.max(0, around.toLowerCase().indexOf(word) - before)), excerptChars);
}
