// Reads one session file over time: the events of the lines that are new. Its size costs time and not memory.

import { stat } from 'node:fs/promises';
import { sessionFilesOf } from '../drivers/session-files.ts';
import type { SessionEvent } from '../drivers/sessions.ts';
import { eachLine } from '../fs/tail.ts';
import { eachElement } from './document.ts';

export interface SessionFileName {
  agent: string;
  path: string;
}

export interface SessionReading {
  /**
   * Calls `onEvent` with what is new since the last call, in order, until it returns false; then the next call goes on behind that
   * line. Of a line that is not yet whole nothing. Throws the error of the system, or `file_unusable` for a link and a special file.
   */
  next(onEvent: (event: SessionEvent) => unknown): Promise<void>;
  /** The offset behind the last line that was read. */
  readonly position: number;
}

/** `from` = an offset behind a line; absent = the start. */
export function readingOf({ agent, path }: SessionFileName, from = 0): SessionReading {
  const files = sessionFilesOf(agent);
  let reader = files?.reader();
  let position = from;
  return {
    get position() {
      return position;
    },
    async next(onEvent) {
      const onLine = (line: string) => {
        for (const event of reader?.(line) ?? []) if (onEvent(event) === false) return false;
        return true;
      };
      const { size } = await stat(path);
      if (isDocument(path)) {
        // Written anew with each message; the reader knows what it has seen.
        if (size !== position) await eachElement(path, onLine);
        position = size;
        return;
      }
      // Written anew.
      if (size < position) reader = files?.reader();
      position = await eachLine(path, { from: position, followsLinks: false }, onLine);
    },
  };
}

/** One JSON document, as older versions of an agent write it. */
function isDocument(path: string): boolean {
  return path.endsWith('.json');
}
