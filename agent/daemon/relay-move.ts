// The relay of config.json has another address or token: the running daemon takes the new pair, without a restart that would release
// held terminals.

import { WaError } from '../../protocol/errors.ts';
import { sha256Hex } from '../crypto.ts';
import { createRedactor, type RedactionOptions, type Redactor } from '../format/redact.ts';
import type { Log } from '../log.ts';
import type { RelayClient, RelayPair } from '../relay/client.ts';

export interface RelayMove {
  client: RelayClient;
  /** Reads config.json again; undefined = the daemon was not started from it. */
  readRelay: (() => RelayPair | undefined) | undefined;
  /** Has one more token to hide from now on. */
  hide(token: string): void;
  /** Polls at once. */
  wake(): void;
  log: Log;
}

/** What the daemon uses from now on. The sum lets the caller compare, without the token on the socket. */
export interface RelayInUse {
  url: string;
  tokenSha256: string;
}

/** Errors: `bad_config`, `not_configured`. */
export async function moveRelay({ client, readRelay, hide, wake, log }: RelayMove): Promise<RelayInUse> {
  const relay = readRelay?.();
  if (relay === undefined) {
    throw new WaError('not_configured', 'the running daemon does not have its relay from config.json', {
      hint: 'Start it anew: `wa-sync restart`.',
    });
  }
  hide(relay.token);
  client.moveTo(relay);
  wake();
  log('info', 'relay read again', { host: new URL(relay.url).host });
  return { url: relay.url, tokenSha256: sha256Hex(relay.token) };
}

/** A redactor to which tokens can be added. `redaction` is for the threads as well, which read it when they start. */
export function growingRedactor(first: RedactionOptions): {
  redaction: RedactionOptions;
  redactor: Redactor;
  hide(token: string): void;
} {
  const own = [...first.own];
  const redaction = { ...first, own };
  let current = createRedactor(redaction);
  return {
    redaction,
    redactor: (text, as) => current(text, as),
    hide(token) {
      if (own.includes(token)) return;
      own.push(token);
      current = createRedactor(redaction);
    },
  };
}
