// The language of the chat: the one that the owner chose, else that of the phone's first word.

import { isLanguage, type Language, languageOfTag } from '../../protocol/languages.ts';
import { type Texts, textsIn } from '../../protocol/texts.ts';
import type { Core } from './core.ts';
import { getMeta, setMeta } from './tables/schema.ts';

export function languageOf({ sql }: Core): Language {
  const stored = getMeta(sql, 'language');
  return isLanguage(stored) ? stored : 'en';
}

export function textsOf(core: Core): Texts {
  return textsIn(languageOf(core));
}

export function setLanguage({ sql }: Core, language: Language): void {
  setMeta(sql, 'language', language);
}

/** `tag` = the language of the phone, as BCP 47 writes it. Only the first one counts. */
export function noteLanguage(core: Core, tag: string | undefined): void {
  if (tag === undefined || getMeta(core.sql, 'language') !== undefined) return;
  setLanguage(core, languageOfTag(tag));
}
