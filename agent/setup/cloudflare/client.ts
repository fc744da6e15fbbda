// The calls of Cloudflare's REST API that a relay needs, by the contract that was recorded of wrangler. One call each; what belongs
// together is in deploy.ts.

import { deployment, migrationsAfter } from '../../../protocol/deployment.ts';
import { WaError } from '../../../protocol/errors.ts';
import { openRest } from './rest.ts';

export interface Account {
  id: string;
  name: string;
}

/** Of the Worker: the account and the name of its script. */
export interface Place {
  accountId: string;
  /** `deployment.script` unless the person chose another one; a-z, 0-9 and dashes, at most 63. */
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
  /** Waits between two tries of a call. */
  pause?(ms: number): Promise<unknown>;
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
  /** Replaces the code; secrets that are not named stay. Errors: `worker_too_large`, `relay_newer`. */
  upload(place: Place, upload: Upload): Promise<void>;
  /** Makes the Worker answer at workers.dev. */
  enableRoute(place: Place): Promise<void>;
  /** All at once, as one new version of the Worker; null deletes a secret, which must exist. Others stay. */
  changeSecrets(place: Place, changes: Readonly<Record<string, string | null>>): Promise<void>;
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

/** Cloudflare's names, for the page where a token is made. */
const permissions = {
  account: 'Account Settings: Read',
  workers: 'Workers Scripts: Edit',
} as const;

const absentCodes = [10007, 10090, 10092] as const;
const maxAccounts = 50;

export function openCloudflare(options: CloudflareOptions): Cloudflare {
  const rest = openRest(options);
  const needs = permissions.workers;
  const scriptPath = ({ accountId, script }: Place) =>
    `/accounts/${encodeURIComponent(accountId)}/workers/scripts/${encodeURIComponent(script)}`;
  const accountPath = (accountId: string) => `/accounts/${encodeURIComponent(accountId)}/workers`;

  async function secretNames(place: Place): Promise<string[]> {
    const result = await rest.call(`${scriptPath(place)}/secrets`, { needs, absentCodes });
    return listIn(result).flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
  }

  return {
    async accounts() {
      const result = await rest.call(`/accounts?per_page=${maxAccounts}`, { needs: permissions.account });
      return listIn(result).flatMap(({ id, name }) =>
        typeof id === 'string' ? [{ id, name: typeof name === 'string' ? name : id }] : [],
      );
    },

    async subdomain(accountId) {
      const result = await rest.call(`${accountPath(accountId)}/subdomain`, { needs, absentCodes });
      return textIn(result, 'subdomain') ?? null;
    },

    async registerSubdomain(accountId, name) {
      const body = JSON.stringify({ subdomain: name });
      const result = await rest.call(`${accountPath(accountId)}/subdomain`, { method: 'PUT', body, needs });
      return textIn(result, 'subdomain') ?? name;
    },

    async inspect(place) {
      const path = `${accountPath(place.accountId)}/services/${encodeURIComponent(place.script)}`;
      const service = await rest.call(path, { needs, absentCodes });
      if (service === undefined) return { kind: 'absent' };
      const settings = await rest.call(`${scriptPath(place)}/settings`, { needs, absentCodes });
      if (!listIn(objectIn(settings).bindings).some(isMailbox)) return { kind: 'foreign' };
      const { script } = objectIn(objectIn(service).default_environment);
      return {
        kind: 'relay',
        migrationTag: textIn(script, 'migration_tag') ?? null,
        secrets: await secretNames(place),
      };
    },

    async upload(place, upload) {
      const form = uploadForm(upload);
      const packed = new Response(form);
      await rest.call(`${scriptPath(place)}?excludeScript=true&bindings_inherit=strict`, {
        method: 'PUT',
        body: await packed.text(),
        contentType: packed.headers.get('content-type') ?? 'multipart/form-data',
        needs,
      });
    },

    async enableRoute(place) {
      const body = JSON.stringify({ enabled: true });
      await rest.call(`${scriptPath(place)}/subdomain`, { method: 'POST', body, needs });
    },

    async changeSecrets(place, changes) {
      const entries = Object.entries(changes).map(([name, text]) => [
        name,
        text === null ? null : { name, text, type: 'secret_text' },
      ]);
      await rest.call(`${scriptPath(place)}/secrets-bulk`, {
        method: 'PATCH',
        body: JSON.stringify({ secrets: Object.fromEntries(entries) }),
        contentType: 'application/merge-patch+json',
        needs,
      });
    },

    async remove(place) {
      const path = `${accountPath(place.accountId)}/services/${encodeURIComponent(place.script)}?force=true`;
      await rest.call(path, { method: 'DELETE', needs, absentCodes });
    },

    close: () => rest.close(),
  };
}

/** What makes a Worker a relay: the object with the mailboxes. Secrets may be missing where a deployment by hand stopped. */
function isMailbox({ type, name, class_name: className }: Json): boolean {
  const { binding, className: expected } = deployment.durableObject;
  return type === 'durable_object_namespace' && name === binding && className === expected;
}

/** Errors: `relay_newer` when the storage was made by a later relay. */
function uploadForm({ code, secrets, migrationTag }: Upload): FormData {
  const { durableObject, compatibilityDate, compatibilityFlags, observability } = deployment;
  const migrations = migrationsAfter(migrationTag ?? null);
  if (migrations === 'unknown') {
    throw new WaError('relay_newer', `the relay's storage is of a later wa-sync (its migration is ${migrationTag})`, {
      hint: 'Update wa-sync on this machine: `npm install -g wa-sync@latest`, or take the newest clone.',
    });
  }
  const metadata = {
    main_module: mainModule,
    bindings: [
      ...Object.entries(secrets).map(([name, text]) => ({ name, type: 'secret_text', text })),
      { name: durableObject.binding, type: 'durable_object_namespace', class_name: durableObject.className },
    ],
    compatibility_date: compatibilityDate,
    compatibility_flags: compatibilityFlags,
    ...(migrations === undefined ? {} : { migrations }),
    code_update_strategy: { mode: 'deferred', max_delay: 300 },
    // `plain_text`: settings that somebody made by hand, as the time that a message waits.
    keep_bindings: ['plain_text', 'secret_text', 'secret_key'],
    observability,
  };
  const form = new FormData();
  form.set('metadata', JSON.stringify(metadata));
  form.set(mainModule, new File([code], mainModule, { type: 'application/javascript+module' }));
  return form;
}

const mainModule = 'index.js';

type Json = Record<string, unknown>;

function objectIn(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function listIn(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(objectIn) : [];
}

function textIn(value: unknown, key: string): string | undefined {
  const found = objectIn(value)[key];
  return typeof found === 'string' && found !== '' ? found : undefined;
}
