// Reads the end of a file that another program appends to, such as a coding agent's session file. Never waits for a pipe.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { notOrdinary } from './raw-file.ts';

/** A turn's part of a session file is far smaller; of a larger one the end counts. */
const maxTailBytes = 8 * 1024 * 1024;

/**
 * The text from `offset` on, to `until` where that is given, starting at a line boundary; at most `maxBytes` of it. A file that shrank below `offset` was written anew: read whole.
 * Throws what the system says, or `file_unusable` for what is no ordinary file.
 */
export async function readFrom(
  path: string,
  offset: number,
  until = Number.POSITIVE_INFINITY,
  maxBytes = maxTailBytes,
): Promise<string> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const info = await handle.stat();
    if (!info.isFile()) throw notOrdinary(path);
    const size = Math.min(info.size, until);
    const wanted = offset > size ? 0 : offset;
    const start = Math.max(wanted, size - maxBytes);
    const buffer = Buffer.alloc(size - start);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
    const text = buffer.toString('utf8', 0, bytesRead);
    return start === wanted ? text : text.slice(text.indexOf('\n') + 1);
  } finally {
    await handle.close();
  }
}
