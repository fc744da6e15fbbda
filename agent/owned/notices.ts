// Warnings and errors of an agent that are no end of a prompt: while one runs they wait for its end, which may say the same.

import type { Failures } from './agent-error.ts';
import type { OwnedEvent } from './owned.ts';

type Notice = Extract<OwnedEvent, { type: 'notice' }>;

/** Of one prompt; an agent that warns more often says the same. */
const maxNotices = 3;

/** `isOurs` = the words are those of wa-sync. */
export function createNotices(tell: (text: string, isOurs: boolean) => void, texts: () => Failures) {
  const waiting = new Map<string, boolean>();
  return {
    take({ severity, text, says }: Notice, isRunning: boolean): void {
      if (severity === 'info') return;
      const words = says?.(texts()) ?? text;
      if (!isRunning) tell(words, says !== undefined);
      else if (waiting.size < maxNotices) waiting.set(words, says !== undefined);
    },
    /** The prompt is over, with this error if with any. */
    over(error: string | undefined): void {
      for (const [text, isOurs] of waiting) if (!error?.includes(text)) tell(text, isOurs);
      waiting.clear();
    },
  };
}
