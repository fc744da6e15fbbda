// The calls of Cloudflare's REST API that a relay needs, by the contract that was recorded of wrangler. One call each; what belongs
// together is in deploy.ts.

import { WaError } from '../../../protocol/errors.ts';

export interface Account {
  id: string;
  name: string;
}

/** Of the Worker: the account and the name of its script. */
export interface Place {
  accountId: string;
  /** `defaultScriptName` unless the person chose another one; a-z, 0-9 and dashes, at most 63. */
  script: string;
}

export type Standing =
  | { kind: 'absent' }
  /** A Worker of this name that is not a relay. Must never be overwritten or deleted. */
  | { kind: 'foreign' }
  | {
      kind: 'relay';
      /** The last migration of its storage; null = none. */
      migrationTag: string | null;
      /** Names of the secrets that it has. */
      secrets: readonly string[];
    };

export interface CloudflareOptions {
  token: string;
  /** `CLOUDFLARE_API_BASE_URL` of the environment. */
  baseUrl?: string | undefined;
}

/**
 * Errors of every call: `cloudflare_unauthorized` (wrong, expired or revoked token), `cloudflare_forbidden` (the hint names the missing
 * permission), `cloudflare_rate_limited`, `cloudflare_unreachable`, `cloudflare_refused` (anything else, with Cloudflare's code).
 */
export interface Cloudflare {
  accounts(): Promise<readonly Account[]>;
  /** The account's name below workers.dev; null = none is registered yet. */
  subdomain(accountId: string): Promise<string | null>;
  /** Only for an account without one. Errors: `cloudflare_refused` when the name is taken. */
  registerSubdomain(accountId: string, name: string): Promise<string>;
  inspect(place: Place): Promise<Standing>;
  /** Replaces the code; secrets that are not named stay. Errors: `worker_too_large`. */
  upload(place: Place, upload: Upload): Promise<void>;
  /** Makes the Worker answer at workers.dev. */
  enableRoute(place: Place): Promise<void>;
  setSecret(place: Place, name: string, value: string): Promise<void>;
  /** A secret that does not exist counts as deleted. */
  deleteSecret(place: Place, name: string): Promise<void>;
  /** With its storage: every message that waits is lost. A script that does not exist counts as deleted. */
  remove(place: Place): Promise<void>;
  close(): Promise<void>;
}

export interface Upload {
  /** The text of `dist/worker.js`. */
  code: string;
  /** New or changed secrets by name. */
  secrets: Readonly<Record<string, string>>;
  /** Of `inspect`; undefined = the script is new. */
  migrationTag: string | null | undefined;
}

export const defaultScriptName = 'wa-sync';

export function openCloudflare(_options: CloudflareOptions): Cloudflare {
  throw new WaError('internal', 'not built yet');
}
