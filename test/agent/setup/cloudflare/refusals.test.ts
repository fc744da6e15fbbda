// What Cloudflare refuses, as a code with its repair; and what the fake refuses of a client that breaks the contract. No workerd.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Cloudflare, openCloudflare, type Place } from '../../../../agent/setup/cloudflare/client.ts';
import { deleteRelay, deployRelay, upgradeRelay } from '../../../../agent/setup/cloudflare/deploy.ts';
import { deployment } from '../../../../protocol/deployment.ts';
import { type FakeCloudflare, startFakeCloudflare } from '../../../helpers/cloudflare/api.ts';
import { temporaryFolder } from '../../../helpers/surroundings.ts';

let fake: FakeCloudflare;
let cloudflare: Cloudflare;
let place: Place;
let workerFile: string;
const code = 'export class Mailbox {}; export default { fetch: () => new Response("x") };';

const open = (token = fake.account.token) =>
  openCloudflare({ token, baseUrl: fake.env.CLOUDFLARE_API_BASE_URL, pause: () => Promise.resolve() });
const options = () => ({ place, workerFile, version: '1.0.0', workersDevUrl: fake.edge.url, readyWithinMs: 1 });

beforeAll(async () => {
  fake = await startFakeCloudflare();
});
afterAll(() => fake.close());
beforeEach(async () => {
  fake.account.scripts.clear();
  fake.account.permissions = new Set(['account', 'workers']);
  fake.account.maxUploadBytes = 1024 * 1024;
  fake.calls.length = 0;
  cloudflare = open();
  place = { accountId: fake.account.id, script: 'wa-sync' };
  workerFile = join(await temporaryFolder(), 'worker.js');
  await writeFile(workerFile, code);
});

const foreign = () => ({
  code,
  bindings: [{ type: 'plain_text', name: 'GREETING', text: 'hello' }],
  compatibilityDate: '2026-01-01',
  compatibilityFlags: [],
  migrationTag: undefined,
  classes: [],
  isRouted: true,
});

describe('the client', () => {
  const failed = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (cause: { code: string; hint: string }) => cause,
    );

  it('names a wrong token, and never shows it', async () => {
    const token = 'not-the-token-of-anybody';
    const error = await failed(open(token).accounts());
    expect(error).toMatchObject({ code: 'cloudflare_unauthorized', hint: expect.stringMatching(/make a new one/) });
    expect(JSON.stringify([error, `${error}`])).not.toContain(token);
  });

  it('names the permission that a token lacks', async () => {
    fake.account.permissions = new Set(['account']);
    expect(await failed(cloudflare.inspect(place))).toMatchObject({
      code: 'cloudflare_forbidden',
      hint: expect.stringContaining('"Workers Scripts: Edit"'),
    });
  });

  it.each([
    [429, 971, 'cloudflare_rate_limited', 3],
    [413, 10027, 'worker_too_large', 1],
    [500, 10002, 'cloudflare_unreachable', 3],
    [400, 10021, 'cloudflare_refused', 1],
  ] as const)('gives HTTP %i with code %i the code %s after %i calls', async (status, number, code, calls) => {
    for (const _ of Array(calls)) fake.failNext(/subdomain/, status, number, 'Because of this.');
    const error = await failed(cloudflare.subdomain(place.accountId));
    expect(error).toMatchObject({ code, message: expect.stringMatching(new RegExp(`this., code ${number}`)) });
    expect(fake.calls).toHaveLength(calls);
  });

  it('does not wait for a rate limit of minutes', async () => {
    fake.failNext(/subdomain/, 429, 971, 'Later', { 'retry-after': '600' });
    expect(await failed(cloudflare.subdomain(place.accountId))).toMatchObject({ retryAfterMs: 600_000 });
    expect(fake.calls).toHaveLength(1);
  });

  it('says that no network is there, and refuses an address to which a token must not be sent', async () => {
    const closed = openCloudflare({ token: 't', baseUrl: 'http://127.0.0.1:1', pause: () => Promise.resolve() });
    expect(await failed(closed.accounts())).toMatchObject({ code: 'cloudflare_unreachable' });
    expect(() => openCloudflare({ token: 't', baseUrl: 'http://api.example' })).toThrow('not an https address');
  });

  it('gives the accounts of a token', async () => {
    const second = fake.addAccount('Second', fake.account.token);
    expect(await cloudflare.accounts()).toEqual([
      { id: fake.account.id, name: 'Example' },
      { id: second.id, name: 'Second' },
    ]);
  });
});

