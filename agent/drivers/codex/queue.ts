// Codex's own queue: its program hands a prompt to a thread, which takes it as the words of its user as soon as it is idle. Pure.

import { basename, dirname } from 'node:path';
import type { QueueRun } from '../workstation.ts';

/** The arguments are one word each, so that no text is taken for an option. */
export function queueRun({ id, transcript }: { id: string; transcript: string | undefined }, prompt: string): QueueRun {
  const home = homeOf(transcript);
  return {
    args: ['queue', `--thread=${id}`, `--message=${prompt}`],
    variables: home === undefined ? {} : { CODEX_HOME: home },
  };
}

/** The settings folder of the session, from the place of its file: `<home>/sessions/2026/11/22/rollout-….jsonl`. */
function homeOf(transcript: string | undefined): string | undefined {
  if (transcript === undefined) return undefined;
  const sessions = dirname(dirname(dirname(dirname(transcript))));
  return basename(sessions) === 'sessions' ? dirname(sessions) : undefined;
}
