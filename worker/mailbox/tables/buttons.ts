// The table of buttons below messages: opaque ids that this mailbox issues and resolves.

import type { OutboundButton } from '../../platform.ts';
import type { Core } from '../core.ts';
import { insert, type Sql } from './sql.ts';

interface ButtonMeaning {
  label: string;
  action: string;
  style?: OutboundButton['style'] | undefined;
  toast?: string | undefined;
  once?: true | undefined;
}

export type KnownButton = {
  project: number;
  key: string;
  action: string;
  /** What the phone shows for a moment after the tap; null = that it was recorded. */
  toast: string | null;
  /** 1 = the tap takes the buttons of the message away. */
  once: 0 | 1;
};

/** Begins an action of the relay; every other action is the daemon's. */
export const ownActionPrefix = 'relay:';

export function issueButton(
  core: Core,
  project: number,
  { label, action, style, toast, once }: ButtonMeaning,
  key = ownActionPrefix,
): OutboundButton {
  const id = core.randomId();
  insert(core.sql, 'button', { id, project, key, action, at: core.clock(), toast: toast ?? null, once: once ? 1 : 0 });
  return { label, id, ...(style === undefined ? {} : { style }) };
}

/** Remembers the action that a reply to this phone message triggers. */
export function noteReplyAction(
  core: Core,
  project: number,
  { ref, key, action }: { ref: string; key: string; action: string },
): void {
  insert(core.sql, 'button', { id: replyId(ref), project, key, action, at: core.clock() }, 'INSERT OR REPLACE');
}

/** Works once: a later reply to the same message is an ordinary message. */
export function takeReplyAction(sql: Sql, project: number, ref: string): KnownButton | undefined {
  const known = readButton(sql, replyId(ref));
  if (known?.project !== project) return undefined;
  sql.exec('DELETE FROM button WHERE id = ?', replyId(ref));
  return known;
}

/** Shares the table with the random ids of buttons; a press cannot name such an id. */
function replyId(ref: string): string {
  return `${replyPrefix}${ref}`;
}

const replyPrefix = 'reply:';

/** The action of a pressed button, if this mailbox issued the button. */
export function pressedButton(sql: Sql, id: string): KnownButton | undefined {
  return id.startsWith(replyPrefix) ? undefined : readButton(sql, id);
}

function readButton(sql: Sql, id: string): KnownButton | undefined {
  return sql.exec<KnownButton>('SELECT project, key, action, toast, once FROM button WHERE id = ?', id)[0];
}

export function deleteButtons(sql: Sql, issuedBefore: number): void {
  sql.exec('DELETE FROM button WHERE at < ?', issuedBefore);
}
