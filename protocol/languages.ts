// The languages of the phone's texts. Pure.

/** By the subtag of BCP 47; each is called by its own name. */
export const languages = { en: 'English', de: 'Deutsch' } as const;

export type Language = keyof typeof languages;

export function isLanguage(value: unknown): value is Language {
  return typeof value === 'string' && Object.hasOwn(languages, value);
}

/** The language of a tag like `de-AT`; English where it is none of ours. */
export function languageOfTag(tag: string): Language {
  const [first] = tag.toLowerCase().split(/[-_]/, 1);
  return isLanguage(first) ? first : 'en';
}
