// Deploying, upgrading and deleting a relay: the order of the calls, and the wait until the relay answers. Each may be killed
// anywhere and run again.

import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { WaError } from '../../../protocol/errors.ts';
import { randomHex } from '../../crypto.ts';
import { readText } from '../../http.ts';
import { type Connection, connectTo } from '../../relay/connection.ts';
import type { Cloudflare, Place, Standing } from './client.ts';

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
 * waits for `/healthz` of `version`. An existing relay keeps its storage, and the secrets that are not in `secrets`. Killed anywhere
 * and run again = completes.
 * Errors: `worker_name_taken` (a Worker of somebody else; nothing was changed), `worker_too_large`, `relay_newer`, `relay_not_ready`,
 * `file_unusable` (the Worker is not built), and those of every call.
 */
export async function deployRelay(
  cloudflare: Cloudflare,
  options: DeployOptions & { secrets: Partial<RelaySecrets> },
): Promise<Deployed> {
  options.onStep?.('inspecting');
  const standing = await cloudflare.inspect(options.place);
  return bringUp(cloudflare, options, standing, options.secrets);
}

/** `deployRelay` without secrets. Errors: also `not_found` when no relay is there. */
export async function upgradeRelay(cloudflare: Cloudflare, options: DeployOptions): Promise<Deployed> {
  options.onStep?.('inspecting');
  const standing = await cloudflare.inspect(options.place);
  if (standing.kind === 'absent') throw absent(options.place);
  return bringUp(cloudflare, options, standing, {});
}

/** With everything that waits in it. False = none was there. Errors: `worker_name_taken` for a Worker that is not a relay. */
export async function deleteRelay(cloudflare: Cloudflare, place: Place): Promise<boolean> {
  const standing = await cloudflare.inspect(place);
  if (standing.kind === 'absent') return false;
  if (standing.kind === 'foreign') throw nameTaken(place);
  await cloudflare.remove(place);
  return true;
}

/** Where a relay of this place answers; null = the account has no workers.dev name yet. */
export async function addressOf(
  cloudflare: Cloudflare,
  { accountId, script }: Place,
  workersDevUrl?: string,
): Promise<string | null> {
  if (workersDevUrl) return workersDevUrl.replace(/(?<!\/)\/+$/, '');
  const subdomain = await cloudflare.subdomain(accountId);
  return subdomain === null ? null : `https://${script}.${subdomain}.workers.dev`;
}

export function absent({ script }: Place): WaError {
  return new WaError('not_found', `this account has no Worker "${script}"`, {
    hint: 'Name it with --script and its account with --account, or make a relay with `wa-sync setup`.',
  });
}

export function nameTaken({ script }: Place): WaError {
  return new WaError(
    'worker_name_taken',
    `this account has a Worker "${script}" that is no relay; it was left as it is`,
    {
      hint: 'Choose another name: run the command again with --script, for example `--script wa-sync-relay`.',
    },
  );
}

async function bringUp(
  cloudflare: Cloudflare,
  options: DeployOptions,
  standing: Standing,
  secrets: Partial<RelaySecrets>,
): Promise<Deployed> {
  const { place, workersDevUrl, onStep } = options;
  if (standing.kind === 'foreign') throw nameTaken(place);
  const code = await readWorker(options.workerFile);
  onStep?.('subdomain');
  if ((await cloudflare.subdomain(place.accountId)) === null) {
    await cloudflare.registerSubdomain(place.accountId, `wa-sync-${randomHex(4)}`);
  }
  const url = (await addressOf(cloudflare, place, workersDevUrl)) as string;
  onStep?.('uploading');
  const migrationTag = standing.kind === 'relay' ? standing.migrationTag : undefined;
  await cloudflare.upload(place, { code, secrets: given(secrets), migrationTag });
  onStep?.('routing');
  await cloudflare.enableRoute(place);
  await waitForRelay(url, options);
  return { url, isNew: standing.kind === 'absent' };
}

function given(secrets: Partial<RelaySecrets>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(secrets).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

async function readWorker(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new WaError('file_unusable', `the Worker is not at ${path}`, {
      hint: 'Run `npm ci` in the clone of wa-sync, or install the package again.',
      cause,
    });
  }
}

/** A new name below workers.dev needs its certificate. */
const readyWithinMs = 120_000;
const healthMs = 10_000;
const longestPauseMs = 5_000;

type WaitOptions = Pick<DeployOptions, 'version' | 'onStep' | 'readyWithinMs' | 'signal'>;

/** Errors: `relay_not_ready` with what answered last; an aborted `signal` as it is. */
async function waitForRelay(url: string, options: WaitOptions): Promise<void> {
  const connection = connectTo(url);
  const until = AbortSignal.timeout(options.readyWithinMs ?? readyWithinMs);
  const over = options.signal ? AbortSignal.any([until, options.signal]) : until;
  let seen = 'nothing';
  try {
    for (let pauseMs = 250; !over.aborted; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      options.onStep?.('waiting');
      seen = await healthOf(connection, over);
      if (seen === options.version) return;
      await delay(pauseMs, undefined, { signal: over }).catch(() => {});
    }
  } finally {
    await connection.close();
  }
  options.signal?.throwIfAborted();
  throw new WaError(
    'relay_not_ready',
    `${url}/healthz does not answer as wa-sync ${options.version} yet, but: ${seen}`,
    {
      hint: 'A new address can take some minutes: run the command again, it goes on where it stopped.',
    },
  );
}

/** The version, or what else answered. */
async function healthOf(connection: Connection, over: AbortSignal): Promise<string> {
  try {
    const signal = AbortSignal.any([over, AbortSignal.timeout(healthMs)]);
    const response = await connection.exchange('/healthz', {
      method: 'GET',
      headMs: healthMs,
      bodyMs: healthMs,
      signal,
    });
    const text = await readText(response, 10_000);
    if (response.statusCode !== 200) return `HTTP ${response.statusCode}`;
    const { version } = JSON.parse(text) as { version?: unknown };
    return typeof version === 'string' ? version.slice(0, 40) : 'another program';
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code ?? (cause as Error).name;
  }
}
