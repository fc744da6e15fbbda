// Who may call: a daemon by its bearer token, of which the relay knows the digest, and a platform by its secret. Secrets are
// compared by their digests, in constant time.

import { WaError } from '../protocol/errors.ts';
import type { Settings } from './env.ts';

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

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16),
  );
}

const encoder = new TextEncoder();

async function sha256(text: string): Promise<ArrayBuffer> {
  return crypto.subtle.digest('SHA-256', encoder.encode(text));
}

/** Of the secrets of this relay, so that a webhook costs one digest. */
const digests = new Map<string, ArrayBuffer>();

/** False when one of them is missing. `secret` is a setting: its digest is kept. */
export async function isSecret(given: string | null, secret: string): Promise<boolean> {
  if (given === null || secret === '') return false;
  const wanted = digests.get(secret) ?? (await sha256(secret));
  digests.set(secret, wanted);
  return crypto.subtle.timingSafeEqual(await sha256(given), wanted);
}
