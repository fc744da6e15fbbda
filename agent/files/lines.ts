// Reads a large file that another program appends to line by line, such as a coding agent's session file: in pieces, so that its
// size costs time and never memory. Never waits for a pipe.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { notOrdinary } from './raw-file.ts';

const chunkBytes = 64 * 1024;
/** A longer line is passed over: nothing that we count stands in it. */
const maxLineBytes = 8 * 1024 * 1024;

/**
 * Gives `onLine` each whole line from `from` on, up to `to` or the end, and returns where the last of them ended. A file that
 * shrank below `from` was written anew: read whole. Throws what the system says, or `file_unusable` for what is no ordinary file.
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
