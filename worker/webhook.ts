// The webhook of a platform: its secret, size, decode, allowed chat and user, then the mailboxes. A stranger never reaches an object.

import { ask, type Bindings, mailboxOf } from './bindings.ts';
import type { Decoded, InboundEvent, Platform, PlatformKind } from './platform.ts';
import { connect } from './platforms.ts';

/** Counts since this instance of the Worker started; counting touches no object. */
export const edgeCounts = { foreign: 0, unreadable: 0, unknown: 0, service: 0 };

/** Seconds after which the platform brings the update again. A wrong setting heals by a deploy. */
const retryAfterSeconds = { failed: 5, full: 60, misconfigured: 60 };

/** 200 = committed, or ignored on purpose; 401, and 503 when the platform shall keep the update. `body` is bounded. */
export async function webhook(
  kind: PlatformKind,
  env: Bindings,
  headers: Headers,
  body: () => Promise<string>,
): Promise<Response> {
  if (!(await kind.isCaller(env, headers, body))) return new Response(null, { status: 401 });
  let platform: Platform;
  try {
    platform = connect(kind, env);
  } catch {
    return notStored(retryAfterSeconds.misconfigured);
  }
  return takeUpdate(env, platform, await body());
}

async function takeUpdate(env: Bindings, platform: Platform, body: string): Promise<Response> {
  const byChat = new Map<string, InboundEvent[]>();
  for (const decoded of decode(platform, body)) {
    if (!decoded.ok) edgeCounts[decoded.reason] += 1;
    else if (!isAllowed(platform, decoded)) edgeCounts.foreign += 1;
    else if (byChat.get(decoded.chatId)?.push(decoded.event) === undefined) byChat.set(decoded.chatId, [decoded.event]);
  }
  // All events: when the update comes again for one that was not stored, the stored ones are dropped as duplicates.
  const waits = await Promise.all([...byChat].map(([chatId, events]) => store(env, platform, chatId, events)));
  const longest = Math.max(0, ...waits);
  return longest > 0 ? notStored(longest) : new Response(null);
}

/** A delivery status comes from the platform itself; every other event needs an allowed user. */
function isAllowed({ chatIds, userIds }: Platform, { chatId, userId, event }: Decoded & { ok: true }): boolean {
  return chatIds.includes(chatId) && (event.kind === 'delivery' || (userId !== null && userIds.has(userId)));
}

/** Seconds after which the events are to come again; 0 = they are stored. */
async function store(
  env: Bindings,
  platform: Platform,
  chatId: string,
  events: readonly InboundEvent[],
): Promise<number> {
  try {
    const accepted = await ask(mailboxOf(env, platform, chatId), 'accept', events);
    return accepted === 'full' ? retryAfterSeconds.full : 0;
  } catch {
    return retryAfterSeconds.failed;
  }
}

/** A poison update must not block its chat: what cannot be read is counted and taken. */
function decode(platform: Platform, body: string): readonly Decoded[] {
  try {
    return platform.decode(JSON.parse(body));
  } catch {
    return [{ ok: false, reason: 'unreadable' }];
  }
}

/** The platform keeps the update. */
function notStored(seconds: number): Response {
  return new Response(null, { status: 503, headers: { 'retry-after': String(seconds) } });
}
