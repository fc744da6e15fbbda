// Who may call: the platform's webhook by its secret, the daemon by its bearer token. Compares digests in constant time.

import { WaError } from '../protocol/errors.ts';
import type { Settings } from './env.ts';

const encoder = new TextEncoder();

async function sha256(text: string): Promise<ArrayBuffer> {
  return crypto.subtle.digest('SHA-256', encoder.encode(text));
}

const webhookDigests = new WeakMap<Settings, ArrayBuffer>();

/** False when the header is missing, or no secret is set. */
export async function isWebhookCaller(settings: Settings, header: string | undefined): Promise<boolean> {
  if (settings.webhookSecret === null || header === undefined) return false;
  const wanted = webhookDigests.get(settings) ?? (await sha256(settings.webhookSecret));
  webhookDigests.set(settings, wanted);
  return crypto.subtle.timingSafeEqual(await sha256(header), wanted);
}

/** Raises `unauthorized`. */
export async function requireAgent(settings: Settings, authorization: string | undefined): Promise<void> {
  const token = /^Bearer +(\S{1,512})$/i.exec(authorization ?? '')?.[1];
  if (token !== undefined) {
    const given = await sha256(token);
    for (const hash of settings.agentTokenHashes) {
      if (crypto.subtle.timingSafeEqual(given, bytesOf(hash))) return;
    }
  }
  throw new WaError('unauthorized', token === undefined ? 'the bearer token is missing' : 'the bearer token is wrong', {
    hint: 'set WA_AGENT_TOKEN on the workstation to the token whose SHA-256 the relay has in WA_AGENT_TOKEN_SHA256',
  });
}

/** Raises `unknown_mailbox`. */
export function requireMailbox(settings: Settings, mailbox: string): void {
  if (settings.chatIds.includes(mailbox)) return;
  throw new WaError('unknown_mailbox', `this relay does not serve the mailbox ${mailbox}`, {
    hint: 'bind the project to a chat of TELEGRAM_CHAT_ID, or add the chat there',
  });
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16),
  );
}
