// The phone of a private chat, as a relay with Telegram says it.

import type { Phone } from '../../protocol/phone.ts';

export const privatePhone: Phone = {
  platform: 'telegram',
  owner: '1000001',
  language: 'en',
  messageEveryMs: 1_000,
  edit: true,
  reactions: true,
  topics: true,
  buttons: true,
  menu: true,
  replyField: true,
  confirms: false,
  maxText: 4096,
};
