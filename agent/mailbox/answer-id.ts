// The id of a status update that ends a turn, and the outbox key of an entry. Everybody who sees the end of one turn computes the
// same id, so that the relay, which drops a key that it knows, sends one answer once. Pure.

import { identityOf, type OutboxEntry } from '../../protocol/files.ts';
import { sha256Hex } from '../crypto.ts';
import type { Signer } from './signing.ts';

const form = /^resp_[0-9a-f]{32}$/;

/** `run` names the end of one turn in a session, see `turnEnd` in `TurnEvent`. */
export function answerId(tool: string, session: string, run: string): string {
  return `resp_${sha256Hex(JSON.stringify([tool, session, run])).slice(0, 32)}`;
}

/** The id where wa-sync made and signed it: whoever copies such an entry for a text of its own has written another one. */
export function outboxKey(
  entry: Pick<OutboxEntry, 'id' | 'timestamp' | 'text' | 'sig'>,
  signer: Pick<Signer, 'isSigned'>,
): string {
  return form.test(entry.id) && signer.isSigned(entry, 'outbox') ? entry.id : sha256Hex(identityOf(entry));
}
