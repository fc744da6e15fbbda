// The line where a text stops being JSON: the parser's own message has none in Node 20, and quotes the file. Pure, never throws.

/** Nobody wrote that by hand. */
const maxChars = 1_000_000;

const token = /("[^"\\\p{Cc}]*(?:\\.[^"\\\p{Cc}]*)*")|(-?\d[\d.eE+-]*|true|false|null)(?!\w)|[{}[\],:]/uy;

type Place = 'value' | 'firstItem' | 'firstKey' | 'key' | 'colon' | 'end';

/** What may stand there; `s` = a text, `l` = any other value that is no container. */
const allowed: Record<Exclude<Place, 'end'>, string> = {
  value: 'sl{[',
  firstItem: 'sl{[]',
  firstKey: 's}',
  key: 's',
  colon: ':',
};

/** Counted from 1; undefined = nobody looked. For a text that `JSON.parse` refuses. */
export function lineOfMistake(text: string): number | undefined {
  if (text.length > maxChars) return undefined;
  const open: string[] = [];
  let place: Place = 'value';
  let at = skipSpace(text, 0);
  while (at < text.length) {
    token.lastIndex = at;
    const found = token.exec(text);
    if (!found) break;
    const kind = found[1] !== undefined ? 's' : found[2] !== undefined ? 'l' : found[0];
    const around = open.at(-1);
    const fits = place === 'end' ? (around === '{' ? ',}' : around === '[' ? ',]' : '') : allowed[place];
    if (!fits.includes(kind)) break;
    if (kind === '{' || kind === '[') open.push(kind);
    if (kind === '}' || kind === ']') open.pop();
    place = nextPlace(kind, place, around);
    at = skipSpace(text, token.lastIndex);
  }
  return text.slice(0, at).split('\n').length;
}

function nextPlace(kind: string, place: Place, around: string | undefined): Place {
  if (kind === '{') return 'firstKey';
  if (kind === '[') return 'firstItem';
  if (kind === ',') return around === '{' ? 'key' : 'value';
  if (kind === ':') return 'value';
  return place === 'key' || place === 'firstKey' ? (kind === 's' ? 'colon' : 'end') : 'end';
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (/[ \t\r\n]/.test(text[at] ?? '')) at += 1;
  return at;
}
