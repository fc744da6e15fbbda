// Splits a shell line into its simple commands, also those of its substitutions, in the order in which they run. One pass; what is
// nested too deep is not read, and said. Expands nothing: a word keeps marks for what only the shell knows. Pure.

import { quote, type RawCommand, type Syntax, unquote } from './shell-marks.ts';
import {
  ends,
  inner,
  type Reader,
  readArithmetic,
  readNested,
  readProcess,
  readQuoted,
  readWord,
  stopIfTooDeep,
} from './shell-reader.ts';

const start = { at: 0, depth: 0, isArithmetic: false, tooMuch: false };

export function parseShell(line: string): Syntax {
  const text = line.replace(/[\uE000-\uE1FF]/g, '?');
  const reader: Reader = { text, ...start, commands: readCommands, items: [], substitutions: [], pending: [] };
  readCommands(reader, '');
  return reader;
}

const blank = /[ \t\r]/;

/** Up to `closer`, which is passed. Gives the commands that stand in it. */
function readCommands(reader: Reader, closer: string, from?: RawCommand): RawCommand[] {
  const { text, items } = reader;
  const found: RawCommand[] = [];
  let now = empty();
  let start = reader.at;
  let last: RawCommand | undefined;
  let pipe: RawCommand | undefined;
  const endCommand = () => {
    if (now.words.length + now.writes.length + now.reads.length + now.texts.length > 0) {
      now.source = text.slice(start, reader.at).trim();
      now.from = pipe ?? from;
      items.push(now);
      found.push(now);
      last = now;
      pipe = undefined;
    }
    now = empty();
  };
  stopIfTooDeep(reader);
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
      const nested = readNested(reader, pipe ?? from);
      pipe = undefined;
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
      // The number before a redirection does not belong to the words of the command.
      if (!(/^\d{1,3}$/.test(word) && (next === '<' || next === '>'))) now.words.push(word);
    }
  }
  endCommand();
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
    let word = quote(body);
    if (!isQuoted) {
      inner(reader, body, (nested) => {
        word = readQuoted(nested, '');
      });
    }
    command.texts.push(word);
  }
}
