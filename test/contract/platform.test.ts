// What every platform must be able to do, end to end: webhook, mailbox, poll, outbox, phone.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { emptyProject, maxTextOf } from '../../agent/journal/state.ts';
import { renderKey, typesetHere } from '../../agent/relay/render.ts';
import { isPhone } from '../../protocol/phone.ts';
import type { DeadLettersAnswer, OutboxAnswer, OutboxItem, StatusAnswer } from '../../protocol/relay-api.ts';
import type { WebhookAnswer } from '../../protocol/webhook-api.ts';
import { type Rig, type Rigs, startRigs } from './rigs.ts';

let rigs: Rigs;
beforeAll(async () => {
  rigs = await startRigs();
});
afterAll(() => rigs.close());

const forAll = describe.each(['telegram', 'workshop'] as const);

let cursor = 0;
let keys = 0;
let rig: Rig;

/** What came since the last look, as the daemon gets it. */
function news() {
  const answer = rig.bench.poll({ mailbox: rig.mailbox, after: cursor });
  cursor = Math.max(cursor, ...answer.rows.map(({ seq }) => seq));
  return answer;
}

const said = () => news().rows.flatMap((row) => (row.kind === 'control' || row.kind === 'outcome' ? [] : [row.text]));

async function post(item: Partial<OutboxItem>): Promise<string> {
  keys += 1;
  const key = `contract-${keys}`;
  const items = [{ key, class: 'answer', parts: [{ text: `answer ${keys}` }], ...item }];
  const answer = await rigs.call<OutboxAnswer>('POST', '/v1/outbox', { mailbox: rig.mailbox, project: 0, items });
  expect(answer.status).toBe(202);
  return key;
}

const pass = (ms = 1_000) => rig.bench.runUntil(rig.bench.clock.now + ms);
const outcomeOf = (key: string) => rig.bench.post({ key })[0];
const lastShown = () => rig.shown().at(-1);

