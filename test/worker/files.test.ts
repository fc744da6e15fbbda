import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TelegramSim } from '../../agent/dev/telegram-sim/sim.ts';
import { startTelegramSim } from '../../agent/dev/telegram-sim/sim.ts';
import { relayLimits } from '../../protocol/limits.ts';
import type { DeadLettersAnswer } from '../../protocol/relay-api.ts';
import type { Relay } from '../helpers/relay.ts';
import { startRelay } from '../helpers/relay.ts';

const data = Uint8Array.from({ length: 300_000 }, (_, index) => index % 251);
const headersOf = (relay: Relay) => ({ authorization: `Bearer ${relay.token}` });
const queryOf = (relay: Relay, more: Record<string, string> = {}) =>
  new URLSearchParams({ mailbox: relay.mailbox, project: '0', ...more }).toString();
const codeOf = async (response: Response) =>
  [response.status, ((await response.json()) as { error: { code: string } }).error.code] as const;

type Upload = (
  key: string,
  body: Uint8Array<ArrayBuffer> | ReadableStream,
  more?: Record<string, string>,
) => Promise<Response>;
const uploadTo = (relay: Relay, ...[key, body, more]: Parameters<Upload>) =>
  fetch(`${relay.url}/v1/files?${queryOf(relay, { key, name: 'build "1".log', caption: 'the log', ...more })}`, {
    method: 'POST',
    headers: headersOf(relay),
    body,
    duplex: 'half',
  });

describe('files through the relay', () => {
  let sim: TelegramSim;
  let relay: Relay;

  beforeAll(async () => {
    sim = await startTelegramSim();
    relay = await startRelay({ sim });
  });
  afterAll(async () => {
    await relay.close();
    await sim.close();
  });

  const upload: Upload = (...what) => uploadTo(relay, ...what);
  const download = (id: string) =>
    fetch(`${relay.url}/v1/files/${encodeURIComponent(id)}?${queryOf(relay)}`, { headers: headersOf(relay) });

  /** The id of the file of a new message. */
  const phoneSends = async (bytes = data): Promise<string> => {
    await sim.say('look', { file: { fileName: 'a b.bin', contentType: 'application/octet-stream', data: bytes } });
    const row = (await relay.poll()).rows.at(-1);
    return (row?.kind === 'message' ? row.files?.[0]?.id : undefined) ?? '';
  };

  it('come in byte for byte, and without a trace of the bot token', async () => {
    const response = await download(await phoneSends());
    expect(response.status).toBe(200);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(data);
    expect(JSON.stringify([...response.headers])).not.toContain(sim.token.split(':')[1]);
  });

  it.each([
    ['an id of the platform itself', 'AgACAgIAAxkBAAFAKE', 404, 'not_found'],
    ['nothing that ever was', 'msg_zz_0_1_0', 404, 'not_found'],
  ])('are not given out for %s', async (_, id, status, code) => {
    expect(await codeOf(await download(id))).toEqual([status, code]);
  });

  it.each([
    [
      'that the platform forgot',
      { status: 400, body: { ok: false, description: 'Bad Request: invalid file_id' } },
      404,
      'not_found',
    ],
    [
      'that are too big',
      { status: 400, body: { ok: false, description: 'Bad Request: file is too big' } },
      413,
      'body_too_large',
    ],
    ['while the platform is slowing us', { status: 429 }, 503, 'rate_limited'],
    ['while the platform is down', { status: 502, body: '<html>' }, 502, 'platform_error'],
  ])('%s are refused by their own code', async (_, failure, status, code) => {
    const id = await phoneSends();
    sim.failNext({ method: 'getFile', ...failure });
    expect(await codeOf(await download(id))).toEqual([status, code]);
  });

  it('go out as a document with name, caption and content, once per key', async () => {
    const answer = await upload('document-1', data);
    expect([answer.status, await answer.json()]).toEqual([200, { items: [{ key: 'document-1', state: 'sent' }] }]);
    const [shown] = sim.messages().filter(({ document }) => document?.fileName === 'build _1_.log');
    expect(shown).toMatchObject({ text: 'the log', document: { bytes: data.length } });
    expect(await (await upload('document-1', data)).json()).toEqual({ items: [{ key: 'document-1', state: 'sent' }] });
    expect(sim.calls.filter(({ method }) => method === 'sendDocument')).toHaveLength(1);
  });

  it('go out again after a lost answer, which is counted', async () => {
    sim.failNext({ method: 'sendDocument', status: 200, body: '<html>', afterEffect: true });
    expect(await codeOf(await upload('document-2', data))).toEqual([502, 'platform_error']);
    expect((await upload('document-2', data)).status).toBe(200);
    expect(await relay.metrics()).toMatchObject({ wa_possible_duplicates_total: 1 });
  });

  it('that the platform refuses are dead, with its words', async () => {
    sim.failNext({ method: 'sendDocument', status: 403 });
    expect(await (await upload('document-3', data)).json()).toEqual({
      items: [
        {
          key: 'document-3',
          state: 'dead',
          error: { code: 'chat_unreachable', reason: 'Forbidden: bot was blocked by the user' },
        },
      ],
    });
    // Only the workstation has the bytes, so there is nothing here to send again.
    const { body } = await relay.call<DeadLettersAnswer>('GET', `/v1/dead-letters?${queryOf(relay)}`);
    expect(body).toEqual({ deadLetters: [] });
  });

  it.each([
    ['without a length', () => new Blob([data]).stream(), {}, 400, 'bad_request'],
    ['that are empty', () => new Uint8Array(), {}, 400, 'bad_request'],
    ['without a name', () => data, { name: '' }, 400, 'bad_request'],
    ['for a foreign chat', () => data, { mailbox: '2000002' }, 404, 'unknown_mailbox'],
  ])('%s are refused', async (_, body, more, status, code) => {
    expect(await codeOf(await upload('document-4', body(), more))).toEqual([status, code]);
  });

  it('above the limit are refused before they are sent', async () => {
    const large = new Uint8Array(relayLimits.fileUpBytes + 1);
    expect(await codeOf(await upload('document-5', large))).toEqual([413, 'body_too_large']);
  });
});

