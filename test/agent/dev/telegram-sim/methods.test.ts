import { describe, expect, it } from 'vitest';
import { type Body, call, owner, recorded, refused, send, start } from './client.ts';

describe('the simulated Bot API', () => {
  it('refuses a wrong token and an unknown method', async () => {
    const sim = await start();
    const wrong = await fetch(`${sim.apiRoot}/bot100000001:wrong/getMe`);
    expect({ status: wrong.status, body: await wrong.json() }).toEqual(recorded('401_unauthorized'));
    expect(await call(sim, 'sendCheese')).toEqual(recorded('404_not_found'));
    expect((await call(sim, 'GETME')).body.result).toMatchObject({ id: 100_000_001, is_bot: true });
  });

  it('shows a message as it was sent, and accepts parameters as JSON, as a form and in the query', async () => {
    const sim = await start({ clock: () => 1_790_000_000_000 });
    const sent = await send(sim, {
      text: ' Done: npm test ',
      entities: [{ type: 'code', offset: 7, length: 8 }],
      reply_markup: { inline_keyboard: [[{ text: 'OK', callback_data: 'ok', style: 'success' }]] },
    });
    const form = new URLSearchParams({ chat_id: String(owner), text: 'form' });
    await fetch(`${sim.apiRoot}/bot${sim.token}/sendMessage`, { method: 'POST', body: form });
    await fetch(`${sim.apiRoot}/bot${sim.token}/sendMessage?chat_id=${owner}&text=query`);
    expect(sent.body.result.message_id).toBe(100);
    const at = 1_790_000_000_000;
    const common = { chatId: owner, from: 'bot', at, reactions: [] };
    expect(sim.messages()).toEqual([
      {
        ...common,
        messageId: 100,
        text: 'Done: npm test',
        entities: [{ type: 'code', offset: 6, length: 8 }],
        buttons: [[{ label: 'OK', data: 'ok', style: 'success' }]],
      },
      { ...common, messageId: 101, text: 'form', entities: [], buttons: [] },
      { ...common, messageId: 102, text: 'query', entities: [], buttons: [] },
    ]);
    expect(sim.calls.map(({ method, params }) => [method, params.text])).toEqual([
      ['sendMessage', ' Done: npm test '],
      ['sendMessage', 'form'],
      ['sendMessage', 'query'],
    ]);
  });

  it('parses MarkdownV2 and HTML into the same entities', async () => {
    const sim = await start();
    await send(sim, {
      text: '*bold* _it_ __un__ ~st~ ||sp|| `co` [li](https://example.org/a)\n```ts\nlet a = 1;\n```\n>quote',
      parse_mode: 'MarkdownV2',
    });
    await send(sim, {
      text: '<b>bold</b> <i>it</i> <u>un</u> <s>st</s> <tg-spoiler>sp</tg-spoiler> <code>co</code> <a href="https://example.org/a">li</a>\n<pre><code class="language-ts">let a = 1;\n</code></pre>\n<blockquote>quote</blockquote>',
      parse_mode: 'HTML',
    });
    const [markdown, html] = sim.messages();
    const entities = [
      { type: 'bold', offset: 0, length: 4 },
      { type: 'italic', offset: 5, length: 2 },
      { type: 'underline', offset: 8, length: 2 },
      { type: 'strikethrough', offset: 11, length: 2 },
      { type: 'spoiler', offset: 14, length: 2 },
      { type: 'code', offset: 17, length: 2 },
      { type: 'text_link', offset: 20, length: 2, url: 'https://example.org/a' },
      { type: 'pre', offset: 23, length: 11, language: 'ts' },
      { type: 'blockquote', offset: 35, length: 5 },
    ];
    const text = 'bold it un st sp co li\nlet a = 1;\n\nquote';
    expect([markdown?.text, markdown?.entities]).toEqual([text, entities]);
    expect([html?.text, html?.entities]).toEqual([text, entities]);
  });

  it('edits text and keyboard, refuses an edit that changes nothing, and one of a missing or foreign message', async () => {
    const sim = await start();
    const { body } = await send(sim, { text: 'one' });
    const message_id = body.result.message_id;
    const said = await sim.say('mine');
    const edit = (params: object) => call(sim, 'editMessageText', { chat_id: owner, message_id, ...params });
    expect(await edit({ text: 'one' })).toEqual(recorded('400_message_not_modified'));
    expect(await edit({ text: 'x', message_id: 1 })).toEqual(recorded('400_message_to_edit_not_found'));
    expect(await edit({ text: 'x', message_id: said })).toEqual(recorded('400_message_cant_be_edited'));
    expect((await edit({ text: 'two' })).status).toBe(200);
    const reply_markup = { inline_keyboard: [[{ text: 'Go', callback_data: 'g' }]] };
    expect((await call(sim, 'editMessageReplyMarkup', { chat_id: owner, message_id, reply_markup })).status).toBe(200);
    expect(sim.messages()[0]).toMatchObject({ text: 'two', buttons: [[{ label: 'Go', data: 'g' }]] });
    expect((await edit({ text: 'three' })).status).toBe(200);
    expect(sim.messages()[0]).toMatchObject({ text: 'three', buttons: [] });
    expect((await call(sim, 'deleteMessage', { chat_id: owner, message_id })).status).toBe(200);
    expect(sim.messages().map(({ text }) => text)).toEqual(['mine']);
  });

  it('opens the field for an answer of a new message alone, which then cannot be edited', async () => {
    const sim = await start();
    const force = { force_reply: true, input_field_placeholder: 'The command' };
    const { body } = await send(sim, { text: 'Which?', reply_markup: force });
    expect(sim.messages()[0]).toMatchObject({ text: 'Which?', forceReply: 'The command', buttons: [] });
    const edit = (params: object) => call(sim, 'editMessageText', { chat_id: owner, ...params });
    const { message_id } = body.result;
    expect(await edit({ message_id, text: 'Over.' })).toEqual(recorded('400_message_cant_be_edited'));
    const other = (await send(sim, { text: 'one' })).body.result.message_id;
    expect(await edit({ message_id: other, text: 'two', reply_markup: force })).toEqual(
      refused('inline keyboard expected'),
    );
    const odd = { ...force, input_field_placeholder: 'x'.repeat(65) };
    expect(await send(sim, { text: 'Which?', reply_markup: odd })).toMatchObject({ status: 400 });
    const both = { ...force, inline_keyboard: [[{ text: 'Go', callback_data: 'g' }]] };
    expect(await send(sim, { text: 'Which?', reply_markup: both })).toMatchObject({ status: 400 });
  });

  it('takes one reaction from the fixed list', async () => {
    const sim = await start();
    const message_id = await sim.say('hello');
    const react = (...emoji: string[]) =>
      call(sim, 'setMessageReaction', {
        chat_id: owner,
        message_id,
        reaction: emoji.map((e) => ({ type: 'emoji', emoji: e })),
      });
    expect(await react('✅')).toEqual(recorded('400_reaction_invalid'));
    expect(await react('👍', '👀')).toEqual(refused('REACTIONS_TOO_MANY'));
    const before = performance.now();
    expect((await react('👀')).body).toEqual({ ok: true, result: true });
    expect(sim.messages()[0]?.reactions).toEqual(['👀']);
    const between = performance.now();
    expect((await react()).body).toEqual({ ok: true, result: true });
    expect(sim.messages()[0]?.reactions).toEqual([]);
    const head = { chatId: owner, messageId: message_id, at: expect.any(Number) };
    expect(sim.reactions).toEqual([
      { ...head, emoji: '👀' },
      { ...head, emoji: null },
    ]);
    expect(sim.reactions.map(({ at }) => [at >= before, at >= between])).toEqual([
      [true, false],
      [true, true],
    ]);
  });

  it('creates topics only where there can be topics', async () => {
    const sim = await start({ groups: [{ id: -100, title: 'Room', topics: { 12: 'alpha' } }] });
    expect(await call(sim, 'createForumTopic', { chat_id: owner, name: 'x' })).toEqual(
      refused('the chat is not a forum'),
    );
    const { body } = await call(sim, 'createForumTopic', { chat_id: -100, name: 'beta' });
    const threadId = body.result.message_thread_id;
    expect((await call(sim, 'sendMessage', { chat_id: -100, message_thread_id: threadId, text: 'hi' })).status).toBe(
      200,
    );
    expect(await call(sim, 'sendMessage', { chat_id: -100, message_thread_id: 1, text: 'hi' })).toEqual(
      recorded('400_thread_not_found'),
    );
  });

  it('stores uploads and hands them out again', async () => {
    const sim = await start();
    const form = new FormData();
    form.set('chat_id', String(owner));
    form.set('caption', 'the log');
    form.set('document', new File(['line\n'], 'run.log', { type: 'text/plain' }));
    const sent = await fetch(`${sim.apiRoot}/bot${sim.token}/sendDocument`, { method: 'POST', body: form });
    const { result } = (await sent.json()) as Body;
    const { body } = await call(sim, 'getFile', { file_id: result.document.file_id });
    const file = await fetch(`${sim.apiRoot}/file/bot${sim.token}/${body.result.file_path}`);
    expect(await file.text()).toBe('line\n');
    expect(sim.messages()[0]).toMatchObject({ text: 'the log', document: { fileName: 'run.log', bytes: 5 } });
    expect(sim.calls[0]?.params).toEqual({
      chat_id: String(owner),
      caption: 'the log',
      document: { fileName: 'run.log', contentType: 'text/plain', bytes: 5 },
    });
  });
});