describe('a deployment', () => {
  const upload = () => deployRelay(cloudflare, { ...options(), secrets: {} });

  it('leaves a Worker alone that is no relay, and says how to choose another name', async () => {
    fake.account.scripts.set('wa-sync', foreign());
    const taken = { code: 'worker_name_taken', hint: expect.stringContaining('--script') };
    await expect(upload()).rejects.toMatchObject(taken);
    await expect(upgradeRelay(cloudflare, options())).rejects.toMatchObject(taken);
    await expect(deleteRelay(cloudflare, place)).rejects.toMatchObject(taken);
    expect(fake.calls.filter((call) => !call.startsWith('GET'))).toEqual([]);
  });

  it('does not touch a relay of a later version', async () => {
    await expect(upload()).rejects.toMatchObject({ code: 'relay_not_ready' });
    Object.assign(fake.account.scripts.get('wa-sync') ?? {}, { migrationTag: 'v99' });
    await expect(upload()).rejects.toMatchObject({ code: 'relay_newer' });
  });

  it('names a Worker that is too large, one that is not built, and one that does not export its class', async () => {
    await writeFile(workerFile, `${code}//${'x'.repeat(1024 * 1024)}`);
    await expect(upload()).rejects.toMatchObject({ code: 'worker_too_large' });
    workerFile = `${workerFile}.not-there`;
    await expect(upload()).rejects.toMatchObject({ code: 'file_unusable' });
    await writeFile(workerFile, 'export default {}');
    await expect(upload()).rejects.toMatchObject({ code: 'cloudflare_refused' });
  });
});

describe('the fake', () => {
  const good = {
    main_module: 'index.js',
    bindings: [{ name: 'MAILBOX', type: 'durable_object_namespace', class_name: 'Mailbox' }],
    compatibility_date: deployment.compatibilityDate,
    compatibility_flags: [],
    migrations: { new_tag: 'v1', steps: [{ new_sqlite_classes: ['Mailbox'] }] },
    keep_bindings: ['secret_text', 'secret_key'],
    observability: { enabled: true },
  };

  async function put(
    metadata: object,
    module = new File([code], 'index.js', { type: 'application/javascript+module' }),
  ) {
    const body = new FormData();
    body.set('metadata', JSON.stringify(metadata));
    body.set('index.js', module);
    return call('PUT', '/workers/scripts/wa-sync?excludeScript=true&bindings_inherit=strict', { body });
  }

  async function call(method: string, path: string, init: RequestInit = {}): Promise<number> {
    const response = await fetch(`${fake.env.CLOUDFLARE_API_BASE_URL}/accounts/${fake.account.id}${path}`, {
      ...init,
      method,
      headers: { authorization: `Bearer ${fake.account.token}`, ...init.headers },
    });
    const { success, errors } = (await response.json()) as { success: boolean; errors: { code: number }[] };
    return success ? 0 : (errors[0]?.code ?? -1);
  }

  it('takes an upload by the contract', async () => {
    expect(await put(good)).toBe(0);
  });

  it.each([
    ['an unknown field', { placement: {} }, 10021],
    ['no main module', { main_module: undefined }, 10021],
    ['a main module that is no part', { main_module: 'other.js' }, 10021],
    ['an unknown type of binding', { bindings: [{ name: 'X', type: 'magic' }] }, 10021],
    ['a binding without its text', { bindings: [{ name: 'X', type: 'secret_text' }] }, 10021],
    ['two bindings of one name', { bindings: [...good.bindings, ...good.bindings] }, 10021],
    ['an object without a migration', { migrations: undefined }, 10061],
    [
      'a class that the script lacks',
      { migrations: { new_tag: 'v1', steps: [{ new_sqlite_classes: ['No'] }] } },
      10070,
    ],
    ['an old tag of a new script', { migrations: { ...good.migrations, old_tag: 'v0' } }, 10079],
    ['an unknown type to keep', { keep_bindings: ['everything'] }, 10021],
    ['a date that is none', { compatibility_date: 'today' }, 10021],
  ])('refuses %s', async (_, change, code) => {
    expect(await put({ ...good, ...change })).toBe(code);
  });

  it('refuses a migration that was made, a text that is no module, and a script without a handler', async () => {
    await put(good);
    expect(await put(good)).toBe(10079);
    expect(await put({ ...good, migrations: { ...good.migrations, old_tag: 'v1' } })).toBe(10021);
    const { migrations: _, ...upgrade } = good;
    expect(await put(upgrade)).toBe(0);
    expect(await put(upgrade, new File([code], 'index.js', { type: 'text/javascript' }))).toBe(10021);
    const silent = new File(['export class Mailbox {}'], 'index.js', { type: 'application/javascript+module' });
    expect(await put(upgrade, silent)).toBe(10068);
  });

  it('refuses unknown calls, wrong methods, and a token of nobody', async () => {
    expect(await call('GET', '/workers/domains')).toBe(7003);
    expect(await call('PUT', '/workers/services/wa-sync')).toBe(7003);
    expect(await call('PUT', '/workers/scripts/wa-sync', { body: 'x' })).toBe(7003);
    expect(await call('GET', '/workers/subdomain', { headers: { authorization: 'Bearer nobody-at-all' } })).toBe(9109);
    expect(await call('GET', '/workers/subdomain', { headers: { authorization: 'x' } })).toBe(6003);
  });
});
