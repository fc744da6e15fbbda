// What the phone reads: one object per language, all of one type. Pure.

import type { Language } from './languages.ts';
import { de } from './texts/de/de.ts';
import { en } from './texts/en/en.ts';

export type Texts = typeof en;

const texts: Readonly<Record<Language, Texts>> = { en, de };

/** Without a language, English. */
export function textsIn(language: Language | undefined): Texts {
  return texts[language ?? 'en'];
}
