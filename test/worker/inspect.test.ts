// What Telegram says of the bot, as the relay reads it: over the simulated Bot API.

import { expect, it, onTestFinished } from 'vitest';
import { startTelegramSim, type TelegramSim, type TelegramSimOptions } from '../../agent/dev/telegram-sim/sim.ts';
import { inspect } from '../../worker/telegram/inspect.ts';

const group = -1_001_000_000_001;

async function inspected(options: TelegramSimOptions, prepare: (sim: TelegramSim) => unknown = () => {}, chats = '') {
  const sim = await startTelegramSim(options);
  onTestFinished(() => sim.close());
  await prepare(sim);
  const api = { apiRoot: sim.apiRoot, token: sim.token, fetch };
  return inspect(api, { botId: sim.botId, chatIds: chats === '' ? [String(sim.ownerId)] : chats.split(',') });
}

const ask = (sim: TelegramSim, method: string, params: object) =>
  fetch(`${sim.apiRoot}/bot${sim.token}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(params),
  });

it('reads webhook, rights and chats', async () => {
  const report = await inspected({ privateTopics: true, readsGroups: true }, (sim) =>
    ask(sim, 'setWebhook', {
      url: 'https://relay.example/telegram/webhook',
      allowed_updates: ['message', 'edited_message'],
    }),
  );
  expect(report).toEqual({
    kind: 'report',
    username: 'wa_sync_bot',
    topics: true,
    webhook: {
      host: 'relay.example',
      route: '/telegram/webhook',
      isRoute: true,
      pending: 0,
      lastError: null,
      missing: ['callback_query', 'my_chat_member', 'stopped_message_generation'],
    },
    troubles: [],
  });
});

it('tells the host of a foreign webhook and nothing else of its address', async () => {
  const report = await inspected({}, (sim) =>
    ask(sim, 'setWebhook', { url: 'https://other.example/hooks/s3cret?key=s3cret' }),
  );
  expect(report).toMatchObject({ webhook: { host: 'other.example', isRoute: false, missing: [] } });
  expect(JSON.stringify(report)).not.toContain('s3cret');
});

it('tells what keeps the bot from hearing a group', async () => {
  const chats = `${group},${group - 1},${group - 2}`;
  const groups = [{ id: group }, { id: group - 1, botIsAdmin: true }];
  expect(await inspected({ groups }, () => {}, chats)).toMatchObject({
    webhook: { host: null, isRoute: false },
    troubles: [
      {
        what: expect.stringContaining(`privacy mode: in group ${group} @wa_sync_bot`),
        repair: expect.stringContaining('/setprivacy'),
      },
      { what: expect.stringContaining(`cannot reach chat ${group - 2}: Bad Request: chat not found`) },
    ],
  });
});

it('reports a refused token and a silent Telegram as a failure with its code, and shows no token', async () => {
  const report = await inspected({}, (sim) => {
    sim.failNext({ method: 'getMe', status: 401 });
  });
  expect(report).toMatchObject({ kind: 'failed', code: 'platform_unauthorized' });
  const silent = await inspected({}, (sim) => sim.close());
  expect(silent).toMatchObject({ kind: 'failed', code: 'platform_unreachable' });
  expect(JSON.stringify(silent)).not.toMatch(/\d+:[\w-]{20}/);
});
