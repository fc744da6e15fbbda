// Admits only a browser that has the key, because on a shared machine every user can reach a port of 127.0.0.1.
// The address carries the key once; then a cookie for this port does.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export type Admission = { kind: 'enter' } | { kind: 'grant'; cookie: string } | { kind: 'refuse' };

/** `grant` = set the cookie and send the browser to the address without the key. `isKey` undefined = every browser may enter. */
export function admit(request: IncomingMessage, url: URL, isKey: ((given: string) => boolean) | undefined): Admission {
  if (isKey === undefined) return { kind: 'enter' };
  // A cookie is valid for all ports, so two phones on one machine need two names.
  const name = `wa_phone_${request.socket.localPort}`;
  const given = url.searchParams.get('key');
  if (given !== null && isKey(given)) {
    return { kind: 'grant', cookie: `${name}=${given}; Path=/; HttpOnly; SameSite=Lax` };
  }
  const cookies = (request.headers.cookie ?? '').split(/;\s*/);
  const kept = cookies.find((cookie) => cookie.startsWith(`${name}=`))?.slice(name.length + 1);
  return kept !== undefined && isKey(kept) ? { kind: 'enter' } : { kind: 'refuse' };
}

/** Whether it is one of the keys, of which SHA-256 is given in hex. */
export function keyCheck(digests: readonly string[]): (given: string) => boolean {
  const known = digests.map((each) => Buffer.from(each, 'hex'));
  return (given) => {
    const digest = createHash('sha256').update(given).digest();
    return known.filter((each) => timingSafeEqual(each, digest)).length > 0;
  };
}

/** The address to open. */
export function phoneUrl(root: string, key: string | undefined): string {
  return key === undefined ? `${root}/` : `${root}/?key=${encodeURIComponent(key)}`;
}
