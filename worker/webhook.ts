// The webhook's decisions: decode, allowed chat and user, then the mailbox. A stranger never reaches an object.

import { mailboxName } from '../protocol/ids.ts';
import type { Bindings } from './bindings.ts';
import type { Settings } from './env.ts';
import type { EdgeCounts } from './metrics.ts';
import type { Decoded, Platform } from './platform.ts';

/** Counts since this instance of the Worker started. */
export const edgeCounts: EdgeCounts = { foreign: 0, unreadable: 0, unknown: 0, service: 0 };

/** Seconds after which the platform brings the update again. */
const retryAfterSeconds = { failed: 5, full: 60 };

export async function takeUpdate(
  env: Bindings,
  settings: Settings,
  platform: Platform,
  body: string,
): Promise<Response> {
  const decoded = decode(platform, body);
  if (!decoded.ok) return ignored(decoded.reason);
  const { chatId, userId, event } = decoded;
  if (!settings.chatIds.includes(chatId) || userId === null || !settings.userIds.has(userId)) return ignored('foreign');
  try {
    const answer = await env.MAILBOX.getByName(mailboxName(settings.botId, chatId)).accept(event);
    if (!answer.ok) return notStored(retryAfterSeconds.failed);
    return answer.value === 'full' ? notStored(retryAfterSeconds.full) : new Response(null);
  } catch {
    return notStored(retryAfterSeconds.failed);
  }
}

/** A poison update must not block its chat: what cannot be read is counted and taken. */
function decode(platform: Platform, body: string): Decoded {
  try {
    return platform.decode(JSON.parse(body));
  } catch {
    return { ok: false, reason: 'unreadable' };
  }
}

function ignored(reason: keyof EdgeCounts): Response {
  edgeCounts[reason] += 1;
  return new Response(null);
}

/** The platform keeps the update. */
export function notStored(seconds: number): Response {
  return new Response(null, { status: 503, headers: { 'retry-after': String(seconds) } });
}
