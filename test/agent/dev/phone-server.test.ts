// Who may open the phone page and type on it, and how its events continue. The page itself is driven in test/browser.

import { get } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { phoneUrl } from '../../../agent/dev/phone-key.ts';
import { digestOf } from '../../../agent/dev/phone-place.ts';
import { phonePages } from '../../../agent/dev/phone-server.ts';
import { startTelegramSim, type TelegramSim } from '../../../agent/dev/telegram-sim/sim.ts';

let sim: TelegramSim;
beforeEach(async () => {
  sim = await startTelegramSim({ firstId: 1, clock: () => 1_790_000_000_000, pages: await phonePages() });
});
afterEach(() => sim.close());

const say = (text: unknown, headers: Record<string, string> = { origin: sim.apiRoot }) =>
  fetch(`${sim.apiRoot}/say`, { method: 'POST', headers, body: JSON.stringify({ text }) });

/** Status of a GET; fetch would not let us choose the Host. */
function statusFor(host: string): Promise<number | undefined> {
  const { hostname, port } = new URL(sim.apiRoot);
  return new Promise((resolve, reject) => {
    get({ hostname, port, headers: { host } }, (response) => resolve(response.resume().statusCode)).on('error', reject);
  });
}

/** The first `count` events of a stream. */
async function events(count: number, path: string, headers: Record<string, string> = {}) {
  const controller = new AbortController();
  const response = await fetch(`${sim.apiRoot}${path}`, { headers, signal: controller.signal });
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.split('\ndata: ').length > count) break;
  }
  controller.abort();
  return [...text.matchAll(/id: (.*)\ndata: (.*)\n/g)].map(([, id, data]) => ({
    id: id ?? '',
    event: JSON.parse(data ?? ''),
  }));
}

const shown = (messageId: number, text: string) => ({
  messageId,
  chatId: sim.ownerId,
  from: 'owner',
  at: 1_790_000_000_000,
  text,
  entities: [],
  buttons: [],
  reactions: [],
});

describe('the server of the phone page', () => {
  it('accepts messages of the page and refuses messages that no phone could send', async () => {
    const answers = [await say('hello'), await say('  '), await say(5)];
    expect(await Promise.all(answers.map(async (answer) => [answer.status, await answer.json()]))).toEqual([
      [200, { messageId: 1 }],
      [400, { error: 'a message needs a text' }],
      [400, { error: 'Unknown request body.' }],
    ]);
    expect(sim.messages()).toEqual([shown(1, 'hello')]);
  });

  it('refuses every origin but its own, and every name but a loopback one', async () => {
    const port = new URL(sim.apiRoot).port;
    const origins = [{}, { origin: 'null' }, { origin: 'http://evil.example' }, { origin: `http://localhost:${port}` }];
    for (const headers of origins) expect((await say('x', headers)).status).toBe(403);
    expect(await Promise.all([`evil.example:${port}`, 'example.org', `127.0.0.1.evil.example`].map(statusFor))).toEqual(
      [403, 403, 403],
    );
    expect(await Promise.all([`localhost:${port}`, `127.0.0.1:${port}`].map(statusFor))).toEqual([200, 200]);
    expect(sim.messages()).toEqual([]);
  });

  it('forbids foreign and inline code, and frames around it', async () => {
    const { headers } = await fetch(sim.apiRoot);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('continues after the last event seen, and starts anew for an id it does not know', async () => {
    await sim.say('one');
    const [first] = await events(1, '/events');
    expect(first?.event).toEqual({
      type: 'snapshot',
      ownerId: sim.ownerId,
      link: { kind: 'none' },
      messages: [shown(1, 'one')],
    });
    await sim.say('two');
    await sim.say('three');
    const missed = [
      { type: 'message', message: shown(2, 'two') },
      { type: 'message', message: shown(3, 'three') },
    ];
    const byHeader = await events(2, '/events', { 'last-event-id': first?.id ?? '' });
    const byAddress = await events(2, `/events?after=${first?.id}`);
    expect([byHeader, byAddress].map((list) => list.map(({ event }) => event))).toEqual([missed, missed]);
    const [other] = await events(1, '/events', { 'last-event-id': 'otherrun-1' });
    expect(other?.event.type).toBe('snapshot');
  });

  it('admits only a browser that has the key', async () => {
    const key = 'k_5-Q';
    const locked = await startTelegramSim({ pages: await phonePages({ keys: [digestOf(key)] }) });
    try {
      const open = (path: string, headers: Record<string, string> = {}) =>
        fetch(`${locked.apiRoot}${path}`, { headers, redirect: 'manual' });
      expect([(await open('/')).status, (await open('/?key=guess')).status, (await open('/events')).status]).toEqual([
        401, 401, 401,
      ]);
      const granted = await fetch(phoneUrl(locked.apiRoot, key), { redirect: 'manual' });
      expect([granted.status, granted.headers.get('location')]).toEqual([303, '/']);
      const setCookie = granted.headers.get('set-cookie') ?? '';
      const name = `wa_phone_${new URL(locked.apiRoot).port}`;
      expect(setCookie).toBe(`${name}=${key}; Path=/; HttpOnly; SameSite=Lax`);
      expect((await open('/', { cookie: `other=1; ${name}=${key}` })).status).toBe(200);
      expect((await open('/', { cookie: `${name}=${key}x` })).status).toBe(401);
    } finally {
      await locked.close();
    }
  });
});
