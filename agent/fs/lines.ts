// Reads a large file to which another program appends lines, such as the session file of a coding agent: in pieces, so that the size
// costs time and not memory. Never waits for a pipe.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { notOrdinary } from './raw-file.ts';

const chunkBytes = 64 * 1024;
/** A longer line is skipped: it holds nothing that wa-sync counts. */
const maxLineBytes = 8 * 1024 * 1024;

/**
 * Calls `onLine` with each whole line from offset `from` up to `to` or the end, and returns the offset after the last one. A file
 * smaller than `from` was written anew and is read whole. Throws the error of the system, or `file_unusable` for a special file.
 */
export async function eachLine(
  path: string,
  { from, to = Number.POSITIVE_INFINITY }: { from: number; to?: number },
  onLine: (line: string) => void,
): Promise<number> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const info = await handle.stat();
    if (!info.isFile()) throw notOrdinary(path);
    const end = Math.min(to, info.size);
    let at = from > info.size ? 0 : from;
    let whole = at;
    let begun: Buffer[] = [];
    let begunBytes = 0;
    const buffer = Buffer.alloc(chunkBytes);
    while (at < end) {
      const { bytesRead } = await handle.read(buffer, 0, Math.min(chunkBytes, end - at), at);
      if (bytesRead === 0) break;
      let start = 0;
      for (;;) {
        const newline = buffer.subarray(0, bytesRead).indexOf(10, start);
        const piece = buffer.subarray(start, newline === -1 ? bytesRead : newline);
        begunBytes += piece.length;
        if (begunBytes > maxLineBytes) begun = [];
        else begun.push(newline === -1 ? Buffer.from(piece) : piece);
        if (newline === -1) break;
        if (begunBytes <= maxLineBytes) onLine(Buffer.concat(begun).toString('utf8'));
        begun = [];
        begunBytes = 0;
        start = newline + 1;
        whole = at + start;
      }
      at += bytesRead;
    }
    return whole;
  } finally {
    await handle.close();
  }
}