describe('files through a relay that may send at once', () => {
  let sim: TelegramSim;
  let relay: Relay;

  beforeEach(async () => {
    sim = await startTelegramSim();
    relay = await startRelay({ sim });
  });
  afterEach(async () => {
    await relay.close();
    await sim.close();
  });
  const upload: Upload = (...what) => uploadTo(relay, ...what);

  it('go out however large the limit allows', async () => {
    const large = new Uint8Array(30 * 1024 * 1024).fill(7);
    expect((await upload('document-6', large, { name: 'large.bin' })).status).toBe(200);
    expect(sim.messages().at(-1)).toMatchObject({ document: { fileName: 'large.bin', bytes: large.length } });
  });

  it('wait when the platform asks for a pause, and so does everything else', async () => {
    sim.failNext({ method: 'sendDocument', status: 429, headers: { 'Retry-After': '1' } });
    expect(await codeOf(await upload('document-7', data))).toEqual([503, 'rate_limited']);
    expect((await upload('document-7', data)).status).toBe(200);
    sim.failNext({ method: 'sendDocument', status: 429, headers: { 'Retry-After': '13938' } });
    expect(await codeOf(await upload('document-8', data))).toEqual([503, 'rate_limited']);
    expect(await codeOf(await upload('document-8', data))).toEqual([503, 'rate_limited']);
    expect(sim.calls.filter(({ method }) => method === 'sendDocument').slice(-3)).toMatchObject([
      { answer: { status: 429 } },
      { answer: { status: 200 } },
      { answer: { status: 429 } },
    ]);
  });
});

describe('typing', () => {
  it('is shown without touching the mailbox, and a failure is ignored', async () => {
    const sim = await startTelegramSim();
    const relay = await startRelay({ sim });
    try {
      const typing = () =>
        fetch(`${relay.url}/v1/typing`, {
          method: 'POST',
          headers: { authorization: `Bearer ${relay.token}` },
          body: JSON.stringify({ mailbox: relay.mailbox, project: 0 }),
        });
      expect((await typing()).status).toBe(204);
      const call = await sim.waitForCall(({ method }) => method === 'sendChatAction');
      expect(call.params).toMatchObject({ chat_id: sim.ownerId, action: 'typing' });
      sim.failNext({ method: 'sendChatAction', status: 500 });
      expect((await typing()).status).toBe(204);
      expect(await relay.objects()).toBe(0);
    } finally {
      await relay.close();
      await sim.close();
    }
  });
});
