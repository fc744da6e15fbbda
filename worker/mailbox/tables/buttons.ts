// Buttons below messages: opaque ids that this mailbox issues and resolves. What a press does is decided elsewhere.

import type { OutboundButton } from '../../platform.ts';
import type { Core } from '../core.ts';
import { insert, type Sql } from './sql.ts';

export interface ButtonMeaning {
  label: string;
  action: string;
  style?: OutboundButton['style'] | undefined;
}

export type KnownButton = { project: number; key: string; action: string };

/** Actions of the relay's own; any other is the daemon's. */
export const ownActionPrefix = 'relay:';

export function issueButton(
  core: Core,
  project: number,
  { label, action, style }: ButtonMeaning,
  nowMs: number,
  key = ownActionPrefix,
): OutboundButton {
  const id = core.randomId();
  insert(core.sql, 'button', { id, project, key, action, at: nowMs });
  return { label, id, ...(style === undefined ? {} : { style }) };
}

/** Remembers what an answer to this message of the phone stands for. */
export function noteReplyAction(
  core: Core,
  project: number,
  { ref, key, action }: { ref: string; key: string; action: string },
  nowMs: number,
): void {
  insert(core.sql, 'button', { id: replyId(ref), project, key, action, at: nowMs }, 'INSERT OR REPLACE');
}

/** Once: a later answer to the same message is an ordinary one. */
export function takeReplyAction(sql: Sql, project: number, ref: string): KnownButton | undefined {
  const known = readButton(sql, replyId(ref));
  if (known?.project !== project) return undefined;
  sql.exec('DELETE FROM button WHERE id = ?', replyId(ref));
  return known;
}

/** Beside the random ids of buttons; a press cannot name it. */
function replyId(ref: string): string {
  return `${replyPrefix}${ref}`;
}

const replyPrefix = 'reply:';

/** What a pressed button stands for, if this mailbox issued it. */
export function pressedButton(sql: Sql, id: string): KnownButton | undefined {
  return id.startsWith(replyPrefix) ? undefined : readButton(sql, id);
}

function readButton(sql: Sql, id: string): KnownButton | undefined {
  return sql.exec<KnownButton>('SELECT project, key, action FROM button WHERE id = ?', id)[0];
}
