// `POST /v1/rehome`: the relay moves its platforms to the address at which it was asked, with the secret that it has.

import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { allowedUpdates } from '../../protocol/telegram-settings.ts';
import { nextSecret, type Rigs, secret, startRigs } from './rigs.ts';

let rigs: Rigs;
beforeAll(async () => {
  rigs = await startRigs();
});
afterAll(() => rigs.close());
beforeEach(() => rigs.sim.setWebhook('https://old.example/telegram/webhook', 'old'));

type Failure = { error: { code: string; message: string } };
const rehome = <T = Failure>(body: object = {}) => rigs.call<T>('POST', '/v1/rehome', body);
const sumOf = (text: string) => createHash('sha256').update(text).digest('hex');
const botApi = async (method: string) => {
  const { apiRoot, token } = rigs.sim;
  return ((await (await fetch(`${apiRoot}/bot${token}/${method}`)).json()) as { result: Record<string, unknown> })
    .result;
};
const webhookUrl = () => `${rigs.url}/telegram/webhook`;

it('has every platform deliver to the host on which it is asked, as the platform itself says', async () => {
  expect(await rehome()).toEqual({
    status: 200,
    body: {
      platforms: [
        { name: 'telegram', url: webhookUrl(), pending: 0 },
        { name: 'workshop', url: `${rigs.url}/workshop/changes`, pending: 0 },
      ],
    },
  });
  expect(await botApi('getWebhookInfo')).toMatchObject({ url: webhookUrl(), allowed_updates: [...allowedUpdates] });
  await rigs.telegram.say('are you there?');
  expect(rigs.telegram.bench.poll({ mailbox: rigs.telegram.mailbox }).rows).toMatchObject([{ text: 'are you there?' }]);
});

it('takes updates with either secret, so that none is refused while one replaces the other', async () => {
  await rehome({ secret: 'next' });
  await rigs.telegram.say('with the next secret');
  await rehome({ secret: 'current' });
  await rigs.telegram.say('with the current secret');
  const { rows } = rigs.telegram.bench.poll({ mailbox: rigs.telegram.mailbox });
  expect(rows.slice(-2)).toMatchObject([{ text: 'with the next secret' }, { text: 'with the current secret' }]);
  expect(await rigs.telegram.forge()).toBe(401);
});

it('refuses while the secret that the caller has just set has not arrived, and leaves the webhook', async () => {
  expect(await rehome({ secret: 'current', sha256: sumOf(nextSecret) })).toMatchObject({
    status: 500,
    body: { error: { code: 'misconfigured' } },
  });
  expect(await botApi('getWebhookInfo')).toMatchObject({ url: 'https://old.example/telegram/webhook' });
  expect(await rehome({ secret: 'current', sha256: sumOf(secret) })).toMatchObject({ status: 200 });
});

it.each([
  [{ status: 401 }, 'platform_unauthorized'],
  [{ status: 429, headers: { 'Retry-After': '7' } }, 'rate_limited'],
  [{ status: 502 }, 'platform_unreachable'],
] as const)('names the failure of the platform, %j, and no secret', async (failure, code) => {
  rigs.sim.failNext(failure);
  const answer = await rehome();
  expect(answer.body.error.code).toBe(code);
  expect(JSON.stringify(answer.body)).not.toMatch(new RegExp(`${secret}|${rigs.sim.token.split(':')[1]}`));
});

it('sends at once what waited for credentials that work', async () => {
  const { bench } = rigs.telegram;
  rigs.sim.failNext({ status: 401, method: 'sendMessage' });
  bench.post({ key: 'kept-while-revoked', class: 'answer', parts: [{ text: 'after the new token', entities: [] }] });
  await bench.runUntil(bench.clock.now + 1_000);
  expect(bench.logic.status().paused).toMatchObject({ code: 'platform_unauthorized' });
  await rehome();
  await bench.runUntil(bench.clock.now + 1_000);
  expect(bench.logic.status().paused).toBeUndefined();
  expect(rigs.telegram.shown().at(-1)?.text).toBe('after the new token');
});

it('asks for the agent token', async () => {
  const response = await fetch(`${rigs.url}/v1/rehome`, { method: 'POST', body: '{}' });
  expect(response.status).toBe(401);
});
