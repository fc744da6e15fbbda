import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { megabytes } from '../../protocol/size.ts';
import type { SendOutcome } from '../../worker/platform.ts';
import { readAnswer } from '../../worker/telegram/errors.ts';
import { decodeUpdate } from '../../worker/telegram/inbound.ts';
import { callBotApi } from '../../worker/telegram/send.ts';

const fixtures = new URL('../fixtures/telegram/', import.meta.url);
const nowMs = 1_790_000_999_000;

function readFixture(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, fixtures), 'utf8'));
}

describe('an update of Telegram', () => {
  const decoded = (name: string) => decodeUpdate(readFixture(`updates/${name}.json`), nowMs);

  it('with a text is a message of its chat and user', () => {
    expect(decoded('message_text')).toEqual({
      ok: true,
      chatId: '1000001',
      userId: '1000001',
      event: {
        dedupeKey: '870000100',
        language: 'de',
        project: 0,
        at: 1_790_000_501_000,
        kind: 'message',
        ref: '500',
        text: 'Please fix the failing test in src/auth.ts',
      },
    });
  });

  it.each([
    ['forum_topic_message', { project: 12, text: 'status of project alpha?' }],
    ['private_topic_message', { project: 88, text: 'continue in this session' }],
    ['command_addressed_in_group', { project: 12, text: '/status@example_bridge_bot' }],
    ['reply_with_quote', { text: 'yes, but as a draft', quote: 'Shall I open a pull request?' }],
    ['reply_to_external_message', { text: 'use this release', quote: 'release 2.0' }],
    [
      'forwarded_message',
      { text: 'Forwarded bug report: the login page is blank', forwarded: { from: 'Someone Hidden' } },
    ],
    [
      'photo_with_caption',
      {
        text: 'What is wrong in this screenshot?',
        files: [{ id: 'AgACAgIAAxkBAAFAKE_photo_a_3', kind: 'photo', name: 'photo.jpg', bytes: 163_840 }],
      },
    ],
    ['document', { text: 'log of the failed build', files: [{ kind: 'document', name: 'build log.txt' }] }],
    [
      'document_too_big',
      {
        text: '[document dump.zip, 30 MB: too large to be fetched]',
        tooLarge: [{ name: 'dump.zip', bytes: 31_457_280 }],
      },
    ],
    [
      'voice',
      { text: '', files: [{ id: 'AwACAgIAAxkBAAFAKE_voice_0', kind: 'voice', name: 'voice.ogg', bytes: 28_170 }] },
    ],
    ['message_formatted_utf16', { text: 'Run this: npm test && echo "👩🏽‍💻 ok" in bold' }],
    ['stopped_message_generation', { text: '/stop' }],
  ])('%s carries its topic, text and quote', (name, event) => {
    expect(decoded(name)).toMatchObject({ ok: true, event: { kind: 'message', ...event } });
  });

  const sent = (content: object) => {
    const chat = { id: 1_000_001, type: 'private' };
    const message = { message_id: 7, date: 1_790_000_000, chat, from: { id: 1_000_001 }, ...content };
    const update = decodeUpdate({ update_id: 1, message }, nowMs);
    return update.ok && update.event.kind === 'message' ? update.event : update;
  };
  const file = { file_id: 'f', file_unique_id: 'u', file_size: 5 };

  it.each([
    ['video', { video: file }, { kind: 'video', name: 'video.mp4' }],
    ['video note', { video_note: file }, { kind: 'video', name: 'video-note.mp4' }],
    ['audio', { audio: { ...file, file_name: 'song.flac' } }, { kind: 'audio', name: 'song.flac' }],
    [
      'animation, which also carries a document',
      { animation: file, document: file },
      { kind: 'animation', name: 'animation.mp4' },
    ],
  ])('with a %s carries its file', (_, content, carried) => {
    expect(sent(content)).toMatchObject({ text: '', files: [{ id: 'f', bytes: 5, ...carried }] });
  });

  it('with a sticker says its emoji and carries it', () => {
    expect(sent({ sticker: { ...file, emoji: '👍', is_video: true } })).toMatchObject({
      text: '[sticker 👍]',
      files: [{ kind: 'sticker', name: 'sticker.webm' }],
    });
  });

  it('with a file that is too large gives the agent the same size as the phone', () => {
    const dump = { ...file, file_name: 'dump.zip', file_size: 30_000_000 };
    expect(sent({ document: dump })).toMatchObject({ text: '[document dump.zip, 28.6 MB: too large to be fetched]' });
    expect(megabytes(30_000_000)).toBe('28.6 MB');
  });

  it.each([
    [{ location: { latitude: 52.5, longitude: 13.4 } }, '[location 52.5, 13.4]'],
    [
      {
        venue: { location: { latitude: 1, longitude: 2 }, title: 'Office', address: 'Main St 1' },
        location: { latitude: 1, longitude: 2 },
      },
      '[venue Office, Main St 1, 1, 2]',
    ],
    [{ contact: { phone_number: '+100', first_name: 'Ann' } }, '[contact Ann, +100]'],
    [{ poll: { question: 'Tabs?', options: [{ text: 'yes' }, { text: 'no' }] } }, '[poll Tabs? yes / no]'],
    [{ dice: { emoji: '🎲', value: 4 } }, '[dice 🎲 4]'],
    [{ story: { id: 1 } }, '[story: wa-sync cannot pass this on]'],
    [{ holo_gram: {} }, '[holo gram: wa-sync cannot pass this on]'],
  ])('without words or files becomes a line that says what came: %#', (content, text) => {
    expect(sent(content)).toMatchObject({ kind: 'message', text });
    expect(sent(content)).not.toHaveProperty('files');
  });

  it.each([{ pinned_message: {} }, { new_chat_title: 'x' }, { video_chat_started: {} }, {}])(
    'of the platform itself is none: %j',
    (content) => {
      expect(sent(content)).toEqual({ ok: false, reason: 'service' });
    },
  );

  it('that answers a file or a message elsewhere says so in the quote', () => {
    expect(sent({ text: 'this one', reply_to_message: { document: { ...file, file_name: 'a.log' } } })).toMatchObject({
      quote: '[document a.log]',
    });
    expect(sent({ text: 'this one', external_reply: { chat: { title: 'News' } } })).toMatchObject({
      quote: '[a message in News]',
    });
  });

  it('that forwards names who wrote it, so that a forwarded stop is no order', () => {
    const from = (forward_origin: object) => sent({ text: 'stop', forward_origin });
    expect(from({ type: 'user', sender_user: { first_name: 'Ann\u2028', last_name: 'Lee' } })).toMatchObject({
      text: 'stop',
      forwarded: { from: 'Ann Lee' },
    });
    expect(from({ type: 'channel', chat: { title: 'News' } })).toMatchObject({ forwarded: { from: 'News' } });
    expect(from({ type: 'new kind' })).toMatchObject({ text: 'stop', forwarded: { from: '' } });
  });

  it('that answers another one says whose words it quotes', () => {
    const chat = { id: 1_000_001, type: 'private' };
    const of = (reply_to_message: object) => {
      const message = {
        message_id: 7,
        date: 1_790_000_000,
        chat,
        from: { id: 1_000_001 },
        text: 'yes',
        reply_to_message,
      };
      const update = decodeUpdate({ update_id: 1, message }, nowMs, 42);
      return update.ok && update.event.kind === 'message' ? update.event.quoteFrom : update;
    };
    expect(of({ text: 'Deploy?', from: { id: 42 } })).toBe('agent');
    expect(of({ text: 'my idea', from: { id: 1_000_001 } })).toBe('owner');
    expect(of({ text: 'their idea', from: { id: 5 } })).toBeUndefined();
    expect(of({ text: 'their idea', from: { id: 1_000_001 }, forward_origin: { type: 'user' } })).toBeUndefined();
    expect(of({ text: 'a channel', from: { id: 42 }, sender_chat: { id: 9 } })).toBeUndefined();
  });

  it('keeps the address of a link and code as Markdown, in addition to the plain text that commands are read in', () => {
    const text = 'see 👩🏽‍💻 docs and npm test\nlet a = 1;';
    const at = (words: string) => ({ offset: text.indexOf(words), length: words.length });
    const entities = [
      { type: 'pre', language: 'ts', ...at('let a = 1;') },
      { type: 'text_link', url: 'https://example.org/a_(b) c', ...at('docs') },
      { type: 'code', ...at('npm test') },
      { type: 'bold', ...at('see') },
    ];
    const markdown = 'see 👩🏽‍💻 [docs](https://example.org/a_%28b%29%20c) and `npm test`\n```ts\nlet a = 1;\n```';
    expect(sent({ text, entities })).toMatchObject({ text, markdown });
    expect(sent({ caption: text, caption_entities: entities, document: file })).toMatchObject({ text, markdown });
    expect(sent({ text: 'a `b` ```c', entities: [{ type: 'code', offset: 0, length: 10 }] })).toMatchObject({
      markdown: '````a `b` ```c````',
    });
    expect(sent({ text: 'plain', entities: [{ type: 'bold', offset: 0, length: 5 }] })).not.toHaveProperty('markdown');
  });

  it.each([
    [{ type: 'code', offset: -1, length: 3 }],
    [{ type: 'code', offset: 0, length: 99 }],
    [{ type: 'code', offset: 4, length: 0 }],
    [{ type: 'code', offset: 1, length: 1 }],
    [{ type: 'code', offset: 0.5, length: 1 }],
    [{ type: 'code', offset: '0', length: 1 }],
    [{ type: 'text_link', offset: 0, length: 2, url: 'x'.repeat(3_000) }],
    [{ type: 'text_link', offset: 0, length: 2, url: 'no address' }],
    ['code'],
    [null],
  ])('has no entity that is malformed, out of the text or in the middle of a character: %j', (entity) => {
    expect(sent({ text: '😀 words', entities: [entity] })).toMatchObject({ text: '😀 words' });
    expect(sent({ text: '😀 words', entities: [entity] })).not.toHaveProperty('markdown');
    expect(sent({ text: '😀 words', entities: 'none' })).not.toHaveProperty('markdown');
  });

  it('has of two entities that overlap the first alone', () => {
    const code = (offset: number, length: number) => ({ type: 'code', offset, length });
    expect(sent({ text: 'one two', entities: [code(2, 3), code(0, 3)] })).toMatchObject({ markdown: '`one` two' });
  });

  it('that moves a live location is not an edit', () => {
    const edited_message = {
      message_id: 7,
      date: 1,
      chat: { id: 1 },
      location: { latitude: 1, longitude: 2, live_period: 60 },
    };
    expect(decodeUpdate({ update_id: 1, edited_message }, nowMs)).toEqual({ ok: false, reason: 'service' });
  });

  it('of an album names the album in each part', () => {
    const parts = ['media_group_1', 'media_group_2'].map(decoded);
    expect(parts.map((part) => part.ok && part.event.kind === 'message' && part.event.album)).toEqual([
      '13900000000000001',
      '13900000000000001',
    ]);
  });

  it('that edits names the edited message', () => {
    expect(decoded('edited_message')).toMatchObject({
      event: {
        kind: 'edit',
        ref: '506',
        at: 1_790_000_537_000,
        text: 'Please fix the failing test in src/auth.ts and src/db.ts',
      },
    });
  });

  it('of a tapped button names the button, the query and who tapped, also when the message is inaccessible', () => {
    expect(decoded('callback_query')).toMatchObject({
      chatId: '1000001',
      userId: '1000001',
      event: { kind: 'button', buttonId: 'ap:7f3a9c:y', queryRef: '4295000000000000001', userId: '1000001' },
    });
    expect(decoded('callback_query_inaccessible_message')).toMatchObject({
      event: { kind: 'button', buttonId: 'ap:000000:y' },
    });
    expect(decoded('callback_query_foreign_user_in_group')).toMatchObject({ userId: '2000002' });
  });

  it('about a migration names the new chat', () => {
    expect(decoded('migrate_to_supergroup')).toMatchObject({
      chatId: '-4000001',
      event: { kind: 'migrated', toChatId: '-1001000000001' },
    });
  });

  it.each([
    ['channel_post', 'unknown'],
    ['message_reaction', 'unknown'],
    ['my_chat_member_blocked', 'unknown'],
    ['unknown_future_update', 'unknown'],
    ['forum_topic_created', 'service'],
    ['web_app_data', 'service'],
  ])('%s is ignored as %s', (name, reason) => {
    expect(decoded(name)).toEqual({ ok: false, reason });
  });

  it.each([null, 1, 'text', [], {}, { update_id: 'x' }, { update_id: 1, message: { message_id: 1 } }])(
    'of the shape %j is unreadable',
    (update) => {
      expect(decodeUpdate(update, nowMs)).toEqual({ ok: false, reason: 'unreadable' });
    },
  );
});

