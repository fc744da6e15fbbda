// Telegram as a platform: wires settings, inbound and outbound to the seam, and says what it allows. Nothing else.

import { checkTelegram, webhookRoute } from '../../protocol/telegram-settings.ts';
import { secretHint } from '../env.ts';
import type { PlatformKind, Rate } from '../platform.ts';
import { openFile, sendDocument } from './files.ts';
import { decodeUpdate } from './inbound.ts';
import { callBotApi, fetchBotUsername, showTyping } from './send.ts';
import { adoptHost, isWebhookCaller } from './webhook.ts';

/** Below what Telegram's FAQ allows a bot. */
const rates = {
  chat: { capacity: 3, refillMs: 1_000 },
  group: { capacity: 20, refillMs: 3_000 },
  bot: { capacity: 25, refillMs: 40 },
} as const satisfies Record<string, Rate>;

export const telegram: PlatformKind = {
  name: 'telegram',
  route: webhookRoute,
  isCaller: (variables, headers) => isWebhookCaller(variables, headers.get('x-telegram-bot-api-secret-token')),
  connect(variables, clock) {
    const { botId, botToken, apiRoot, chatIds, userIds } = checkTelegram(variables, secretHint);
    const api = { apiRoot, token: botToken, fetch: (url: string, init: RequestInit) => fetch(url, init) };
    const isGroup = (chatId: string) => chatId.startsWith('-');
    return {
      name: 'telegram',
      account: botId,
      chatIds,
      userIds,
      chatSetting: 'TELEGRAM_CHAT_ID',
      capabilities: {
        edit: true,
        reactions: true,
        topics: true,
        buttons: true,
        replyField: true,
        menu: true,
        confirms: false,
        maxText: 4096,
      },
      ownerOf: (chatId) => (isGroup(chatId) ? null : chatId),
      ratesOf(chatId) {
        const { bot, chat, group } = rates;
        if (chatId === null) return { bot };
        return isGroup(chatId) ? { chat, group, bot } : { chat, bot };
      },
      decode: (update) => [decodeUpdate(update, clock(), Number(botId))],
      call: (call) => callBotApi(api, call),
      botUsername: () => fetchBotUsername(api),
      openFile: (fileId) => openFile(api, fileId),
      sendDocument: (document) => sendDocument(api, document),
      adoptHost: (origin, secret) => adoptHost(api, variables, origin, secret),
      showTyping: (chatId, topic) => showTyping(api, chatId, topic),
    };
  },
};
