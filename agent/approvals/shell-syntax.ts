// Splits a shell line into its simple commands, also those of its substitutions, in the order in which they run. One pass; what is
// nested too deep is not read, and said. Expands nothing: a word keeps marks for what only the shell knows. Pure.

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

const maxDepth = 12;

interface Reader extends Syntax {
  text: string;
  at: number;
  depth: number;
  /** Within `((…))`: no second try for what may be one. */
  isArithmetic: boolean;
  /** Here-documents whose bodies begin behind the next line break. */
  pending: { command: RawCommand; end: string; isQuoted: boolean; cutsTabs: boolean }[];
}

const start = { at: 0, depth: 0, isArithmetic: false, tooMuch: false };

export function parseShell(line: string): Syntax {
  const text = line.replace(/[\uE000-\uE1FF]/g, '?');
  const reader: Reader = { text, ...start, items: [], substitutions: [], pending: [] };
  readCommands(reader, '');
  return reader;
}

/** Of the same line, but another text: a body, or what stands between backquotes. */
function inner(reader: Reader, text: string, read: (reader: Reader) => void): void {
  const nested: Reader = { ...reader, text, at: 0, depth: reader.depth + 1, pending: [] };
  if (nested.depth > maxDepth) reader.tooMuch = true;
  else read(nested);
  reader.tooMuch ||= nested.tooMuch;
}

const blank = /[ \t\r]/;
const ends = /[\s;&|()<>]/;

/** Up to `closer`, which is passed. Gives the commands that stand in it. */
function readCommands(reader: Reader, closer: string): RawCommand[] {
  const { text, items } = reader;
  const found: RawCommand[] = [];
  let now = empty();
  let start = reader.at;
  let last: RawCommand | undefined;
  let pipe: RawCommand | undefined;
  const endCommand = () => {
    if (now.words.length + now.writes.length + now.reads.length + now.texts.length > 0) {
      now.source = text.slice(start, reader.at).trim();
      now.from = pipe;
      items.push(now);
      found.push(now);
      last = now;
      pipe = undefined;
    }
    now = empty();
  };
  if (reader.depth > maxDepth) {
    reader.tooMuch = true;
    reader.at = text.length;
  }
  while (reader.at < text.length) {
    const char = text[reader.at] as string;
    if (char === '\n') {
      endCommand();
      reader.at += 1;
      readBodies(reader);
      start = reader.at;
    } else if (blank.test(char) || (char === '\\' && text[reader.at + 1] === '\n')) {
      reader.at += char === '\\' ? 2 : 1;
    } else if (char === '#') {
      const end = text.indexOf('\n', reader.at);
      reader.at = end < 0 ? text.length : end;
    } else if (char === ')') {
      endCommand();
      reader.at += 1;
      if (closer === ')') return found;
      if (reader.depth === 0) items.push('close');
      start = reader.at;
    } else if (char === '(') {
      endCommand();
      if (text[reader.at + 1] === '(' && readArithmetic(reader, reader.at)) {
        start = reader.at;
        continue;
      }
      reader.at += 1;
      const nested = readNested(reader);
      found.push(...nested);
      last = nested.at(-1) ?? last;
      start = reader.at;
    } else if (isFileMark(reader)) {
      readFileMark(reader, now);
    } else if (char === ';' || char === '&' || char === '|') {
      if (now.words[0] === '[[' && now.words.at(-1) !== ']]') {
        reader.at += 1;
        continue;
      }
      endCommand();
      const isPipe = char === '|' && text[reader.at + 1] !== '|';
      while (/[;&|]/.test(text[reader.at] ?? '')) reader.at += 1;
      pipe = isPipe ? last : undefined;
      start = reader.at;
    } else {
      const word = readWord(reader);
      const next = text[reader.at];
      // The number before a redirection is no word of the command.
      if (!(/^\d{1,3}$/.test(word) && (next === '<' || next === '>'))) now.words.push(word);
    }
  }
  endCommand();
  return found;
}

