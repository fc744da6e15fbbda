// Reads a word of a shell line: quotes, `$…`, backquotes, and by way of `commands` what runs in a substitution. Expands nothing. Pure.

import { marks, quote, type RawCommand, type Syntax, unescaped } from './shell-marks.ts';

const maxDepth = 12;

export interface Reader extends Syntax {
  text: string;
  at: number;
  depth: number;
  /** Reads commands up to `closer`, which is passed, and gives them. Without a pipe of their own they read the output of `from`. */
  commands(this: void, reader: Reader, closer: string, from?: RawCommand): RawCommand[];
  /** Within `((…))`: no second try for what may be one. */
  isArithmetic: boolean;
  /** Here-documents whose bodies begin behind the next line break. */
  pending: { command: RawCommand; end: string; isQuoted: boolean; cutsTabs: boolean }[];
}

/** Beyond the limit the rest is not read. */
export function stopIfTooDeep(reader: Reader): void {
  if (reader.depth <= maxDepth) return;
  reader.tooMuch = true;
  reader.at = reader.text.length;
}

/** Of the same line, but another text: a body, or what stands between backquotes. */
export function inner(reader: Reader, text: string, read: (reader: Reader) => void): void {
  const nested: Reader = { ...reader, text, at: 0, depth: reader.depth + 1, pending: [] };
  if (nested.depth > maxDepth) reader.tooMuch = true;
  else read(nested);
  reader.tooMuch ||= nested.tooMuch;
}

/** From behind a `(` to behind its `)`. */
export function readNested(reader: Reader, from?: RawCommand): RawCommand[] {
  reader.items.push('open');
  reader.depth += 1;
  const found = reader.commands(reader, ')', from);
  reader.depth -= 1;
  reader.items.push('close');
  return found;
}

/** `>(…)` behind a redirection: its commands run. */
export function readProcess(reader: Reader): string {
  reader.at += 1;
  return substitution(reader, readNested(reader));
}

function substitution(reader: Reader, commands: RawCommand[]): string {
  reader.substitutions.push(commands);
  return marks.substitution + (reader.substitutions.length - 1) + marks.end;
}

export const ends = /[\s;&|()<>]/;

/** Up to what ends a word. */
export function readWord(reader: Reader): string {
  const { text } = reader;
  let word = '';
  while (reader.at < text.length) {
    const char = text[reader.at] as string;
    if (char === '(' && /^[A-Za-z_]\w{0,60}\+?=$/.test(word)) {
      word += readArray(reader);
    } else if (char === '<' && text[reader.at + 1] === '(') {
      reader.at += 1;
      word += readProcess(reader);
    } else if (ends.test(char)) {
      // In `[[ $a == (b|c) ]]` and the like.
      if (word === '') {
        reader.at += 1;
        word = quote(char);
      }
      break;
    } else {
      word += readPart(reader, char);
    }
  }
  return word;
}

function readPart(reader: Reader, char: string): string {
  const { text } = reader;
  reader.at += 1;
  if (char === "'") {
    const end = text.indexOf("'", reader.at);
    const part = text.slice(reader.at, end < 0 ? undefined : end);
    reader.at = end < 0 ? text.length : end + 1;
    return quote(part);
  }
  if (char === '"') return readQuoted(reader, '"');
  if (char === '\\') {
    const next = text[reader.at] ?? '';
    reader.at += 1;
    return next === '\n' ? '' : quote(next);
  }
  if (char === '`') return readBackquotes(reader);
  if (char === '$') return readDollar(reader, false);
  return char;
}

