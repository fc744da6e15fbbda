// A held answer as a stream: newlines while the answer is open, then the one JSON object. Independent of the content.

import { hookLimits } from '../../protocol/limits.ts';

/**
 * Sends `keepAliveBytes` newlines at once and every `keepAliveMs` until `answer` resolves, then its text. `answer` must not
 * reject. A reader that goes away ends the newlines, and `onGone` is called.
 */
export function keptAlive(answer: Promise<string>, onGone: () => void): ReadableStream<Uint8Array> {
  const newlines = new Uint8Array(hookLimits.keepAliveBytes).fill(10);
  let timer: NodeJS.Timeout | undefined;
  return new ReadableStream({
    start(controller) {
      controller.enqueue(newlines);
      timer = setInterval(() => controller.enqueue(newlines), hookLimits.keepAliveMs);
      void answer.then((text) => {
        clearInterval(timer);
        try {
          controller.enqueue(new TextEncoder().encode(text));
          controller.close();
        } catch {
          // Cancelled: the reader is gone.
        }
      });
    },
    cancel() {
      clearInterval(timer);
      onGone();
    },
  });
}
