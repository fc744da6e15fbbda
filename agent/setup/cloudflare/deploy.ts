// Deploying, upgrading and deleting a relay: the order of the calls, and the wait until the relay answers. Each may be killed
// anywhere and run again.

import { WaError } from '../../../protocol/errors.ts';
import type { Cloudflare, Place } from './client.ts';

/** For progress; `waiting` comes again with each try. */
export type DeployStep = 'inspecting' | 'subdomain' | 'uploading' | 'routing' | 'waiting';

export interface DeployOptions {
  place: Place;
  /** Path of `dist/worker.js`. */
  workerFile: string;
  /** The version that `/healthz` must tell. */
  version: string;
  /** In place of `https://<script>.<subdomain>.workers.dev`: `WA_WORKERS_DEV_URL`, for tests alone. */
  workersDevUrl?: string | undefined;
  onStep?(step: DeployStep): void;
  /** Gives up waiting for `/healthz` after this long. */
  readyWithinMs?: number;
  signal?: AbortSignal;
}

export interface Deployed {
  /** Without a trailing slash. */
  url: string;
  isNew: boolean;
}

/** The settings of the Worker that are secrets there, by name. */
export interface RelaySecrets {
  TELEGRAM_BOT_TOKEN: string;
  TELEGRAM_WEBHOOK_SECRET: string;
  TELEGRAM_CHAT_ID: string;
  TELEGRAM_USER_IDS: string;
  WA_AGENT_TOKEN_SHA256: string;
  /** Tests alone. */
  TELEGRAM_API_ROOT?: string;
}

/**
 * Inspects, registers a workers.dev name for an account without one, uploads code with secrets and migrations, enables the route,
 * waits for `/healthz` of `version`. An existing relay keeps the secrets that are not in `secrets`, and its storage. Killed anywhere and run again = completes.
 * Errors: `worker_name_taken` (a Worker of somebody else's; nothing was changed), `worker_too_large`, `relay_not_ready`, `file_unusable`
 * (the Worker is not built), and those of every call.
 */
export async function deployRelay(
  _cloudflare: Cloudflare,
  _options: DeployOptions & { secrets: Partial<RelaySecrets> },
): Promise<Deployed> {
  throw new WaError('internal', 'not built yet');
}

/** `deployRelay` without secrets. Errors: also `not_found` when no relay is there. */
export async function upgradeRelay(_cloudflare: Cloudflare, _options: DeployOptions): Promise<Deployed> {
  throw new WaError('internal', 'not built yet');
}

/** With everything that waits in it. False = none was there. Errors: `worker_name_taken` for a Worker that is not a relay. */
export async function deleteRelay(_cloudflare: Cloudflare, _place: Place): Promise<boolean> {
  throw new WaError('internal', 'not built yet');
}