/** `x=(a b)`: the words, one behind the other. */
function readArray(reader: Reader): string {
  const { text } = reader;
  reader.at += 1;
  reader.depth += 1;
  stopIfTooDeep(reader);
  let words = '';
  while (reader.at < text.length && text[reader.at] !== ')') {
    if (/[\s;&|<>(]/.test(text[reader.at] as string)) reader.at += 1;
    else words += `${words === '' ? '' : marks.field}${readWord(reader)}`;
  }
  reader.at += 1;
  reader.depth -= 1;
  return words;
}

/** Between double quotes, of which the second is passed; in a here-document up to the end. */
export function readQuoted(reader: Reader, closer: string): string {
  const { text } = reader;
  let word = '';
  while (reader.at < text.length) {
    const char = text[reader.at] as string;
    reader.at += 1;
    if (char === closer) break;
    if (char === '\\' && /[$`"\\\n]/.test(text[reader.at] ?? '')) {
      word += text[reader.at] === '\n' ? '' : quote(text[reader.at] as string);
      reader.at += 1;
    } else if (char === '`') word += readBackquotes(reader);
    else if (char === '$') word += readDollar(reader, true);
    else word += quote(char);
  }
  return word;
}

function readBackquotes(reader: Reader): string {
  const { text } = reader;
  const from = reader.at;
  while (reader.at < text.length && text[reader.at] !== '`') reader.at += text[reader.at] === '\\' ? 2 : 1;
  const script = text.slice(from, reader.at).replace(/\\([`\\$])/g, '$1');
  reader.at += 1;
  let commands: RawCommand[] = [];
  reader.items.push('open');
  inner(reader, script, (nested) => {
    commands = nested.commands(nested, '');
  });
  reader.items.push('close');
  return substitution(reader, commands);
}

/** Behind a `$`. */
function readDollar(reader: Reader, isQuoted: boolean): string {
  const { text, at } = reader;
  const next = text[at] ?? '';
  if (next === '(') {
    if (text[at + 1] === '(' && readArithmetic(reader, at)) return '0';
    reader.at += 1;
    return substitution(reader, readNested(reader));
  }
  const mark = isQuoted ? marks.quotedVariable : marks.variable;
  if (next === '{') {
    reader.at += 1;
    return mark + readBraced(reader) + marks.end;
  }
  if (!isQuoted && next === "'") {
    const from = at + 1;
    reader.at = from;
    while (reader.at < text.length && text[reader.at] !== "'") reader.at += text[reader.at] === '\\' ? 2 : 1;
    const part = text.slice(from, reader.at);
    reader.at += 1;
    return quote(unescaped(part));
  }
  if (!isQuoted && next === '"') {
    reader.at += 1;
    return readQuoted(reader, '"');
  }
  if (!/[\w@*#?$!-]/.test(next)) return quote('$');
  const name = /^(?:[A-Za-z_]\w{0,255}|[0-9@*#?$!-])/.exec(text.slice(at, at + 256))?.[0];
  if (name === undefined) return quote('$');
  reader.at += name.length;
  return mark + name + marks.end;
}

/** Behind `${`, up to its `}`, which is passed. */
function readBraced(reader: Reader): string {
  const { text } = reader;
  reader.depth += 1;
  let expression = '';
  stopIfTooDeep(reader);
  while (reader.at < text.length) {
    const char = text[reader.at] as string;
    if (char === '}') break;
    expression += readPart(reader, char);
  }
  reader.at += 1;
  reader.depth -= 1;
  return expression;
}

/** `((…))` from its first `(`; false = a shell in a shell, nothing was read. Commands in it are found all the same. */
export function readArithmetic(reader: Reader, from: number): boolean {
  const { text } = reader;
  if (reader.isArithmetic) return false;
  let depth = 0;
  reader.isArithmetic = true;
  reader.depth += 1;
  reader.tooMuch ||= reader.depth > maxDepth;
  for (reader.at = from; reader.at < text.length && reader.depth <= maxDepth; ) {
    const char = text[reader.at] as string;
    reader.at += 1;
    if (char === '(') depth += 1;
    else if (char === ')') depth -= 1;
    else if (char === '`') readBackquotes(reader);
    else if (char === '$') readDollar(reader, true);
    if (depth > 1 || (depth === 1 && reader.at === from + 1)) continue;
    if (depth === 0) break;
    if (text[reader.at] !== ')') break;
  }
  reader.depth -= 1;
  reader.isArithmetic = false;
  if (depth === 0 && text[reader.at - 2] === ')') return true;
  reader.at = from;
  return false;
}
