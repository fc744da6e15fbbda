// A row of the outbox as a call of the platform: its chat, its ids, and only the features that it has and did not refuse.

import { offeredForms } from '../../../protocol/commands.ts';
import { parseMessageId } from '../../../protocol/ids.ts';
import type { OutboundCall } from '../../platform.ts';
import type { Core } from '../core.ts';
import { readRow } from '../tables/log.ts';
import {
  droppedOf,
  type OutboxRow,
  progressClass,
  readOutboxRow,
  readSlot,
  type StoredCall,
} from '../tables/outbox.ts';
import { targetChat } from './platform-state.ts';

const menu = offeredForms.map(({ form, help }) => ({ name: form, help }));

/** Null = the platform has nothing to do: no menu, no edit of progress, or a message for buttons that it has not taken. */
export function resolveCall(core: Core, row: OutboxRow): OutboundCall | null {
  const stored = JSON.parse(row.call) as StoredCall;
  const { capabilities } = core.platform;
  if (stored.kind === 'acknowledge') return stored;
  const chatId = targetChat(core);
  if (stored.kind === 'menu') return capabilities.menu ? { kind: 'menu', chatId, commands: menu } : null;
  if (stored.kind === 'buttons') {
    const ref = 'ref' in stored ? stored.ref : readOutboxRow(core.sql, stored.key, stored.part)?.ref;
    return ref && capabilities.edit ? { kind: 'buttons', chatId, ref, buttons: stored.buttons } : null;
  }
  const dropped = droppedOf(row);
  const text = {
    text: stored.text,
    entities: dropped.includes('entities') ? [] : stored.entities,
    buttons: capabilities.buttons ? stored.buttons : [],
  };
  if (stored.edits !== undefined) {
    const isThere = capabilities.edit && !dropped.includes('target');
    return isThere ? { kind: 'edit', chatId, ref: stored.edits, ...text } : null;
  }
  const slot = dropped.includes('target') ? null : row.slot;
  const shown = slot === null ? undefined : readSlot(core.sql, row.project, slot)?.ref;
  if (shown) {
    if (capabilities.edit) return { kind: 'edit', chatId, ref: shown, ...text };
    if (row.class === progressClass) return null;
  }
  const topic = capabilities.topics && !dropped.includes('topic') ? row.project : 0;
  const replyTo = dropped.includes('reply') ? {} : replyTarget(core, stored.replyTo);
  return { kind: 'send', chatId, topic, ...replyTo, ...text };
}

/** The platform's id of a logged message, while the log still has the row. */
export function replyTarget(core: Core, id: string | undefined): { replyToRef?: string } {
  const parts = id === undefined ? undefined : parseMessageId(id);
  if (parts === undefined || parts.epoch !== core.epoch) return {};
  const replyToRef = readRow(core.sql, parts.project, parts.seq)?.ref;
  return replyToRef ? { replyToRef } : {};
}
