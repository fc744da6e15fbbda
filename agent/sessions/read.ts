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
   * Calls `onEvent` with what is new since the last call, in order, until the end of a line of which it returned false; the next call goes
   * on behind that line. Of a line that is not yet whole nothing; with `wants` nothing of the lines that it refuses unparsed. Throws the error of the
   * system, or `file_unusable` for a link and a special file.
   */
  next(onEvent: (event: SessionEvent) => unknown, wants?: (line: string) => boolean): Promise<void>;
  /** Whether the last call came to the end of the file. */
  readonly isAtEnd: boolean;
  /** The offset behind the last line that was read. */
  readonly position: number;
}

/** `from` = an offset behind a line; absent = the start. */
export function readingOf({ agent, path }: SessionFileName, from = 0): SessionReading {
  const files = sessionFilesOf(agent);
  let reader = files?.reader();
  let position = from;
  let isAtEnd = false;
  return {
    get position() {
      return position;
    },
    get isAtEnd() {
      return isAtEnd;
    },
    async next(onEvent, wants) {
      const onLine = (line: string) => {
        if (wants?.(line) === false) return true;
        let goesOn = true;
        for (const event of reader?.(line) ?? []) goesOn = onEvent(event) !== false && goesOn;
        isAtEnd = goesOn;
        return goesOn;
      };
      isAtEnd = true;
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

/**
 * Only the first and the last `bytes` of the file, without the lines that these cut. Throws as `SessionReading`.
 */
export async function readEnds(
  { agent, path }: SessionFileName,
  bytes: number,
  onEvent: (event: SessionEvent) => unknown,
): Promise<void> {
  const reader = sessionFilesOf(agent)?.reader();
  const onLine = (line: string) => {
    for (const event of reader?.(line) ?? []) onEvent(event);
  };
  const { size } = await stat(path);
  await eachLine(path, { from: 0, to: bytes, followsLinks: false }, onLine);
  await eachLine(path, { from: Math.max(bytes, size - bytes), followsLinks: false }, onLine);
}

/** The offset of the line with which the conversation begins, as the agent itself would show it. Throws as `SessionReading`. */
export async function startOf({ agent, path }: SessionFileName): Promise<number> {
  const startsOver = sessionFilesOf(agent)?.startsOver;
  let start = 0;
  if (!startsOver || isDocument(path)) return start;
  await eachLine(path, { from: 0, followsLinks: false }, (line, at) => {
    if (startsOver(line)) start = at;
  });
  return start;
}

/** One JSON document, as older versions of an agent write it. */
export function isDocument(path: string): boolean {
  return path.endsWith('.json');
}