describe('an answer of the Bot API', () => {
  const expected: Record<
    string,
    SendOutcome['kind'] | [SendOutcome['kind'], Partial<SendOutcome> | Record<string, unknown>]
  > = {
    '400_button_data_invalid': ['dead', { code: 'rejected', reason: 'Bad Request: BUTTON_DATA_INVALID' }],
    '400_cant_parse_entities_html': ['without', { what: 'entities' }],
    '400_cant_parse_entities_md': ['without', { what: 'entities' }],
    '400_cant_parse_entities_unclosed': ['without', { what: 'entities' }],
    '400_caption_too_long': ['dead', { code: 'rejected' }],
    '400_chat_not_found': ['dead', { code: 'chat_unreachable' }],
    '400_entity_bad_url': ['without', { what: 'entities' }],
    '400_entity_out_of_range': ['without', { what: 'entities' }],
    '400_file_too_big': ['dead', { code: 'rejected' }],
    '400_group_migrated': ['migrate', { chatId: '-1001000000001' }],
    '400_message_cant_be_edited': ['without', { what: 'target' }],
    '400_message_not_modified': ['sent', {}],
    '400_message_text_empty': ['dead', { code: 'rejected' }],
    '400_message_to_be_replied_not_found': ['without', { what: 'reply' }],
    '400_message_to_edit_not_found': ['without', { what: 'target' }],
    '400_message_too_long': ['dead', { code: 'rejected' }],
    '400_query_too_old': ['dead', { code: 'expired' }],
    '400_reaction_invalid': ['dead', { code: 'rejected' }],
    '400_rich_message_email_invalid': ['without', { what: 'entities' }],
    '400_text_too_long_32k_bytes': ['dead', { code: 'rejected' }],
    '400_thread_not_found': ['without', { what: 'topic' }],
    '401_unauthorized': ['pause', { code: 'platform_unauthorized' }],
    '403_blocked_by_user': ['dead', { code: 'chat_unreachable' }],
    '403_kicked_from_supergroup': ['dead', { code: 'chat_unreachable' }],
    '404_not_found': ['pause', { code: 'platform_unauthorized' }],
    '409_other_getupdates': ['pause', { code: 'platform_conflict' }],
    '409_webhook_active': ['pause', { code: 'platform_conflict' }],
    '413_upload_too_large': ['dead', { code: 'rejected' }],
    '429_retry_after': ['pause', { code: 'rate_limited', afterMs: 14_000 }],
    '502_bad_gateway_html': ['retry', { code: 'platform_error' }],
  };

  it.each(Object.entries(expected))('%s means %j', (name, [kind, fields]) => {
    const { http_status, headers, body } = readFixture(`errors/${name}.json`) as {
      http_status: number;
      headers?: Record<string, string>;
      body: unknown;
    };
    const outcome = readAnswer({
      status: http_status,
      retryAfter: headers?.['Retry-After'] ?? null,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    expect(outcome).toMatchObject({ kind, ...(fields as object) });
  });

  it('covers every recorded error', () => {
    const recorded = readdirSync(new URL('errors/', fixtures)).map((name) => name.replace('.json', ''));
    expect(Object.keys(expected).sort()).toEqual(recorded.sort());
  });

  it('that asks for hours is obeyed to the second', () => {
    const body = { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 13_938 } };
    expect(readAnswer({ status: 429, retryAfter: '14', body: JSON.stringify(body) })).toMatchObject({
      afterMs: 13_938_000,
    });
    expect(readAnswer({ status: 429, retryAfter: '14', body: '<html>' })).toMatchObject({ afterMs: 14_000 });
    expect(readAnswer({ status: 429, retryAfter: null, body: '' })).toMatchObject({ kind: 'pause', afterMs: 30_000 });
  });

  it('of success names the new message, and one that is no JSON leaves it open', () => {
    expect(readAnswer({ status: 200, retryAfter: null, body: '{"ok":true,"result":{"message_id":7}}' })).toEqual({
      kind: 'sent',
      ref: '7',
    });
    expect(readAnswer({ status: 200, retryAfter: null, body: '<html>' })).toMatchObject({
      kind: 'retry',
      uncertain: true,
    });
  });
});

describe('a call of the Bot API', () => {
  const text = { text: 'hi', entities: [], buttons: [] };
  const requests: { url: string; body: unknown }[] = [];
  const api = {
    apiRoot: 'http://127.0.0.1:1',
    token: '1:secret',
    fetch: async (url: string, init: RequestInit) => {
      requests.push({ url, body: JSON.parse(String(init.body)) });
      return new Response('{"ok":true,"result":{"message_id":7}}');
    },
  };

  it('carries topic, entities, reply and keyboard, and never a parse mode', async () => {
    requests.length = 0;
    await callBotApi(api, {
      kind: 'send',
      chatId: '-100',
      topic: 12,
      replyToRef: '5',
      text: 'hi',
      entities: [{ type: 'bold', offset: 0, length: 2 }],
      buttons: [[{ label: 'Yes', id: 'abc', style: 'success' }]],
    });
    await callBotApi(api, { kind: 'send', chatId: '-100', topic: 1, ...text });
    await callBotApi(api, { kind: 'edit', chatId: '-100', ref: '5', ...text });
    await callBotApi(api, { kind: 'acknowledge', queryRef: 'q', text: 'Recorded.' });
    await callBotApi(api, { kind: 'react', chatId: '-100', ref: '5', reaction: 'working' });
    await callBotApi(api, { kind: 'buttons', chatId: '-100', ref: '5', buttons: [[{ label: 'Retry', id: 'abc' }]] });
    const plain = { text: 'hi', link_preview_options: { is_disabled: true } };
    expect(requests).toEqual([
      {
        url: 'http://127.0.0.1:1/bot1:secret/sendMessage',
        body: {
          chat_id: -100,
          message_thread_id: 12,
          ...plain,
          entities: [{ type: 'bold', offset: 0, length: 2 }],
          reply_parameters: { message_id: 5, allow_sending_without_reply: true },
          reply_markup: { inline_keyboard: [[{ text: 'Yes', callback_data: 'abc', style: 'success' }]] },
        },
      },
      { url: 'http://127.0.0.1:1/bot1:secret/sendMessage', body: { chat_id: -100, ...plain } },
      { url: 'http://127.0.0.1:1/bot1:secret/editMessageText', body: { chat_id: -100, message_id: 5, ...plain } },
      {
        url: 'http://127.0.0.1:1/bot1:secret/answerCallbackQuery',
        body: { callback_query_id: 'q', text: 'Recorded.' },
      },
      {
        url: 'http://127.0.0.1:1/bot1:secret/setMessageReaction',
        body: { chat_id: -100, message_id: 5, reaction: [{ type: 'emoji', emoji: '✍' }] },
      },
      {
        url: 'http://127.0.0.1:1/bot1:secret/editMessageReplyMarkup',
        body: {
          chat_id: -100,
          message_id: 5,
          reply_markup: { inline_keyboard: [[{ text: 'Retry', callback_data: 'abc' }]] },
        },
      },
    ]);
  });

  it('without an answer is repeated later, and its reason does not hold the token', async () => {
    const failing = { ...api, fetch: () => Promise.reject(new Error('fetch failed: http://127.0.0.1:1/bot1:secret/')) };
    const outcome = await callBotApi(failing, { kind: 'send', chatId: '1', topic: 0, ...text });
    expect(outcome).toEqual({
      kind: 'retry',
      code: 'platform_unreachable',
      reason: 'no answer (Error)',
      uncertain: true,
    });
  });
});
