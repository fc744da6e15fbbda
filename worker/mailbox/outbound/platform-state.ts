// What the platform said that outlasts the call: which chat this is now, and before when nothing may go.

import type { Core } from '../core.ts';
import { getMeta, setMeta } from '../tables/schema.ts';
import { tellPhone } from './queue.ts';

export interface Pause {
  untilAt: number;
  code: string;
}

/** The chat that the mailbox speaks to: its own, or what it became. */
export function targetChat(core: Core): string {
  return getMeta(core.sql, 'migrated_to') ?? core.chatId;
}

/** Nothing goes to the platform before that time. */
export function pauseUntil(core: Core, untilAt: number, code: string): void {
  setMeta(core.sql, 'pause', JSON.stringify({ untilAt, code } satisfies Pause));
  if (code === 'rate_limited') core.counters.add('rate_limited');
}

export function readPause(core: Core): Pause | null {
  const stored = getMeta(core.sql, 'pause');
  return stored === undefined ? null : (JSON.parse(stored) as Pause);
}

/** From now on everything goes to the new chat; it is told once there. */
export function followMigration(core: Core, toChatId: string, nowMs: number): void {
  if (targetChat(core) === toChatId) return;
  setMeta(core.sql, 'migrated_to', toChatId);
  tellPhone(
    core,
    0,
    `This group is now a supergroup with the id ${toChatId}. Waiting answers come here. ` +
      `To be heard here, put ${toChatId} into ${core.platform.chatSetting} of the relay and bind the project again.`,
    nowMs,
  );
}
