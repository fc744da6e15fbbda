// Who wrote an entry of the two files: wa-sync signs its own, with a key that lies beside config.json and that only its user can read.

import { readFileSync } from 'node:fs';
import { identityOf } from '../../protocol/files.ts';
import { hmacHex } from '../crypto.ts';
import { configFiles } from '../paths.ts';
import type { MailboxKind } from './entry.ts';

interface Signed {
  id: string;
  timestamp: string;
  text: string;
  sig?: unknown;
}

export interface Signer {
  /** The same object when it is signed already. */
  sign<E extends Signed>(entry: E, kind: MailboxKind): E;
  isSigned(entry: Signed, kind: MailboxKind): boolean;
}

const sigChars = 32;
const keyForm = /^[0-9a-f]{64}$/;

/** `project` = `projectKey()`: what is signed for one file of one project is worth nothing in another. */
export function createSigner(key: string, project: string): Signer {
  const sigOf = (entry: Signed, kind: MailboxKind) =>
    hmacHex(key, JSON.stringify([kind, project, identityOf(entry)])).slice(0, sigChars);
  return {
    sign(entry, kind) {
      const sig = sigOf(entry, kind);
      return entry.sig === sig ? entry : { ...entry, sig };
    },
    isSigned: (entry, kind) => typeof entry.sig === 'string' && entry.sig === sigOf(entry, kind),
  };
}

/** Of a hook, which makes no key: without one it signs nothing and takes every entry for another program's. */
export function readSigner(configDir: string, project: string): Signer {
  let signer: Signer | undefined;
  const load = (): Signer => {
    signer ??= createSigner(readKey(configFiles(configDir).signingKey), project);
    return signer;
  };
  return {
    sign: (entry, kind) => attempt(() => load().sign(entry, kind), entry),
    isSigned: (entry, kind) => typeof entry.sig === 'string' && attempt(() => load().isSigned(entry, kind), false),
  };
}

function attempt<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

function readKey(path: string): string {
  const key = readFileSync(path, 'utf8').trim();
  if (!keyForm.test(key)) throw new Error('no key');
  return key;
}