/** From behind a `(` to behind its `)`. */
function readNested(reader: Reader): RawCommand[] {
  reader.items.push('open');
  reader.depth += 1;
  const found = readCommands(reader, ')');
  reader.depth -= 1;
  reader.items.push('close');
  return found;
}

function empty(): RawCommand {
  return { words: [], writes: [], reads: [], texts: [], source: '', from: undefined };
}

/** `<`, `>`, `&>`; in `[[ … ]]` a comparison is read as one, too. */
function isFileMark({ text, at }: Reader): boolean {
  return text[at] === '>' || (text[at] === '<' && text[at + 1] !== '(') || (text[at] === '&' && text[at + 1] === '>');
}

function readFileMark(reader: Reader, now: RawCommand): void {
  const { text } = reader;
  const from = reader.at;
  while (/[<>&|]/.test(text[reader.at] ?? '') && reader.at - from < 3) reader.at += 1;
  let mark = text.slice(from, reader.at);
  if (mark.startsWith('<<') && mark !== '<<<') {
    // What follows `<<` is its own: `<<&`, `<<|` are not.
    reader.at = from + 2;
    mark = '<<';
  }
  const cutsTabs = mark === '<<' && text[reader.at] === '-';
  if (cutsTabs) reader.at += 1;
  if (text[reader.at] === '(' && /[<>]$/.test(mark)) {
    readProcess(reader);
    return;
  }
  while (blank.test(text[reader.at] ?? '')) reader.at += 1;
  const begin = reader.at;
  const isWord = reader.at < text.length && (!ends.test(text[reader.at] as string) || text[reader.at] === '<');
  const word = isWord ? readWord(reader) : '';
  if (mark === '<<') {
    const end = unquote(word);
    const isQuoted = /["'\\]/.test(text.slice(begin, reader.at));
    if (word !== '') reader.pending.push({ command: now, end, isQuoted, cutsTabs });
  } else if (mark === '<<<') {
    now.texts.push(word);
  } else if (word !== '' && !(mark.endsWith('&') && /^(\d+|-)$/.test(word))) {
    (mark.startsWith('<') ? now.reads : now.writes).push(word);
  }
}

/** `>(…)` behind a redirection: its commands run. */
function readProcess(reader: Reader): string {
  reader.at += 1;
  return substitution(reader, readNested(reader));
}

function substitution(reader: Reader, commands: RawCommand[]): string {
  reader.substitutions.push(commands);
  return marks.substitution + (reader.substitutions.length - 1) + marks.end;
}

function readBodies(reader: Reader): void {
  const { text, pending } = reader;
  for (const { command, end, isQuoted, cutsTabs } of pending.splice(0)) {
    const from = reader.at;
    let to = text.length;
    while (reader.at < text.length) {
      const lineEnd = text.indexOf('\n', reader.at);
      const stop = lineEnd < 0 ? text.length : lineEnd;
      const line = text.slice(reader.at, stop);
      const isEnd = (cutsTabs ? line.replace(/^\t+/, '') : line) === end;
      if (isEnd) to = reader.at;
      reader.at = Math.min(text.length, stop + 1);
      if (isEnd) break;
    }
    const body = text.slice(from, to);
    command.texts.push(quote(body));
    if (!isQuoted) inner(reader, body, (nested) => readQuoted(nested, ''));
  }
}

/** Up to what ends a word. */
function readWord(reader: Reader): string {
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
  reader.tooMuch ||= reader.depth > maxDepth;
  if (reader.depth > maxDepth) reader.at = text.length;
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
function readQuoted(reader: Reader, closer: string): string {
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
    commands = readCommands(nested, '');
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
  if (reader.depth > maxDepth) {
    reader.tooMuch = true;
    reader.at = text.length;
  }
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
function readArithmetic(reader: Reader, from: number): boolean {
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
