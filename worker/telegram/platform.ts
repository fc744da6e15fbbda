// Telegram as a platform: wires inbound and outbound to the seam, nothing else.

import type { Platform } from '../platform.ts';
import { openFile, sendDocument } from './files.ts';
import { decodeUpdate } from './inbound.ts';
import { callBotApi, fetchOwnName, showTyping } from './send.ts';

/** `clock` is used only where an update carries no time. */
export function telegramPlatform(settings: { apiRoot: string; botToken: string }, clock: () => number): Platform {
  const api = {
    apiRoot: settings.apiRoot,
    token: settings.botToken,
    fetch: (url: string, init: RequestInit) => fetch(url, init),
  };
  // A token begins with the id of its bot.
  const botId = Number(/^\d+(?=:)/.exec(settings.botToken)?.[0] ?? Number.NaN);
  return {
    name: 'telegram',
    capabilities: { edit: true, reactions: true, topics: true, buttons: true, maxText: 4096 },
    isGroup: (chatId) => chatId.startsWith('-'),
    decode: (update) => decodeUpdate(update, clock(), botId),
    call: (call) => callBotApi(api, call),
    ownName: () => fetchOwnName(api),
    openFile: (fileId) => openFile(api, fileId),
    sendDocument: (document) => sendDocument(api, document),
    showTyping: (chatId, topic) => showTyping(api, chatId, topic),
  };
}
