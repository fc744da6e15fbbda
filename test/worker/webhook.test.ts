import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { relayLimits } from '../../protocol/limits.ts';
import type { Relay } from '../helpers/relay.ts';
import { startRelay } from '../helpers/relay.ts';
import { textUpdate } from './updates.ts';

const recorded = (name: string): object =>
  JSON.parse(readFileSync(new URL(`../fixtures/telegram/updates/${name}.json`, import.meta.url), 'utf8'));

/** A body without a content-length. */
function postChunked(relay: Relay, bytes: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(
      `${relay.url}/telegram/webhook`,
      {
        method: 'POST',
        headers: { 'x-telegram-bot-api-secret-token': relay.webhookSecret, 'transfer-encoding': 'chunked' },
      },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      },
    );
    call.on('error', reject);
    for (let sent = 0; sent < bytes; sent += 16_384) call.write('x'.repeat(16_384));
    call.end();
  });
}

describe('the webhook', () => {
  let relay: Relay;
  let updateId = 1;
  const own = (text: string) => {
    updateId += 1;
    return textUpdate(text, { chatId: relay.mailbox, updateId });
  };

  beforeAll(async () => {
    relay = await startRelay();
  });
  afterAll(() => relay.close());

  it.each(['wrong', ''])('refuses the secret %j with 401 and touches no object', async (secret) => {
    const answer = await relay.webhook(own('no'), { 'x-telegram-bot-api-secret-token': secret });
    expect(answer.status).toBe(401);
    expect(await relay.objects()).toBe(0);
  });

  it('refuses a call without the secret header', async () => {
    const response = await fetch(`${relay.url}/telegram/webhook`, { method: 'POST', body: JSON.stringify(own('no')) });
    expect(response.status).toBe(401);
    expect(await relay.objects()).toBe(0);
  });

  it('takes foreign chats, foreign users and what it cannot read, counts them, and touches no object', async () => {
    const updates = [
      recorded('message_foreign_chat'),
      recorded('message_foreign_user_in_authorised_group'),
      recorded('message_anonymous_admin'),
      textUpdate('hi', { chatId: relay.mailbox, userId: '2000002', updateId: 5 }),
      recorded('unknown_future_update'),
      recorded('channel_post'),
      recorded('forum_topic_created'),
      'no json {',
      '[]',
      '{"update_id":"x"}',
    ];
    for (const update of updates) expect(await relay.webhook(update)).toMatchObject({ status: 200 });
    expect(await relay.objects()).toBe(0);
    expect(await relay.metrics()).toMatchObject({
      'wa_ignored_total{reason="foreign"}': 4,
      'wa_ignored_total{reason="unknown"}': 2,
      'wa_ignored_total{reason="service"}': 1,
      'wa_ignored_total{reason="unreadable"}': 3,
      wa_in_total: 0,
    });
  });

  it('refuses a body above the limit with 413, also without a declared length', async () => {
    expect((await relay.webhook(own('x'.repeat(relayLimits.webhookBodyBytes)))).status).toBe(413);
    expect(await postChunked(relay, relayLimits.webhookBodyBytes + 16_384)).toBe(413);
  });

  it('stores a message once, however often it comes', async () => {
    const update = own('hello');
    for (let n = 0; n < 3; n += 1) expect((await relay.webhook(update)).status).toBe(200);
    expect((await relay.poll()).rows).toMatchObject([{ seq: 1, text: 'hello' }]);
  });

  it('answers 503 with Retry-After while storage fails, and takes the same update later', async () => {
    const update = own('keep me');
    await relay.sql('ALTER TABLE log RENAME TO elsewhere');
    expect(await relay.webhook(update)).toEqual({ status: 503, retryAfter: '5' });
    const polled = await relay.call('POST', '/v1/poll', {
      mailbox: relay.mailbox,
      project: 0,
      epoch: null,
      after: null,
      holdMs: 25_000,
      daemon: { id: 'daemon-of-a-test', startedAt: 1_790_000_000_000 },
    });
    expect(polled).toMatchObject({ status: 503, body: { error: { code: 'storage_failed' } } });
    await relay.sql('ALTER TABLE elsewhere RENAME TO log');
    expect((await relay.webhook(update)).status).toBe(200);
    expect((await relay.poll()).rows.at(-1)).toMatchObject({ text: 'keep me' });
  });

  it.each(['99', '1'])(
    'touches nothing of a storage of version %s, which is not its own, and says so',
    async (version) => {
      await relay.sql(`UPDATE meta SET value = '${version}' WHERE key = 'version'`);
      await relay.evict('close');
      expect(await relay.webhook(own('not now'))).toEqual({ status: 503, retryAfter: '5' });
      expect(await relay.call('GET', '/v1/status')).toMatchObject({
        status: 500,
        body: { error: { code: 'storage_version', hint: expect.stringContaining('wrangler delete') } },
      });
      await relay.sql("UPDATE meta SET value = '5' WHERE key = 'version'");
      await relay.evict('close');
      expect((await relay.webhook(own('now'))).status).toBe(200);
    },
  );
});

describe('a relay without', () => {
  it.each([
    ['a webhook secret refuses every update', { TELEGRAM_WEBHOOK_SECRET: null }, 401, 200],
    [
      'any setting refuses every update and every call',
      { TELEGRAM_WEBHOOK_SECRET: null, WA_AGENT_TOKEN_SHA256: null },
      401,
      500,
    ],
    ['an agent token lets the platform keep the update', { WA_AGENT_TOKEN_SHA256: null }, 503, 500],
    ['a valid time to live lets the platform keep the update', { WA_MESSAGE_TTL_HOURS: '169' }, 503, 500],
    ['users for a group lets the platform keep the update', { TELEGRAM_CHAT_ID: '-100200' }, 503, 500],
  ])('%s', async (_, vars, webhookStatus, statusStatus) => {
    const relay = await startRelay({ vars });
    try {
      expect((await relay.webhook(textUpdate('hi', { chatId: relay.mailbox, updateId: 1 }))).status).toBe(
        webhookStatus,
      );
      expect((await relay.call('GET', '/v1/status')).status).toBe(statusStatus);
      expect((await fetch(`${relay.url}/healthz`)).status).toBe(200);
    } finally {
      await relay.close();
    }
  });
});
