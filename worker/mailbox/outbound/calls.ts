// A row of the outbox as a call of the platform: its chat, its ids, and only the features that it has and did not refuse.

import { parseMessageId } from '../../../protocol/ids.ts';
import type { OutboundCall } from '../../platform.ts';
import type { Core } from '../core.ts';
import { textsOf } from '../language.ts';
import { menuIn } from '../notices/phone-commands.ts';
import { displacedHead } from '../notices/unbound.ts';
import { readRow } from '../tables/log.ts';
import {
  droppedOf,
  type OutboxRow,
  progressClass,
  readOutboxRow,
  readSlot,
  type StoredCall,
} from '../tables/outbox.ts';
import { openProject } from '../tables/projects.ts';
import { targetChat } from './platform-state.ts';

/** Null = the platform has nothing to do: no menu, no edit of progress, or a message for buttons that it has not taken. */
export function resolveCall(core: Core, row: OutboxRow): OutboundCall | null {
  const stored = JSON.parse(row.call) as StoredCall;
  const { capabilities } = core.platform;
  if (stored.kind === 'acknowledge') return stored;
  const chatId = targetChat(core);
  if (stored.kind === 'menu')
    return capabilities.menu ? { kind: 'menu', chatId, commands: menuIn(textsOf(core)) } : null;
  if (stored.kind === 'buttons') {
    const ref = 'ref' in stored ? stored.ref : readOutboxRow(core.sql, row.project, stored.key, stored.part)?.ref;
    return ref && capabilities.edit ? { kind: 'buttons', chatId, ref, buttons: stored.buttons } : null;
  }
  const dropped = droppedOf(row);
  const project = openProject(core.sql, row.project);
  const isDisplaced = dropped.includes('topic') || project.topic_gone_at !== null;
  const text = {
    ...headed(stored, isDisplaced ? displacedHead(core, project) : '', capabilities.maxText),
    ...(dropped.includes('entities') ? { entities: [] } : {}),
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
  const topic = capabilities.topics && !isDisplaced ? row.project : 0;
  const replyTo = dropped.includes('reply') ? {} : replyTarget(core, row.project, stored.replyTo);
  const { replyAction, replyHint: hint = '' } = stored;
  const opens = capabilities.replyField && replyAction !== undefined && text.buttons.length === 0;
  return { kind: 'send', chatId, topic, ...replyTo, ...(opens ? { replyField: { hint } } : {}), ...text };
}

/** The text below a head, where both fit into one message. */
function headed({ text, entities }: StoredCall & { kind: 'text' }, head: string, maxText: number) {
  if (head.length + text.length > maxText) return { text, entities };
  return { text: head + text, entities: entities.map((each) => ({ ...each, offset: each.offset + head.length })) };
}

/** The platform's id of a message in the log of the project, while the log still has the row. */
export function replyTarget(core: Core, project: number, id: string | undefined): { replyToRef?: string } {
  const parts = id === undefined ? undefined : parseMessageId(id);
  if (parts === undefined || parts.epoch !== core.epoch || parts.project !== project) return {};
  const replyToRef = readRow(core.sql, parts.project, parts.seq)?.ref;
  return replyToRef ? { replyToRef } : {};
}
