// What the reading of a shell line gives: commands whose words hold marks for what only the shell knows. Pure.

export interface RawCommand {
  /** Marked words: see `marks`. */
  words: string[];
  /** Files that `>` and its kin write. */
  writes: string[];
  /** Files that `<` reads: no arguments of the program. */
  reads: string[];
  /** Here-documents, as they stand, and here-strings. */
  texts: string[];
  /** As written. */
  source: string;
  /** Whose output it reads. */
  from: RawCommand | undefined;
}

/** `open` and `close`: what stands between runs in a shell of its own. */
export type Item = RawCommand | 'open' | 'close';

export interface Syntax {
  items: Item[];
  /** The commands of each substitution, by the number that its mark holds. */
  substitutions: RawCommand[][];
  /** The rest was not read. */
  tooMuch: boolean;
}

/** In marked words. A special character that was quoted is moved by `quoted`. */
export const marks = {
  unknown: '\uE000',
  /** `substitution` number `end` */
  substitution: '\uE001',
  /** `variable` expression `end`; `quotedVariable` where the value is no more than one word. */
  variable: '\uE002',
  quotedVariable: '\uE003',
  end: '\uE004',
  field: '\uE005',
} as const;
const quoted = 0xe100;
const special = /[$*?[\]{}~,`]/g;

export function quote(text: string): string {
  return text.replace(special, (char) => String.fromCharCode(quoted + char.charCodeAt(0)));
}

export function unquote(text: string): string {
  return text.replace(/[\uE100-\uE1FF]/g, (char) => String.fromCharCode(char.charCodeAt(0) - quoted));
}

/** Of `$'…'`, and of what `printf` and `echo -e` print. */
export function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-f]{1,2})|[uU]([0-9a-f]{1,8})|0?([0-7]{1,3})|(.))/gis,
    (_, hex, code, octal, char) => {
      if (char !== undefined) return escapes[char] ?? char;
      const point = hex || code ? Number.parseInt(hex ?? code, 16) : Number.parseInt(octal, 8);
      return point > 0x10ffff ? '' : String.fromCodePoint(point);
    },
  );
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r' };
