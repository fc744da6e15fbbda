// Cloudflare on this machine: the calls that wrangler was recorded to make, refused where Cloudflare would refuse, and workers.dev, which
// runs what was uploaded. Shares no code with the client.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Edge, startEdge } from './edge.ts';
import { createPreviews } from './previews.ts';
import { acceptUpload, type Binding, Refusal, type Script } from './upload.ts';

export type Permission = 'account' | 'workers';

export interface FakeAccount {
  readonly id: string;
  readonly name: string;
  token: string;
  permissions: Set<Permission>;
  /** Null = none is registered. */
  subdomain: string | null;
  readonly scripts: Map<string, Script & { isRouted: boolean }>;
  maxUploadBytes: number;
  expiresAt: number | undefined;
}

export interface FakeCloudflare {
  /** For a process that deploys: the addresses of the fake, no login. */
  readonly env: { CLOUDFLARE_API_BASE_URL: string; WA_WORKERS_DEV_URL: string };
  /** The first account. */
  readonly account: FakeAccount;
  readonly edge: Edge;
  /** Method and path of every call, in order. */
  readonly calls: string[];
  /** A token may see several accounts. */
  addAccount(name: string, token?: string): FakeAccount;
  temporaryAccounts(): readonly FakeAccount[];
  /** Of the calls whose method and path match. */
  failNext(match: RegExp, status: number, code: number, message: string, headers?: Record<string, string>): void;
  /** The connection breaks after the call took effect, as for a process that is killed while it waits. */
  cutNext(match: RegExp): void;
  /** Its token is dead and its Workers are gone. */
  expire(account: FakeAccount): Promise<void>;
  close(): Promise<void>;
}

export interface FakeOptions {
  /** Of the proof of work; `k * g` hashes. */
  difficulty?: { k: number; g: number };
}

const temporaryMs = 60 * 60_000;
const mebibyte = 1024 * 1024;
const missing = (what: string, code = 10007) => new Refusal(404, code, `This ${what} does not exist on your account.`);

