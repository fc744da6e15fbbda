// A temporary account: terms, challenge, proof of work, and an end.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { openCloudflare } from '../../../../agent/setup/cloudflare/client.ts';
import { readChallenge, solve } from '../../../../agent/setup/cloudflare/proof-of-work.ts';
import { cloudflareTerms, createTemporaryAccount, isExpired } from '../../../../agent/setup/cloudflare/temporary.ts';
import { type FakeCloudflare, startFakeCloudflare } from '../../../helpers/cloudflare/api.ts';

let fake: FakeCloudflare;
beforeAll(async () => {
  fake = await startFakeCloudflare({ difficulty: { k: 30, g: 1_000 } });
});
afterAll(() => fake.close());

const baseUrl = () => fake.env.CLOUDFLARE_API_BASE_URL;
const create = (options: { acceptsTerms?: boolean; onProgress?: (share: number) => void } = {}) =>
  createTemporaryAccount({ acceptsTerms: true, baseUrl: baseUrl(), ...options });

it('is an account with a token, a claim link and an end, for a proof of work with progress', async () => {
  const shares: number[] = [];
  const account = await create({ onProgress: (share) => shares.push(share) });
  expect(account).toEqual({
    id: fake.temporaryAccounts()[0]?.id,
    name: fake.temporaryAccounts()[0]?.name,
    token: fake.temporaryAccounts()[0]?.token,
    expiresAt: fake.temporaryAccounts()[0]?.expiresAt,
    claimUrl: expect.stringMatching(/^https:\/\/dash\.cloudflare\.com\/claim\//),
    claimExpiresAt: fake.temporaryAccounts()[0]?.expiresAt,
  });
  expect(shares).toEqual([1 / 3, 2 / 3, 1, 1]);
  expect(isExpired(account, account.expiresAt - 1)).toBe(false);
  expect(isExpired(account, account.expiresAt)).toBe(true);
});

it('asks Cloudflare for nothing while the terms are not accepted', async () => {
  fake.calls.length = 0;
  await expect(create({ acceptsTerms: false })).rejects.toMatchObject({
    code: 'terms_not_accepted',
    hint: expect.stringContaining(cloudflareTerms.termsOfService),
  });
  expect(fake.calls).toEqual([]);
});

it('has a dead token after its end', async () => {
  const { id, token } = await create();
  const cloudflare = openCloudflare({ token, baseUrl: baseUrl() });
  expect(await cloudflare.inspect({ accountId: id, script: 'wa-sync' })).toEqual({ kind: 'absent' });
  const account = fake.temporaryAccounts().find((each) => each.id === id);
  if (account) await fake.expire(account);
  await expect(cloudflare.accounts()).rejects.toMatchObject({ code: 'cloudflare_unauthorized' });
});

it.each([
  [/challenge/, 429, 971, 'cloudflare_rate_limited'],
  [/previews$/, 400, 12003, 'temporary_account_refused'],
  [/previews$/, 403, 10000, 'temporary_account_refused'],
] as const)('names a failure of %s with HTTP %i', async (match, status, number, code) => {
  fake.failNext(match, status, number, 'No.', { 'retry-after': '600' });
  await expect(create()).rejects.toMatchObject({ code });
});

const seed = Buffer.alloc(32, 7).toString('base64url');

it.each([
  { seed, k: 1_000, g: 64_001 },
  { seed, k: 200_000, g: 1 },
  { seed, k: 0, g: 1 },
  { seed, k: 1.5, g: 2 },
  { seed: 'short', k: 1, g: 1 },
  { seed, k: '1', g: 1 },
])('does not solve the challenge %j', (asked) => {
  expect(readChallenge({ challengeToken: 't', ...asked })).toBeUndefined();
  expect(readChallenge({ challengeToken: 't', seed, k: 1_000, g: 64_000 })).toBeDefined();
});

it('stops the proof of work when it is told to', async () => {
  const stop = new AbortController();
  const challenge = { challengeToken: 't', seed, k: 1_000, g: 64_000 };
  await expect(solve(challenge, () => stop.abort(), stop.signal)).rejects.toThrow('aborted');
});

async function post(path: string, body: unknown): Promise<{ status: number; result: Record<string, unknown> }> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(`${baseUrl()}/provisioning/previews${path}`, init);
  return { status: response.status, ...((await response.json()) as { result: Record<string, unknown> }) };
}

it('is refused by the fake for a used or foreign challenge, a wrong checkpoint, and terms that are not those', async () => {
  const challenge = async () => {
    const { result } = await post('/challenge', {});
    const asked = readChallenge(result);
    const checkpoints = asked ? await solve(asked) : '';
    return {
      ...cloudflareTerms,
      acceptTermsOfService: 'yes',
      challengeToken: result.challengeToken,
      solution: { checkpoints },
    };
  };
  const good = await challenge();
  expect((await post('', good)).status).toBe(200);
  expect((await post('', good)).status).toBe(400);
  expect((await post('', { ...(await challenge()), challengeToken: 'mine' })).status).toBe(400);
  expect((await post('', { ...(await challenge()), solution: good.solution })).status).toBe(400);
  expect((await post('', { ...(await challenge()), acceptTermsOfService: 'no' })).status).toBe(400);
  expect((await post('', { ...(await challenge()), privacyPolicy: 'https://else.example/' })).status).toBe(400);
});
