// New secrets for a relay that runs: in an order in which each moment has a secret that both sides know, so that no message and no
// update is refused. Each may be killed anywhere and run again: what to do is read from the relay, never from notes on this machine.

import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type ErrorCode, WaError } from '../../protocol/errors.ts';
import type { RehomeRequest } from '../../protocol/webhook-api.ts';
import { createRelayClient, type RelayClient, type RelayPair } from '../relay/client.ts';
import type { Cloudflare, Place, Standing } from './cloudflare/client.ts';
import { absent, nameTaken } from './cloudflare/deploy.ts';

export interface RotateOptions {
  cloudflare: Cloudflare;
  place: Place;
  /** Of config.json. */
  relay: RelayPair;
  /** How long a new version of the relay may take until it answers everywhere. */
  withinMs?: number;
}

/** Errors: `relay_not_ready`, and those of Cloudflare, of the relay and of the two functions. */
export async function rotateAgent(
  { cloudflare, place, relay, withinMs }: RotateOptions,
  /** Puts the token into config.json, durably. */
  keepToken: (token: string) => Promise<void>,
  /** Has a running daemon read config.json again. Raises when a daemon goes on with another token. */
  tellDaemon: () => Promise<void>,
): Promise<void> {
  await relayAt(cloudflare, place);
  // After a run that was killed the daemon may have the token before this one, which the next change would refuse.
  await tellDaemon();
  const token = randomBytes(32).toString('base64url');
  const change = (...tokens: string[]) =>
    cloudflare.changeSecrets(place, { WA_AGENT_TOKEN_SHA256: tokens.map(sha256).join(',') });
  await change(relay.token, token);
  await withClient({ url: relay.url, token }, (client) => settled(() => client.status(), withinMs));
  await keepToken(token);
  await tellDaemon();
  await change(token);
  await withClient({ url: relay.url, token }, (client) => settled(() => client.status(), withinMs));
}

const nextSecret = 'TELEGRAM_WEBHOOK_SECRET_NEXT';

/**
 * The relay accepts two secrets meanwhile; the platform is moved to the second and back to a new first one. Errors: as `rotateAgent`,
 * and those of the platform.
 */
export async function rotateWebhook({ cloudflare, place, relay, withinMs }: RotateOptions): Promise<void> {
  const { secrets } = await relayAt(cloudflare, place);
  await withClient(relay, async (client) => {
    const move = (request: RehomeRequest) => settled(() => client.rehome(request), withinMs);
    if (secrets.includes(nextSecret)) {
      // A run that was killed: the platform may use either.
      await move({ secret: 'next' });
    } else {
      const next = randomBytes(32).toString('hex');
      await cloudflare.changeSecrets(place, { [nextSecret]: next });
      await move({ secret: 'next', sha256: sha256(next) });
    }
    const current = randomBytes(32).toString('hex');
    await cloudflare.changeSecrets(place, { TELEGRAM_WEBHOOK_SECRET: current });
    await move({ secret: 'current', sha256: sha256(current) });
    await cloudflare.changeSecrets(place, { [nextSecret]: null });
  });
}

/** `botId`: whose token it is, as the platform says. Errors: `other_bot`, and as `rotateWebhook`. */
export async function rotateBot(
  { cloudflare, place, relay, withinMs }: RotateOptions,
  { token, botId }: { token: string; botId: string },
): Promise<void> {
  await relayAt(cloudflare, place);
  await withClient(relay, async (client) => {
    const { platforms } = await client.status();
    if (!platforms.some(({ account }) => account === botId)) {
      const known = platforms.map(({ account }) => account).join(', ');
      throw new WaError('other_bot', `this is the token of the bot ${botId}, the relay serves ${known}`, {
        hint: 'Take a new token of the same bot: @BotFather, /revoke. For another bot, run `wa-sync setup bot`.',
      });
    }
    await cloudflare.changeSecrets(place, { TELEGRAM_BOT_TOKEN: token });
    await settled(() => client.rehome({ secret: 'current' }), withinMs);
  });
}

/** Errors: `not_found`, `worker_name_taken`. */
async function relayAt(cloudflare: Cloudflare, place: Place): Promise<Standing & { kind: 'relay' }> {
  const standing = await cloudflare.inspect(place);
  if (standing.kind === 'absent') throw absent(place);
  if (standing.kind === 'foreign') throw nameTaken(place);
  return standing;
}

async function withClient<T>(relay: RelayPair, work: (client: RelayClient) => Promise<T>): Promise<T> {
  const client = createRelayClient(relay);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** What an instance answers that has the former settings, or is just being replaced. */
const passing: readonly ErrorCode[] = [
  'unauthorized',
  'misconfigured',
  'platform_unauthorized',
  'platform_unreachable',
  'platform_conflict',
  'relay_unreachable',
  'relay_bad_answer',
  'relay_error',
  'storage_failed',
];
const settledWithinMs = 60_000;
const longestPauseMs = 3_000;

/** Errors: `relay_not_ready` with the last error as its cause; any other error of `call` at once. */
async function settled<T>(call: () => Promise<T>, withinMs = settledWithinMs): Promise<T> {
  const over = AbortSignal.timeout(withinMs);
  for (let pauseMs = 200; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await call();
    } catch (cause) {
      if (!(cause instanceof WaError) || !passing.includes(cause.code)) throw cause;
      if (over.aborted) {
        throw new WaError('relay_not_ready', `the relay does not have its new secret yet: ${cause.message}`, {
          hint: 'Run the same command again: it goes on, and what worked before works until then.',
          cause,
        });
      }
      await delay(pauseMs, undefined, { signal: over }).catch(() => {});
    }
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
