// Admits only a browser that has the key, because on a shared machine every user can reach a port of 127.0.0.1.
// The address carries the key once; then a cookie for this port does.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export type Admission = { kind: 'enter' } | { kind: 'grant'; cookie: string } | { kind: 'refuse' };

/** `grant` = set the cookie and send the browser to the address without the key. Without a key every browser may enter. */
export function admit(request: IncomingMessage, url: URL, key: string | undefined): Admission {
  if (key === undefined) return { kind: 'enter' };
  // A cookie is valid for all ports, so two phones on one machine need two names.
  const name = `wa_phone_${request.socket.localPort}`;
  const given = url.searchParams.get('key');
  if (given !== null && same(given, key)) {
    return { kind: 'grant', cookie: `${name}=${key}; Path=/; HttpOnly; SameSite=Lax` };
  }
  const cookies = (request.headers.cookie ?? '').split(/;\s*/);
  const kept = cookies.find((cookie) => cookie.startsWith(`${name}=`))?.slice(name.length + 1);
  return kept !== undefined && same(kept, key) ? { kind: 'enter' } : { kind: 'refuse' };
}

/** The address to open. */
export function phoneUrl(root: string, key: string | undefined): string {
  return key === undefined ? `${root}/` : `${root}/?key=${encodeURIComponent(key)}`;
}

function same(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
