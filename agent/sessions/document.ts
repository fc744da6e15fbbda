// Reads a session file that is one JSON document piece by piece, so that its size costs time and not memory. Never waits for a pipe.

import { withOrdinary } from '../fs/raw-file.ts';

const chunkBytes = 512 * 1024;
/** A larger object holds nothing that wa-sync shows. */
const maxElementBytes = 8 * 1024 * 1024;
const [quote, backslash, open, close, openList, closeList] = Buffer.from('"\\{}[]');
const [brace, bracket] = ['{', '['];

/**
 * Calls `onLine` with the text of each object that stands in a list of the document, in order, until it returns false; before the
 * first one with the fields in front of that list, as an object of their own. Follows no link. Garbage calls nothing. Throws the error of the system, or
 * `file_unusable` for a special file.
 */
export function eachElement(path: string, onLine: (line: string) => unknown): Promise<void> {
  return withOrdinary(path, {}, async (handle, { size }) => {
    const scanner = createScanner(onLine);
    const buffer = Buffer.alloc(chunkBytes);
    for (let at = 0; at < size; ) {
      const { bytesRead } = await handle.read(buffer, 0, chunkBytes, at);
      if (bytesRead === 0 || !scanner(buffer.subarray(0, bytesRead))) return;
      at += bytesRead;
    }
  });
}

/** False = nothing more is wanted. */
function createScanner(onLine: (line: string) => unknown): (chunk: Buffer) => boolean {
  /** How many brackets are open, and which the outer two of them are. */
  let depth = 0;
  let outer = '';
  let inText = false;
  let isEscaped = false;
  let head: Buffer[] | undefined = [];
  let element: Buffer[] | undefined;
  let elementBytes = 0;

  const isList = () => depth === 2 && outer === `${brace}${bracket}`;
  const emit = (pieces: readonly Buffer[], end: string) =>
    onLine(`${Buffer.concat(pieces).toString('utf8')}${end}`) !== false;
  const keep = (part: Buffer) => {
    const into = element ?? head;
    if (into === undefined) return;
    elementBytes += part.length;
    if (elementBytes <= maxElementBytes) into.push(Buffer.from(part));
  };

  return (chunk) => {
    let start = 0;
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i];
      if (inText) {
        if (isEscaped) isEscaped = false;
        else if (byte === backslash) isEscaped = true;
        else if (byte === quote) inText = false;
        continue;
      }
      if (byte === quote) inText = true;
      else if (byte === open || byte === openList) {
        if (byte === open && isList()) {
          if (head) {
            keep(chunk.subarray(start, i));
            const front = head;
            head = undefined;
            if (elementBytes <= maxElementBytes && !emit(front, ']}')) return false;
          }
          element = [];
          elementBytes = 0;
          start = i;
        }
        if (depth < 2) outer = outer.slice(0, depth) + (byte === open ? brace : bracket);
        depth += 1;
      } else if (byte === close || byte === closeList) {
        depth = Math.max(0, depth - 1);
        if (!element || !isList()) continue;
        keep(chunk.subarray(start, i + 1));
        const whole = element;
        element = undefined;
        start = i + 1;
        if (elementBytes <= maxElementBytes && !emit(whole, '')) return false;
      }
    }
    keep(chunk.subarray(start));
    return true;
  };
}
