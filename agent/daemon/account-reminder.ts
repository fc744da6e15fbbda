// Reminds the phone once before a temporary Cloudflare account ends, because the relay and every message in it end with the account.

import type { Texts } from '../../protocol/texts.ts';
import { type RelayRecord, readSetup } from '../setup/state.ts';

const beforeMs = 20 * 60_000;
const betweenLooksMs = 60_000;

export interface ReminderOptions {
  configDir: string;
  clock: () => number;
  /** The same `about` is told once. */
  tell(about: string, textOf: (texts: Texts) => string): Promise<void>;
}

/** Call the result now and then; never rejects. */
export function accountReminder({ configDir, clock, tell }: ReminderOptions): () => Promise<void> {
  let nextAt = 0;
  return async () => {
    if (clock() < nextAt) return;
    nextAt = clock() + betweenLooksMs;
    try {
      const { relay } = await readSetup(configDir);
      const text = relay && reminder(relay, clock());
      if (text && relay.kind === 'temporary') await tell(`account_${relay.expiresAt}`, text);
    } catch {
      // Tried again with the next look.
    }
  };
}

function reminder(relay: RelayRecord, now: number): ((texts: Texts) => string) | undefined {
  if (relay.kind !== 'temporary' || now >= relay.expiresAt || now < relay.expiresAt - beforeMs) return undefined;
  const minutes = Math.ceil((relay.expiresAt - now) / 60_000);
  return ({ notes }) => notes.accountEnds(minutes, relay.claimUrl);
}