export async function startFakeCloudflare(options: FakeOptions = {}): Promise<FakeCloudflare> {
  const folder = await mkdtemp(join(tmpdir(), 'wa-cf-'));
  const edge = await startEdge(folder);
  const accounts: FakeAccount[] = [];
  const calls: string[] = [];
  const planned: { match: RegExp; refusal?: Refusal }[] = [];
  const { k, g } = options.difficulty ?? { k: 20, g: 50 };
  const previews = createPreviews(k, g);

  const addAccount = (name: string, token = randomBytes(20).toString('hex')): FakeAccount => {
    const account: FakeAccount = {
      id: randomBytes(16).toString('hex'),
      name,
      token,
      permissions: new Set(['account', 'workers']),
      subdomain: 'example',
      scripts: new Map(),
      maxUploadBytes: 64 * mebibyte,
      expiresAt: undefined,
    };
    accounts.push(account);
    return account;
  };

  const show = () => {
    const routed = accounts.flatMap(({ scripts }) => [...scripts.values()]).findLast(({ isRouted }) => isRouted);
    return edge.serve(routed);
  };

  function accountsOf(token: string | undefined): FakeAccount[] {
    const known = accounts.filter((account) => account.token === token && (account.expiresAt ?? Infinity) > Date.now());
    if (known.length === 0) throw new Refusal(403, 9109, 'Invalid access token');
    return known;
  }

  function makeTemporary(): object {
    const account = addAccount(`Temporary ${randomBytes(3).toString('hex')}`);
    account.expiresAt = Date.now() + temporaryMs;
    account.maxUploadBytes = mebibyte;
    const expiresAt = new Date(account.expiresAt).toISOString();
    const { id, name, token: apiToken } = account;
    const url = `https://dash.cloudflare.com/claim/${randomBytes(12).toString('base64url')}`;
    return { account: { id, name, apiToken, expiresAt }, claim: { url, expiresAt } };
  }

  async function route(call: string, body: Buffer, headers: IncomingMessage['headers']): Promise<unknown> {
    if (call === 'POST /provisioning/previews/challenge') return previews.challenge();
    if (call === 'POST /provisioning/previews') {
      previews.check(jsonOf(body, headers, 'application/json'));
      return makeTemporary();
    }
    const token = /^Bearer (\S{8,})$/.exec(headers.authorization ?? '')?.[1];
    if (token === undefined) throw new Refusal(400, 6003, 'Invalid request headers');
    const seen = accountsOf(token);
    if (/^GET \/accounts(\?per_page=\d+)?$/.test(call)) {
      return seen.filter(({ permissions }) => permissions.has('account')).map(({ id, name }) => ({ id, name }));
    }
    const [, method = '', id, rest = ''] = /^(\S+) \/accounts\/([0-9a-f]{32})\/workers(\/.*)$/.exec(call) ?? [];
    if (id === undefined) throw unknownRoute(call);
    const account = seen.find((each) => each.id === id);
    if (!account?.permissions.has('workers')) throw new Refusal(403, 10000, 'Authentication error');
    return workers(account, method, rest, body, headers);
  }

  async function workers(
    account: FakeAccount,
    method: string,
    path: string,
    body: Buffer,
    headers: IncomingMessage['headers'],
  ): Promise<unknown> {
    if (path === '/subdomain') return subdomain(account, method, body, headers);
    const [, kind, name = '', rest = ''] =
      /^\/(services|scripts|workers)\/([a-z0-9-]{1,63})((?:[/?].*)?)$/.exec(path) ?? [];
    const script = account.scripts.get(name);
    const call = `${method} ${kind}${rest}`;
    if (call === 'PUT scripts?excludeScript=true&bindings_inherit=strict') {
      const next = await acceptUpload(body, headers['content-type'] ?? '', script, account.maxUploadBytes);
      account.scripts.set(name, { ...next, isRouted: script?.isRouted ?? false });
      await show();
      return { id: name, startup_time_ms: 12 };
    }
    if (!knownCalls.includes(call)) throw unknownRoute(call);
    if (script === undefined) throw kind === 'services' ? missing('Worker', 10090) : missing('script');
    switch (call) {
      case 'GET services':
        return {
          id: name,
          default_environment: {
            environment: 'production',
            script: { id: name, ...(script.migrationTag === undefined ? {} : { migration_tag: script.migrationTag }) },
          },
        };
      case 'DELETE services?force=true':
        account.scripts.delete(name);
        await show();
        return null;
      case 'GET scripts/settings':
        return { bindings: script.bindings.map(withoutText), compatibility_date: script.compatibilityDate };
      case 'GET scripts/secrets':
        return script.bindings.filter(({ type }) => type === 'secret_text').map(withoutText);
      case 'GET scripts/deployments':
        return { deployments: [] };
      case 'GET workers':
        return { id: name, subdomain: { enabled: script.isRouted, previews_enabled: false } };
      case 'POST scripts/subdomain': {
        if (account.subdomain === null) throw new Refusal(400, 10063, 'You need a workers.dev subdomain.');
        const given = jsonOf(body, headers, 'application/json');
        if (typeof given.enabled !== 'boolean') throw new Refusal(400, 10021, 'enabled must be a boolean');
        script.isRouted = given.enabled;
        await show();
        return { enabled: given.enabled, previews_enabled: false };
      }
      default:
        changeSecrets(script, jsonOf(body, headers, 'application/merge-patch+json'));
        await show();
        return null;
    }
  }

  function subdomain(account: FakeAccount, method: string, body: Buffer, headers: IncomingMessage['headers']): unknown {
    if (method === 'PUT') {
      const { subdomain: wanted } = jsonOf(body, headers, 'application/json');
      if (account.subdomain !== null) throw new Refusal(409, 10036, 'This account already has a subdomain.');
      if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(String(wanted)))
        throw new Refusal(400, 10031, 'Subdomain is unavailable.');
      account.subdomain = String(wanted);
    } else if (method !== 'GET') throw unknownRoute(`${method} subdomain`);
    if (account.subdomain === null) throw missing('subdomain');
    return { subdomain: account.subdomain };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray());
    const path = (request.url ?? '').replace(/^\/client\/v4(?=\/)/, '');
    const call = `${request.method} ${path}`;
    calls.push(call.replaceAll(/[0-9a-f]{32}/g, 'A'));
    const plan = planned.findIndex(({ match }) => match.test(call));
    const [failure] = plan === -1 ? [] : planned.splice(plan, 1);
    const send = (status: number, envelope: object, headers: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(envelope));
    try {
      if (failure?.refusal) throw failure.refusal;
      const result = await route(call, body, request.headers);
      if (failure) response.destroy();
      else send(200, { success: true, errors: [], messages: [], result });
    } catch (cause) {
      const { status, code, message, headers } =
        cause instanceof Refusal ? cause : new Refusal(500, 10002, String(cause));
      send(status, { success: false, errors: [{ code, message }], messages: [], result: null }, headers);
    }
  }

  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    env: {
      CLOUDFLARE_API_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/client/v4`,
      WA_WORKERS_DEV_URL: edge.url,
    },
    account: addAccount('Example'),
    edge,
    calls,
    addAccount,
    temporaryAccounts: () => accounts.filter(({ expiresAt }) => expiresAt !== undefined),
    failNext(match, status, code, message, headers) {
      planned.push({ match, refusal: new Refusal(status, code, message, headers) });
    },
    cutNext(match) {
      planned.push({ match });
    },
    async expire(account) {
      account.expiresAt = 0;
      account.scripts.clear();
      await show();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await edge.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const knownCalls = [
  'GET services',
  'DELETE services?force=true',
  'GET scripts/settings',
  'GET scripts/secrets',
  'GET scripts/deployments',
  'GET workers',
  'POST scripts/subdomain',
  'PATCH scripts/secrets-bulk',
];

function unknownRoute(call: string): Refusal {
  return new Refusal(404, 7003, `Could not route to ${call}, perhaps your object identifier is invalid?`);
}

function withoutText({ text: _, ...binding }: Binding): Omit<Binding, 'text'> {
  return binding;
}

function jsonOf(body: Buffer, headers: IncomingMessage['headers'], type: string): Record<string, unknown> {
  if (headers['content-type'] !== type) throw new Refusal(415, 10001, `Unexpected Content-Type, ${type} is expected`);
  try {
    return JSON.parse(body.toString('utf8')) as Record<string, unknown>;
  } catch {
    throw new Refusal(400, 10006, 'Could not parse the body as JSON.');
  }
}

/** One new version: null deletes, a secret that is not named stays. */
function changeSecrets(script: Script, { secrets }: Record<string, unknown>): void {
  for (const [key, secret] of Object.entries(secrets as Record<string, Binding | null>)) {
    const others = script.bindings.filter(({ name }) => name !== key);
    if (secret === null && others.length === script.bindings.length) throw missing(`secret ${key}`, 10056);
    if (secret !== null && (secret.type !== 'secret_text' || secret.name !== key || typeof secret.text !== 'string')) {
      throw new Refusal(400, 10021, `the secret ${key} is malformed`);
    }
    script.bindings = secret === null ? others : [...others, secret];
  }
}
