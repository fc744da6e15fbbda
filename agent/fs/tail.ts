// Reads a file to which another program appends lines, such as the session file of a coding agent: its end as one text, or line by
// line, so that its size costs time and not memory. Never waits for a pipe.

import { withOrdinary } from './raw-file.ts';

/** The part of one turn in a session file is far smaller. */
const maxTailBytes = 8 * 1024 * 1024;
/** A longer line holds nothing that wa-sync counts. */
const maxLineBytes = 8 * 1024 * 1024;
/** Fewer reads of a long file. */
const chunkBytes = 512 * 1024;

/** The file may be a link, because the user's own tool named it. */
const session = { followsLinks: true };

/**
 * The text from `offset` up to `until` or the end. Of more than `maxBytes`, the last whole lines. A file smaller than `offset` was
 * written anew and is read from its start. Throws the error of the system, or `file_unusable` for a special file.
 */
export function readFrom(
  path: string,
  offset: number,
  until = Number.POSITIVE_INFINITY,
  maxBytes = maxTailBytes,
): Promise<string> {
  return withOrdinary(path, session, async (handle, info) => {
    const size = Math.min(info.size, until);
    const wanted = offset > size ? 0 : offset;
    const start = Math.max(wanted, size - maxBytes);
    const buffer = Buffer.alloc(size - start);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
    const text = buffer.toString('utf8', 0, bytesRead);
    return start === wanted ? text : text.slice(text.indexOf('\n') + 1);
  });
}

export interface LinePart {
  from: number;
  /** Absent = the end. */
  to?: number;
  /** Absent = yes. */
  followsLinks?: boolean;
}

/**
 * Calls `onLine` with each whole line and its offset, from offset `from` up to `to`, except lines longer than 8 MiB, until it returns
 * false. Returns the offset after the last one. A file smaller than `from`, and errors: as in `readFrom`.
 */
export function eachLine(
  path: string,
  { from, to = Number.POSITIVE_INFINITY, followsLinks = true }: LinePart,
  onLine: (line: string, at: number) => unknown,
): Promise<number> {
  return withOrdinary(path, { followsLinks }, async (handle, { size }) => {
    const end = Math.min(to, size);
    let at = from > size ? 0 : from;
    const buffer = Buffer.alloc(Math.max(1, Math.min(chunkBytes, end - at)));
    let lineStart = at;
    let pieces: Buffer[] = [];
    while (at < end) {
      const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, end - at), at);
      if (bytesRead === 0) break;
      const chunk = buffer.subarray(0, bytesRead);
      let start = 0;
      for (let newline = chunk.indexOf(10); newline !== -1; newline = chunk.indexOf(10, start)) {
        const isTooLong = at + newline - lineStart > maxLineBytes;
        const line = () =>
          pieces.length === 0
            ? chunk.toString('utf8', start, newline)
            : Buffer.concat([...pieces, chunk.subarray(start, newline)]).toString('utf8');
        const goesOn = isTooLong || onLine(line(), lineStart) !== false;
        pieces = [];
        start = newline + 1;
        lineStart = at + start;
        if (!goesOn) return lineStart;
      }
      at += bytesRead;
      if (at - lineStart > maxLineBytes) pieces = [];
      else pieces.push(Buffer.from(chunk.subarray(start)));
    }
    return lineStart;
  });
}
