// A row of the outbox as a call of the platform: its chat, its ids, and only the features that it has and did not refuse.

import { offeredCommands } from '../../../protocol/commands.ts';
import { parseMessageId } from '../../../protocol/ids.ts';
import type { OutboundCall } from '../../platform.ts';
import type { Core } from '../core.ts';
import { readRow } from '../tables/log.ts';
import { droppedOf, type OutboxRow, progressClass, readSlot, type StoredCall } from '../tables/outbox.ts';
import { targetChat } from './platform-state.ts';

/** Null = nothing to do on this platform: a progress edit where messages cannot be edited. */
export function resolveCall(core: Core, row: OutboxRow): OutboundCall | null {
  const stored = JSON.parse(row.call) as StoredCall;
  const { capabilities } = core.platform;
  if (stored.kind === 'acknowledge') return stored;
  const chatId = targetChat(core);
  if (stored.kind === 'menu') return capabilities.menu ? { kind: 'menu', chatId, commands: offeredCommands } : null;
  if (stored.kind === 'buttons') return { ...stored, chatId };
  const dropped = droppedOf(row);
  const text = {
    text: stored.text,
    entities: dropped.includes('entities') ? [] : stored.entities,
    buttons: capabilities.buttons ? stored.buttons : [],
  };
  const shown =
    row.slot === null || dropped.includes('target') ? undefined : readSlot(core.sql, row.project, row.slot)?.ref;
  if (shown) {
    if (capabilities.edit) return { kind: 'edit', chatId, ref: shown, ...text };
    if (row.class === progressClass) return null;
  }
  const replyToRef = dropped.includes('reply') ? undefined : refOf(core, stored.replyTo);
  return {
    kind: 'send',
    chatId,
    topic: capabilities.topics && !dropped.includes('topic') ? row.project : 0,
    ...(replyToRef === undefined ? {} : { replyToRef }),
    ...text,
  };
}

/** The platform's id of a logged message, while the log still has the row. */
export function refOf(core: Core, id: string | undefined): string | undefined {
  const parts = id === undefined ? undefined : parseMessageId(id);
  if (parts === undefined || parts.epoch !== core.epoch) return undefined;
  return readRow(core.sql, parts.project, parts.seq)?.ref || undefined;
}
