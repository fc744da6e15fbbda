// A temporary account at Cloudflare, for who has none: terms that a person accepts, a proof of work, an account with a token and a
// claim link that end.

import { WaError } from '../../../protocol/errors.ts';
import { oneLine } from '../../../protocol/lines.ts';
import { readChallenge, solve } from './proof-of-work.ts';
import { openRest } from './rest.ts';

/** Must be shown to the person, who accepts them or not. */
export const cloudflareTerms = {
  termsOfService: 'https://www.cloudflare.com/terms/',
  privacyPolicy: 'https://www.cloudflare.com/privacypolicy/',
} as const;

export interface TemporaryAccount {
  id: string;
  name: string;
  token: string;
  /** Epoch milliseconds: after it, or once it is claimed, the token is dead. */
  expiresAt: number;
  /** Opened by the person, who keeps the account with it. As good as a password until it ends. */
  claimUrl: string;
  claimExpiresAt: number;
}

export interface TemporaryOptions {
  /** What the person answered to `cloudflareTerms`. Anything but `true` is `terms_not_accepted`, before the first call. */
  acceptsTerms: boolean;
  baseUrl?: string | undefined;
  /** Of the proof of work: 0 to 1, in small steps. */
  onProgress?(share: number): void;
  signal?: AbortSignal;
}

/**
 * Takes one to two seconds of one core, in slices. Errors: `terms_not_accepted`, `temporary_account_refused` (the challenge asks for
 * more than 64e6 iterations, or Cloudflare refused), `cloudflare_rate_limited`, `cloudflare_unreachable`.
 */
export async function createTemporaryAccount(options: TemporaryOptions): Promise<TemporaryAccount> {
  const { acceptsTerms, baseUrl, onProgress, signal } = options;
  if (acceptsTerms !== true) {
    throw new WaError('terms_not_accepted', "Cloudflare's terms and privacy policy were not accepted", {
      hint: `Read ${cloudflareTerms.termsOfService} and ${cloudflareTerms.privacyPolicy} and accept them, or give a token of your own account.`,
    });
  }
  const rest = openRest({ baseUrl });
  const post = (path: string, body: object) =>
    rest.call(path, { method: 'POST', body: JSON.stringify(body), needs: 'none', signal }).catch((cause) => {
      throw asRefusal(cause);
    });
  try {
    const challenge = readChallenge(await post('/provisioning/previews/challenge', {}));
    if (challenge === undefined) throw refused('its challenge is of a kind or size that wa-sync does not solve');
    const checkpoints = await solve(challenge, onProgress, signal);
    const made = await post('/provisioning/previews', {
      ...cloudflareTerms,
      acceptTermsOfService: 'yes',
      challengeToken: challenge.challengeToken,
      solution: { checkpoints },
    });
    const account = accountIn(made);
    if (account === undefined) throw refused('its answer is incomplete');
    return account;
  } finally {
    await rest.close();
  }
}

function refused(why: string, cause?: unknown): WaError {
  return new WaError('temporary_account_refused', `Cloudflare gave no temporary account: ${why}`, {
    hint: 'Run the command again for a new challenge, or give a token of your own account; `--local` needs none.',
    cause,
  });
}

/** There is no token that could be wrong: only limits and the network keep their own codes. */
function asRefusal(cause: unknown): unknown {
  if (!(cause instanceof WaError)) return cause;
  return cause.retryable ? cause : refused(cause.message, cause);
}

function accountIn(made: unknown): TemporaryAccount | undefined {
  const { account, claim } = fieldsOf(made);
  const { id, name, apiToken, expiresAt } = fieldsOf(account);
  const { url: claimUrl, expiresAt: claimEnds } = fieldsOf(claim);
  if (typeof id !== 'string' || typeof apiToken !== 'string' || typeof claimUrl !== 'string') return undefined;
  const [ends, claimExpiresAt] = [Date.parse(String(expiresAt)), Date.parse(String(claimEnds))];
  // The person opens it: it must be an address of a web page, whoever answered.
  const isWeb = /^https:\/\//.test(claimUrl) && URL.canParse(claimUrl);
  if (!isWeb || Number.isNaN(ends) || Number.isNaN(claimExpiresAt)) return undefined;
  const shown = typeof name === 'string' ? oneLine(name, 100) : id;
  return { id, name: shown, token: apiToken, expiresAt: ends, claimUrl: new URL(claimUrl).href, claimExpiresAt };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** By the clock alone: Cloudflare has no call that tells whether an account was claimed. */
export function isExpired({ expiresAt }: { expiresAt: number }, now: number): boolean {
  return now >= expiresAt;
}
