import { get } from 'node:http';
import { describe, expect, it } from 'vitest';
import { call, owner, recorded, refused, send, start } from './client.ts';

describe('the limits of the simulated Bot API', () => {
  it.each([
    ['no text', { text: ' \n ' }, recorded('400_message_text_empty')],
    ['4097 units', { text: 'x'.repeat(4097) }, recorded('400_message_too_long')],
    ['32769 bytes', { text: 'é'.repeat(16_385) }, recorded('400_text_too_long_32k_bytes')],
    [
      'an entity beyond the end',
      { text: '0123456789!', entities: [{ type: 'bold', offset: 10, length: 89 }] },
      recorded('400_entity_out_of_range'),
    ],
    [
      'an entity inside a surrogate pair',
      { text: 'a👍b', entities: [{ type: 'bold', offset: 0, length: 2 }] },
      refused('entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol at UTF-16 offset 2'),
    ],
    [
      'a link without a dot in its host',
      { text: 'app', entities: [{ type: 'text_link', offset: 0, length: 3, url: 'http://localhost:3000' }] },
      recorded('400_entity_bad_url'),
    ],
    [
      'a link to a file',
      { text: 'app', entities: [{ type: 'text_link', offset: 0, length: 3, url: 'src/app' }] },
      refused("entity URL 'src/app' is invalid: Wrong HTTP URL"),
    ],
    [
      'bold code',
      {
        text: 'code',
        entities: [
          { type: 'bold', offset: 0, length: 4 },
          { type: 'code', offset: 1, length: 2 },
        ],
      },
      refused("can't parse entities: bold combined with code at UTF-16 offset 1"),
    ],
    [
      'bold in bold',
      {
        text: 'bold',
        entities: [
          { type: 'bold', offset: 0, length: 4 },
          { type: 'bold', offset: 1, length: 2 },
        ],
      },
      refused("can't parse entities: nested bold at UTF-16 offset 1"),
    ],
    [
      '101 entities',
      {
        text: 'x'.repeat(101),
        entities: Array.from({ length: 101 }, (_, offset) => ({ type: 'bold', offset, length: 1 })),
      },
      refused('too many entities: 101'),
    ],
    ['a bare dot in MarkdownV2', { text: 'a.b', parse_mode: 'MarkdownV2' }, recorded('400_cant_parse_entities_md')],
    [
      'an open bold in MarkdownV2',
      { text: 'Hello there *you', parse_mode: 'MarkdownV2' },
      recorded('400_cant_parse_entities_unclosed'),
    ],
    [
      'an unknown tag in HTML',
      { text: 'The component that renders is now <Router>', parse_mode: 'HTML' },
      recorded('400_cant_parse_entities_html'),
    ],
    ['a parse_mode of another world', { text: 'x', parse_mode: 'bbcode' }, refused('unsupported parse_mode')],
    ['an unknown chat', { text: 'x', chat_id: 5 }, recorded('400_chat_not_found')],
    ['an unknown topic', { text: 'x', message_thread_id: 7 }, recorded('400_thread_not_found')],
    [
      'a reply to nothing',
      { text: 'x', reply_parameters: { message_id: 1 } },
      recorded('400_message_to_be_replied_not_found'),
    ],
    [
      '65 bytes of button data',
      { text: 'x', reply_markup: { inline_keyboard: [[{ text: 'b', callback_data: 'é'.repeat(33) }]] } },
      recorded('400_button_data_invalid'),
    ],
  ])('refuses %s', async (_what, params, refusal) => {
    const sim = await start();
    expect(await send(sim, params)).toEqual(refusal);
    expect(sim.messages()).toEqual([]);
  });

  it('takes the limits themselves', async () => {
    const sim = await start();
    const entities = Array.from({ length: 100 }, (_, offset) => ({ type: 'bold', offset, length: 1 }));
    expect((await send(sim, { text: 'x'.repeat(4096), entities })).status).toBe(200);
    const data = 'd'.repeat(64);
    const reply_markup = { inline_keyboard: [[{ text: 'b', callback_data: data }]] };
    expect(
      (
        await send(sim, {
          text: 'x',
          reply_markup,
          reply_parameters: { message_id: 1, allow_sending_without_reply: true },
        })
      ).status,
    ).toBe(200);
    expect(await call(sim, 'answerCallbackQuery', { callback_query_id: '1', text: 'x'.repeat(201) })).toEqual(
      refused('MESSAGE_TOO_LONG'),
    );
  });

  it('refuses a caption of 1025 units and the download of a file over 20 MB', async () => {
    const sim = await start();
    const small = { fileName: 'a.txt', contentType: 'text/plain', data: new Uint8Array(3) };
    await sim.say('', { file: small });
    await sim.say('look', { file: { ...small, data: new Uint8Array(20 * 1024 * 1024 + 1) } });
    const [first, second] = sim.messages().map(({ document }) => document?.fileId);
    const sent = { chat_id: owner, document: first };
    expect(await call(sim, 'sendDocument', { ...sent, caption: 'x'.repeat(1025) })).toEqual(
      recorded('400_caption_too_long'),
    );
    expect((await call(sim, 'sendDocument', { ...sent, caption: 'x'.repeat(1024) })).status).toBe(200);
    expect(await call(sim, 'getFile', { file_id: second })).toEqual(recorded('400_file_too_big'));
  });

  it('answers 413 to an upload over 50 MB and outlives malformed addresses', async () => {
    const sim = await start();
    const form = new FormData();
    form.set('chat_id', String(owner));
    form.set('document', new File([new Uint8Array(51 * 1024 * 1024)], 'big.bin'));
    const sent = await fetch(`${sim.apiRoot}/bot${sim.token}/sendDocument`, { method: 'POST', body: form });
    expect({ status: sent.status, body: await sent.json() }).toEqual(recorded('413_upload_too_large'));
    const { hostname, port } = new URL(sim.apiRoot);
    for (const path of ['//', '/bot%/getMe', '/file/bot%E0%A4%A/x', '*', '//[']) {
      const status = await new Promise((resolve, reject) =>
        get({ hostname, port, path }, (response) => resolve(response.resume().statusCode)).on('error', reject),
      );
      expect([path, status]).toEqual([path, path.includes('bot') ? 401 : 404]);
    }
  });

  it('limits a flood when asked to, with retry_after in body and header', async () => {
    let now = 1_790_000_000_000;
    const sim = await start({ floodLimits: true, clock: () => now });
    for (const text of ['1', '2', '3']) expect((await send(sim, { text })).status).toBe(200);
    const response = await fetch(`${sim.apiRoot}/bot${sim.token}/sendMessage?chat_id=${owner}&text=4`);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.json()).toEqual({
      ok: false,
      error_code: 429,
      description: 'Too Many Requests: retry after 1',
      parameters: { retry_after: 1 },
    });
    now += 1000;
    expect((await send(sim, { text: '4' })).status).toBe(200);
  });
});
