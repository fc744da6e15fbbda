// Makes the topic of a project in a chat, once for each name until a daemon serves it.

import { WaError } from '../protocol/errors.ts';
import { ask, type MailboxStub } from './bindings.ts';
import type { Platform } from './platform.ts';

/** The number of the topic. Raises `no_topics`, `rate_limited`, and `platform_*` when the platform does not answer. */
export async function makeTopic(stub: MailboxStub, platform: Platform, chatId: string, name: string): Promise<number> {
  // The answer to an earlier request may have been lost.
  const known = await ask(stub, 'freeTopic', name);
  if (known !== null) return known;
  const outcome = await platform.createTopic(chatId, name);
  if (outcome.kind === 'failed') {
    const { code, reason, hint, afterMs: retryAfterMs } = outcome;
    throw new WaError(code, reason, {
      ...(hint === undefined ? {} : { hint }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  }
  await ask(stub, 'addTopic', outcome.topic, name);
  return outcome.topic;
}