forAll('%s', (name) => {
  beforeEach(() => {
    rig = rigs[name];
    cursor = 0;
    news();
  });

  it('refuses a wrong secret with 401 and stores nothing', async () => {
    expect(await rig.forge()).toBe(401);
    expect(said()).toEqual([]);
  });

  it('carries a message to the daemon, with its file', async () => {
    await rig.say('look at this', 'the content');
    const [row] = news().rows;
    expect(row).toMatchObject({ kind: 'message', text: 'look at this', files: [{ name: 'a.txt' }] });
    const id = row?.kind === 'message' ? row.files?.[0]?.id : '';
    const query = `mailbox=${rig.mailbox}&project=0`;
    const file = await fetch(`${rigs.url}/v1/files/${id}?${query}`, {
      headers: { authorization: 'Bearer agent-token' },
    });
    expect([file.status, await file.text()]).toEqual([200, 'the content']);
  });

  it('stores all events of an update in order, and each of them once', async () => {
    await rig.sayAll(['one', 'two', 'three'], 2);
    expect(said()).toEqual(['one', 'two', 'three']);
  });

  it('takes an edit as new words of the message', async () => {
    const ref = await rig.say('fix the tset');
    const [row] = news().rows;
    await rig.edit(ref, 'fix the test');
    expect(news().rows).toMatchObject([{ kind: 'edit', editOf: row?.id, text: 'fix the test' }]);
  });

  it('makes a STOP and a command controls, and answers the commands of the relay', async () => {
    await rig.say('STOP');
    await rig.say('/away off');
    await rig.say('/ping');
    expect(news().controls.map(({ control }) => control)).toEqual([
      { type: 'stop', text: 'STOP' },
      { type: 'command', name: 'away', args: 'off' },
    ]);
    await pass();
    expect(lastShown()?.text).toBe('pong');
  });

  it('makes no topic where the chat has none, and says so by one code', async () => {
    const { status, body } = await rigs.call<{ error: { code: string } }>('POST', '/v1/topics', {
      mailbox: rig.mailbox,
      name: 'app',
    });
    expect([status, body.error.code]).toEqual([409, 'no_topics']);
  });

  it('shows a text with buttons and makes a tap a control of its user', async () => {
    const key = await post({
      parts: [{ text: 'Run it?', entities: [] }],
      buttons: [[{ label: 'Yes', action: 'approve:7' }]],
    });
    await pass();
    expect(lastShown()).toMatchObject({ text: 'Run it?', buttons: ['Yes'] });
    await rig.tap('Yes');
    const { controls, phone } = news();
    expect(controls).toMatchObject([{ control: { type: 'button', action: 'approve:7', key, userId: phone.owner } }]);
    await pass();
  });

  it('edits its message in place', async () => {
    await post({ slot: `slot-${name}`, rev: 1, parts: [{ text: 'working', entities: [] }] });
    await pass();
    const before = lastShown();
    await post({ slot: `slot-${name}`, rev: 2, parts: [{ text: 'done', entities: [] }] });
    await pass();
    expect(lastShown()).toEqual({ ...before, text: 'done' });
  });

  it('sends nothing before the time that a rate limit names, and the text after it', async () => {
    rig.limitNext(30);
    const key = await post({});
    await pass(29_000);
    expect(outcomeOf(key)).toMatchObject({ state: 'queued' });
    await pass(2_000);
    expect(outcomeOf(key)).toMatchObject({ state: 'sent', ref: lastShown()?.ref });
  });

  it('makes of a final refusal a dead letter with its reason', async () => {
    rig.refuseNext();
    const key = await post({});
    await pass();
    expect(outcomeOf(key)).toMatchObject({ state: 'dead', error: { code: 'chat_unreachable' } });
    const { body } = await rigs.call<DeadLettersAnswer>('GET', `/v1/dead-letters?mailbox=${rig.mailbox}&project=0`);
    expect(body.deadLetters).toContainEqual(expect.objectContaining({ id: key, state: 'dead' }));
  });

  it('makes a message that was taken and never arrived a dead letter, which can be sent again', async () => {
    if (!rig.report) return expect(news().phone.confirms).toBe(false);
    const [arrived, lost] = [await post({}), await post({})];
    await pass();
    const refs = rig.shown().map(({ ref }) => ref);
    await rig.report(refs.at(-2) ?? '');
    await rig.report(refs.at(-1) ?? '', { code: 'undeliverable', why: 'the number is gone' });
    // What has arrived cannot be lost any more.
    await rig.report(refs.at(-2) ?? '', { code: 'undeliverable', why: 'the number is gone' });
    expect([outcomeOf(arrived), outcomeOf(lost)]).toMatchObject([
      { state: 'sent' },
      { state: 'dead', error: { code: 'undeliverable', reason: 'the number is gone' } },
    ]);
    const text = lastShown()?.text;
    rig.bench.logic.actOnDeadLetter(0, lost, 'retry');
    await pass();
    expect(lastShown()).toMatchObject({ text });
    expect(outcomeOf(lost)).toMatchObject({ state: 'sent' });
  });

  it('tells the daemon what its phone can show, and long texts come in parts of that size', async () => {
    const { phone } = news();
    expect(isPhone(phone)).toBe(true);
    const project = { ...emptyProject('p'), phone };
    const maxText = maxTextOf(project);
    const typesetter = typesetHere((text) => text, maxText);
    const options = { typesetter, maxText, hasFullAnswer: async () => false };
    const text = 'word '.repeat(1_000);
    const answer = { id: 'resp_1', timestamp: '2026-01-01T00:00:00Z', text };
    const state = { at: 0, state: 'open' as const, end: undefined };
    const fresh = await renderKey(
      { key: 'a', source: { kind: 'file', answer, replyTo: undefined }, ...state },
      options,
    );
    const item: OutboxItem = { key: 'b', class: 'answer', parts: [{ text: text.slice(0, 1_500), entities: [] }] };
    const earlier = await renderKey({ key: 'b', source: { kind: 'item', item }, ...state }, options);
    for (const rendered of [fresh, earlier]) {
      const parts = rendered?.item.parts ?? [];
      expect(Math.max(...parts.map((part) => part.text.length))).toBeLessThanOrEqual(phone.maxText);
      const before = rig.shown().length;
      await post({ parts });
      await pass(60_000);
      expect(
        rig
          .shown()
          .slice(before)
          .map((message) => message.text.trim()),
      ).toEqual(parts.map((part) => part.text.trim()));
    }
  });
});

describe('a relay with two platforms', () => {
  it('tells the agent what each platform says of webhook, rights and chats', async () => {
    const { status, body } = await rigs.call<WebhookAnswer>('GET', '/v1/webhook');
    expect(status).toBe(200);
    expect(body.platforms.map(({ name, inspection }) => [name, inspection.kind])).toEqual([
      ['telegram', 'report'],
      ['workshop', 'report'],
    ]);
    const refused = await fetch(`${rigs.url}/v1/webhook`);
    expect(refused.status).toBe(401);
  });

  it('names both, and the mailboxes of both, in its status', async () => {
    const { body } = await rigs.call<StatusAnswer>('GET', '/v1/status');
    expect(body.platforms.map(({ name }) => name)).toEqual(['telegram', 'workshop']);
    expect(body.mailboxes.map(({ mailbox }) => mailbox)).toEqual([rigs.telegram.mailbox, 'room-7', 'hall']);
  });

  it('names the settings of both to a daemon whose mailbox it does not serve', async () => {
    const { status, body } = await rigs.call<{ error: { hint: string } }>(
      'GET',
      '/v1/dead-letters?mailbox=9&project=0',
    );
    expect(status).toBe(404);
    expect(body.error.hint).toContain('TELEGRAM_CHAT_ID or WORKSHOP_ROOMS');
  });
});
