// The login at Cloudflare: a token of the environment, a pasted one, or that of a wrangler on the PATH, which is asked and whose
// files are never read.

import { WaError } from '../../../protocol/errors.ts';

export interface Login {
  source: 'environment' | 'pasted' | 'wrangler' | 'temporary';
  /** An API token or an OAuth token. Must never reach output, a log, an error, arguments or the environment of a process. */
  token: string;
  /** Undefined = ask `accounts()`, and the person when there are several. */
  accountId: string | undefined;
}

export interface LoginWorld {
  env: Record<string, string | undefined>;
  /** What the person pasted; wins over the login of wrangler. */
  pasted?: string | undefined;
}

/**
 * In this order: `CLOUDFLARE_API_TOKEN` (with `CLOUDFLARE_ACCOUNT_ID`), `pasted`, `wrangler auth token --json` where wrangler is on the
 * PATH and logged in. Undefined = no login at all: offer a token or a temporary account. The token is not yet known to be valid.
 * Errors: `bad_arguments` for a pasted text that cannot be a token.
 */
export async function findLogin(_world: LoginWorld): Promise<Login | undefined> {
  throw new WaError('internal', 'not built yet');
}

/** Where a person makes a token with exactly the permissions that `deployRelay` needs. */
export const tokenPage = 'https://dash.cloudflare.com/profile/api-tokens';
