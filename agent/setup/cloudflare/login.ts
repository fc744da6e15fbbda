// The login at Cloudflare: a token of the environment, a pasted one, or that of a wrangler on the PATH, which is asked and whose
// files are never read.

import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { WaError } from '../../../protocol/errors.ts';
import { withoutSecrets } from '../../process.ts';

export interface Login {
  source: 'environment' | 'pasted' | 'wrangler' | 'temporary';
  /** An API token or an OAuth token. Must never reach output, a log, an error, arguments or the environment of a process. */
  token: string;
  /** Undefined = ask `accounts()`, and the person when there are several. */
  accountId: string | undefined;
}

/** Where a person makes a token with exactly the permissions that `deployRelay` needs. */
export const tokenPage = 'https://dash.cloudflare.com/profile/api-tokens';

export interface LoginWorld {
  env: Record<string, string | undefined>;
  /** What the person pasted; wins over the login of wrangler. */
  pasted?: string | undefined;
}

/**
 * In this order: `CLOUDFLARE_API_TOKEN` (with `CLOUDFLARE_ACCOUNT_ID`), `pasted`, `wrangler auth token --json` where wrangler is on the
 * PATH and logged in. Undefined = no login at all: offer a token or a temporary account. The token is not yet known to be valid.
 * Errors: `bad_arguments` for a pasted text that cannot be a token, `bad_config` for such a variable.
 */
export async function findLogin({ env, pasted }: LoginWorld): Promise<Login | undefined> {
  const accountId = env.CLOUDFLARE_ACCOUNT_ID?.trim() || undefined;
  const named = env.CLOUDFLARE_API_TOKEN?.trim();
  if (named) {
    if (!isToken(named)) {
      throw new WaError('bad_config', 'CLOUDFLARE_API_TOKEN is not of the form of a token', { hint: tokenHint });
    }
    return { source: 'environment', token: named, accountId };
  }
  if (pasted !== undefined) {
    const token = pasted.trim();
    if (!isToken(token)) {
      throw new WaError('bad_arguments', 'this is not of the form of a Cloudflare API token', { hint: tokenHint });
    }
    return { source: 'pasted', token, accountId };
  }
  const token = await wranglerToken(env);
  return token === undefined ? undefined : { source: 'wrangler', token, accountId };
}

const tokenHint = `Make one at ${tokenPage} with "Workers Scripts: Edit" and "Account Settings: Read", and paste it whole.`;

function isToken(text: string): boolean {
  return /^[\x21-\x7e]{16,4096}$/.test(text);
}

const wranglerMs = 20_000;

/** wrangler refreshes the token, asks the network for it, and keeps it where it wants: undefined = no token, for whatever reason. */
function wranglerToken(env: LoginWorld['env']): Promise<string | undefined> {
  const isWindows = process.platform === 'win32';
  return new Promise((resolve) => {
    const options = {
      // Not the folder of a project, whose `.env` wrangler would read: its token is somebody else's account.
      cwd: homedir(),
      env: { ...withoutSecrets(env), WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' },
      timeout: wranglerMs,
      maxBuffer: 64 * 1024,
      // On Windows wrangler is a script that only a shell runs. No argument comes from outside.
      shell: isWindows,
      windowsHide: true,
    };
    execFile('wrangler', ['auth', 'token', '--json'], options, (error, stdout) =>
      resolve(error ? undefined : tokenIn(stdout)),
    );
  });
}

/** An API key with an e-mail address, which wrangler also knows, may do everything: it is not used. */
function tokenIn(stdout: string): string | undefined {
  try {
    const { type, token } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as { type?: unknown; token?: unknown };
    const isUsable = (type === 'oauth' || type === 'api_token') && typeof token === 'string' && isToken(token);
    return isUsable ? token : undefined;
  } catch {
    return undefined;
  }
}
