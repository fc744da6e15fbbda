// A temporary account at Cloudflare, for who has none: terms that a person accepts, a proof of work, an account with a token and a
// claim link that end.

import { WaError } from '../../../protocol/errors.ts';

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
  /** Of the proof of work: 0 to 1, at most ten times a second. */
  onProgress?(share: number): void;
  signal?: AbortSignal;
}

/**
 * Takes one to two seconds of one core, in a worker thread. Errors: `terms_not_accepted`, `temporary_account_refused` (the challenge
 * is above 64e6 iterations, failed or was refused), `cloudflare_rate_limited`, `cloudflare_unreachable`.
 */
export async function createTemporaryAccount(_options: TemporaryOptions): Promise<TemporaryAccount> {
  throw new WaError('internal', 'not built yet');
}

/** By the clock alone: Cloudflare has no call that tells whether an account was claimed. */
export function isExpired({ expiresAt }: { expiresAt: number }, now: number): boolean {
  return now >= expiresAt;
}
