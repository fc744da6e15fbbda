// A relay at the fake Cloudflare, which runs the real Worker: deployed, upgraded, cut off after every call, deleted.

import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createRelayClient } from '../../../../agent/relay/client.ts';
import { type Cloudflare, openCloudflare, type Place } from '../../../../agent/setup/cloudflare/client.ts';
import {
  type DeployOptions,
  deleteRelay,
  deployRelay,
  type RelaySecrets,
  upgradeRelay,
} from '../../../../agent/setup/cloudflare/deploy.ts';
import packageJson from '../../../../package.json' with { type: 'json' };
import { type FakeCloudflare, startFakeCloudflare } from '../../../helpers/cloudflare/api.ts';

const workerFile = fileURLToPath(new URL('../../../../dist/worker.js', import.meta.url));
const { version } = packageJson;
const token = 'the-agent-token-of-this-test';
const secrets: RelaySecrets = {
  TELEGRAM_BOT_TOKEN: '100000001:bot-secret',
  TELEGRAM_WEBHOOK_SECRET: 'webhook-secret',
  TELEGRAM_CHAT_ID: '1000001',
  TELEGRAM_USER_IDS: '1000001',
  WA_AGENT_TOKEN_SHA256: createHash('sha256').update(token).digest('hex'),
};

let fake: FakeCloudflare;
let cloudflare: Cloudflare;
let place: Place;
let options: DeployOptions;

const open = (given = fake.account.token) =>
  openCloudflare({ token: given, baseUrl: fake.env.CLOUDFLARE_API_BASE_URL, pause: () => Promise.resolve() });
const deploy = () => deployRelay(cloudflare, { ...options, secrets });

async function epoch(): Promise<string | undefined> {
  const client = createRelayClient({ url: fake.edge.url, token });
  const { mailboxes } = await client.status();
  await client.close();
  return mailboxes[0]?.epoch;
}

beforeAll(async () => {
  fake = await startFakeCloudflare();
  place = { accountId: fake.account.id, script: 'wa-sync' };
  options = { place, workerFile, version, workersDevUrl: fake.env.WA_WORKERS_DEV_URL };
});
afterAll(() => fake.close());
beforeEach(() => {
  cloudflare = open();
  fake.calls.length = 0;
});

describe('a deployment', () => {
  it('ends when the relay answers with this version, at the address that is given back', async () => {
    fake.account.subdomain = null;
    fake.edge.notReadyFor(2);
    const steps: string[] = [];
    expect(await deployRelay(cloudflare, { ...options, secrets, onStep: (step) => steps.push(step) })).toEqual({
      url: fake.edge.url,
      isNew: true,
    });
    expect(steps).toEqual(['inspecting', 'subdomain', 'uploading', 'routing', 'waiting', 'waiting', 'waiting']);
    expect(fake.account.subdomain).toMatch(/^wa-sync-[0-9a-f]{8}$/);
    expect(await epoch()).toEqual(expect.any(String));
  });

  it('makes the calls of the recorded contract, and no other', async () => {
    await deploy();
    expect(fake.calls).toEqual([
      'GET /accounts/A/workers/services/wa-sync',
      'GET /accounts/A/workers/scripts/wa-sync/settings',
      'GET /accounts/A/workers/scripts/wa-sync/secrets',
      'GET /accounts/A/workers/subdomain',
      'PUT /accounts/A/workers/scripts/wa-sync?excludeScript=true&bindings_inherit=strict',
      'POST /accounts/A/workers/scripts/wa-sync/subdomain',
    ]);
  });

  it('never replaces the workers.dev name of an account', async () => {
    fake.account.subdomain = 'mine';
    await deploy();
    expect(fake.account.subdomain).toBe('mine');
  });

  it('is an upgrade the second time: secrets, settings made by hand, messages and address stay', async () => {
    const before = await epoch();
    const script = fake.account.scripts.get('wa-sync');
    script?.bindings.push({ type: 'plain_text', name: 'WA_MESSAGE_TTL_HOURS', text: '48' });
    expect(await upgradeRelay(cloudflare, options)).toEqual({ url: fake.edge.url, isNew: false });
    expect(await epoch()).toBe(before);
    const texts = fake.account.scripts.get('wa-sync')?.bindings.map(({ name, text }) => [name, text]) ?? [];
    expect(Object.fromEntries(texts)).toEqual({ ...secrets, WA_MESSAGE_TTL_HOURS: '48', MAILBOX: undefined });
  });

  it.each([
    /^GET .*services/,
    /^GET .*settings/,
    /^GET .*secrets/,
    /^GET .*subdomain/,
    /^PUT .*scripts/,
    /^POST .*subdomain/,
  ])('that is killed in %s completes when it is run again', async (match) => {
    const before = await epoch();
    cloudflare = openCloudflare({
      token: fake.account.token,
      baseUrl: fake.env.CLOUDFLARE_API_BASE_URL,
      pause: () => Promise.reject(new Error('killed')),
    });
    fake.cutNext(match);
    await expect(deployRelay(cloudflare, { ...options, secrets })).rejects.toThrow('killed');
    cloudflare = open();
    expect(await deploy()).toEqual({ url: fake.edge.url, isNew: false });
    expect(await epoch()).toBe(before);
  });

  it('repeats a call that Cloudflare did not answer', async () => {
    fake.cutNext(/^PUT .*scripts/);
    fake.failNext(/^POST .*subdomain/, 502, 0, 'Bad gateway');
    fake.failNext(/^GET .*services/, 429, 971, 'Please wait', { 'retry-after': '1' });
    expect(await deploy()).toMatchObject({ isNew: false });
  });

  it('says what answered in place of the relay when it gives up', async () => {
    fake.edge.notReadyFor(1_000_000);
    await expect(deployRelay(cloudflare, { ...options, secrets, readyWithinMs: 300 })).rejects.toMatchObject({
      code: 'relay_not_ready',
      message: expect.stringMatching(/HTTP 404|AbortError|TimeoutError/),
    });
    fake.edge.notReadyFor(0);
    await expect(
      deployRelay(cloudflare, { ...options, secrets, version: '9.9.9', readyWithinMs: 300 }),
    ).rejects.toMatchObject({ code: 'relay_not_ready' });
  });

  it('leaves nothing behind when it is deleted, and can be deleted twice', async () => {
    expect(await deleteRelay(cloudflare, place)).toBe(true);
    expect(await deleteRelay(cloudflare, place)).toBe(false);
    expect((await fetch(`${fake.edge.url}/healthz`)).status).toBe(404);
    await expect(upgradeRelay(cloudflare, options)).rejects.toMatchObject({ code: 'not_found' });
  });
});
