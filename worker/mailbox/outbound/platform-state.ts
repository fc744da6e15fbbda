// Facts from the platform that outlast a call: the present chat id, and a pause of all sending.

import type { Core } from '../core.ts';
import { textsOf } from '../language.ts';
import { getMeta, setMeta } from '../tables/schema.ts';
import { tellPhone } from './queue.ts';

interface Pause {
  untilAt: number;
  code: string;
}

/** The chat that the mailbox sends to: its own, or the supergroup that replaced it. */
export function targetChat(core: Core): string {
  return getMeta(core.sql, 'migrated_to') ?? core.chatId;
}

/** Stops all sending for this time. */
export function pauseFor(core: Core, afterMs: number, code: string): void {
  setMeta(core.sql, 'pause', JSON.stringify({ untilAt: core.clock() + afterMs, code } satisfies Pause));
  if (code === 'rate_limited') core.counters.add('rate_limited');
}

/** Null = the mailbox may send. */
export function readPause(core: Core): Pause | null {
  const pause = JSON.parse(getMeta(core.sql, 'pause') ?? 'null') as Pause | null;
  return pause !== null && pause.untilAt > core.clock() ? pause : null;
}

/** Ends a pause for credentials that did not work; a limit of the platform stands. True = one was ended. */
export function endCredentialPause(core: Core): boolean {
  const pause = readPause(core);
  if (pause === null || pause.code === 'rate_limited') return false;
  setMeta(core.sql, 'pause', 'null');
  return true;
}

/** Sends everything to the new chat from now on, and says so there once. */
export function followMigration(core: Core, toChatId: string): void {
  if (targetChat(core) === toChatId) return;
  setMeta(core.sql, 'migrated_to', toChatId);
  tellPhone(core, 0, textsOf(core).relay.migrated(toChatId, core.platform.chatSetting));
}
