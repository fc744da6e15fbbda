// Buttons below messages: opaque ids that this mailbox issues and resolves. What a press does is decided elsewhere.

import type { OutboundButton } from '../platform.ts';
import type { Core } from './core.ts';
import type { Sql } from './store.ts';

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
  core.sql.exec(
    'INSERT INTO button (id, project, key, action, at) VALUES (?, ?, ?, ?, ?)',
    id,
    project,
    key,
    action,
    nowMs,
  );
  return { label, id, ...(style === undefined ? {} : { style }) };
}

/** What a pressed button stands for, if this mailbox issued it. */
export function readButton(sql: Sql, id: string): KnownButton | undefined {
  return sql.exec<KnownButton>('SELECT project, key, action FROM button WHERE id = ?', id)[0];
}
