// Moves the platforms to the address at which the relay was just asked: a claimed account or a custom domain changes it, and only the
// relay has the credentials.

import { WaError } from '../protocol/errors.ts';
import type { RehomeAnswer, RehomeRequest } from '../protocol/webhook-api.ts';
import { ask, type Bindings, mailboxOf } from './bindings.ts';
import type { Platform } from './platform.ts';

/** Raises `bad_request` for an address that no platform may be sent to, `misconfigured`, and `rate_limited`, `platform_*`. */
export async function rehome(
  env: Bindings,
  platforms: readonly Platform[],
  address: string,
  { secret = 'current', sha256 }: RehomeRequest,
): Promise<RehomeAnswer> {
  const { protocol, hostname, origin } = new URL(address);
  if (protocol !== 'https:' && hostname !== '127.0.0.1') {
    throw new WaError('bad_request', `${origin} is not an https address`, {
      hint: 'ask the relay by its https address',
    });
  }
  const answers: RehomeAnswer['platforms'] = [];
  for (const platform of platforms) {
    const adoption = await platform.adoptHost(origin, { use: secret, sha256 });
    if (adoption.kind === 'failed') {
      const { code, reason, hint, afterMs } = adoption;
      throw new WaError(code, reason, {
        ...(hint === undefined ? {} : { hint }),
        ...(afterMs === undefined ? {} : { retryAfterMs: afterMs }),
      });
    }
    // The credentials work now: what waits because they did not is sent.
    await Promise.all(platform.chatIds.map((chatId) => ask(mailboxOf(env, platform, chatId), 'resume')));
    answers.push({ name: platform.name, url: adoption.url, pending: adoption.pending });
  }
  return { platforms: answers };
}
