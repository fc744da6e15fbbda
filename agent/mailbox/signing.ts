// Who wrote an entry of the two files: wa-sync signs its own entries with a key beside config.json that only its user can read. And
// the id of an answer, which daemon and hooks compute alike: the relay drops a key that it knows, so it sends one answer once.

import { readFileSync } from 'node:fs';
import { identityOf } from '../../protocol/files.ts';
import { hmacWith, sha256Hex } from '../crypto.ts';
import { configFiles } from '../paths.ts';
import type { MailboxKind } from './merge.ts';

interface Signed {
  id: string;
  timestamp: string;
  text: string;
  /** Of the inbox. */
  expiresAt?: unknown;
  sig?: unknown;
}

export interface Signer {
  /** Returns the same object when it is already signed. */
  sign<E extends Signed>(entry: E, kind: MailboxKind): E;
  isSigned(entry: Signed, kind: MailboxKind): boolean;
}

type Hmac = ReturnType<typeof hmacWith>;

const sigChars = 32;
const keyForm = /^[0-9a-f]{64}$/;
const answerForm = /^resp_[0-9a-f]{32}$/;

/**
 * `project` = `projectKey()`: a signature for one file of one project is invalid in every other file. `hmac` = HMAC-SHA-256 with the key,
 * in hex; the daemon, which signs a whole window at each look, gives that of Node.
 */
export function createSigner(key: string, project: string, hmac: Hmac = hmacWith(key)): Signer {
  const sigOf = ({ id, timestamp, text, expiresAt }: Signed, kind: MailboxKind) => {
    const time = expiresAt === undefined ? [] : [expiresAt];
    return hmac(JSON.stringify([kind, project, id, timestamp, text, ...time])).slice(0, sigChars);
  };
  return {
    sign(entry, kind) {
      const sig = sigOf(entry, kind);
      return entry.sig === sig ? entry : { ...entry, sig };
    },
    isSigned: (entry, kind) => isTimed(entry) && typeof entry.sig === 'string' && entry.sig === sigOf(entry, kind),
  };
}

/** False = a time that wa-sync does not write; JSON has one form for several of these. */
function isTimed({ expiresAt }: Signed): boolean {
  return expiresAt === undefined || Number.isSafeInteger(expiresAt);
}

/** For a hook, which makes no key: without a key it signs nothing and takes every entry for another program's. */
export function readSigner(configDir: string, project: string): Signer {
  let signer: Signer | undefined;
  const load = () => (signer ??= signerWithKeyOf(configDir, project));
  return {
    sign: (entry, kind) => load().sign(entry, kind),
    isSigned: (entry, kind) => typeof entry.sig === 'string' && load().isSigned(entry, kind),
  };
}

function signerWithKeyOf(configDir: string, project: string): Signer {
  try {
    const key = readFileSync(configFiles(configDir).signingKey, 'utf8').trim();
    // A hook looks twice at an entry, the second time under the lock, and a digest takes longer than all else that it computes.
    if (keyForm.test(key)) return createSigner(key, project, remembered(hmacWith(key)));
  } catch {
    // No daemon has run yet.
  }
  return { sign: (entry) => entry, isSigned: () => false };
}

function remembered(hmac: Hmac): Hmac {
  const known = new Map<string, string>();
  return (text) => {
    const digest = known.get(text) ?? hmac(text);
    known.set(text, digest);
    return digest;
  };
}

/** The id of the status update that ends a turn. `run` names the end of one turn in a session, see `turnEnd` in `TurnEvent`. */
export function answerId(tool: string, session: string, run: string): string {
  return `resp_${sha256Hex(JSON.stringify([tool, session, run])).slice(0, 32)}`;
}

/** The id of an answer that wa-sync signed, else a digest: a program that copies a signed entry for its own text has written another. */
export function outboxKey(entry: Signed, signer: Pick<Signer, 'isSigned'>): string {
  return answerForm.test(entry.id) && signer.isSigned(entry, 'outbox') ? entry.id : sha256Hex(identityOf(entry));
}
