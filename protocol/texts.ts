// What the phone reads: one object per language, all of one type. Pure.

import type { Language } from './languages.ts';
import { de } from './texts/de/de.ts';
import { en } from './texts/en/en.ts';

export type Texts = typeof en;

const texts: Readonly<Record<Language, Texts>> = { en, de };

export function textsIn(language: Language): Texts {
  return texts[language];
}
