import type { Update } from 'grammy/types';
import { expect, it } from 'vitest';
import { confirmable, isTap } from '../../../agent/setup/pairing.ts';

const code = 'c0de-c0de_c0de';
const owner = { id: 7, is_bot: false, first_name: 'Owner' };
const update = (update_id: number, text: string, { from = owner, chat = 7 } = {}): Update =>
  ({
    update_id,
    message: { message_id: update_id, date: 0, chat: { id: chat, type: 'private', first_name: 'x' }, from, text },
  }) as Update;

it.each([
  ['the tap on START', `/start ${code}`, true],
  ['the tap in a group, which names the bot', `/start@wa_sync_bot ${code}`, true],
  ['another code', '/start c0de-c0de_c0df', false],
  ['a part of the code', '/start c0de', false],
  ['START without a code', '/start', false],
  ['the code with more behind it', `/start ${code} now`, false],
  ['the code alone', code, false],
])('%s: pairs %#', (_, text, expected) => {
  expect(isTap(update(1, text), code)).toBe(expected);
});

it('a bot, and an administrator who hides the name, cannot pair: neither names a person', () => {
  const hidden = { id: 1_087_968_824, is_bot: true, first_name: 'Group' };
  for (const from of [hidden, { ...hidden, is_bot: false }, { ...owner, is_bot: true }]) {
    expect(isTap(update(1, `/start ${code}`, { from }), code)).toBe(false);
  }
});

it('confirms the tap only when no update of others waits before it', () => {
  const tap = update(5, `/start ${code}`);
  expect(confirmable([tap, update(6, 'hi')], tap, {})).toBe(5);
  expect(confirmable([update(4, 'hi'), tap], tap, {})).toBeUndefined();
});

it('on a full page confirms what no relay would take, and stops before the chat that is paired', () => {
  const strangers = Array.from({ length: 100 }, (_, index) => update(index, 'spam', { chat: 99 }));
  expect(confirmable(strangers.slice(1), undefined, {})).toBeUndefined();
  expect(confirmable(strangers, undefined, {})).toBe(99);
  const chat = { id: '7', userId: '7', title: '' };
  const mixed = strangers.with(40, update(40, 'a message that must not be lost'));
  expect(confirmable(mixed, undefined, { chat })).toBe(39);
  expect(confirmable(mixed.with(0, update(0, 'mine')), undefined, { chat })).toBeUndefined();
});
