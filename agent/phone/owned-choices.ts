// The modes and models that a session offers: how the words of the phone find one, and which of them ask less.

import { createHash } from 'node:crypto';
import type { Choices, OwnedSession } from '../owned/owned.ts';

export interface OpenSession {
  agent: string;
  /** The name that people read. */
  title: string;
  session: Pick<OwnedSession, 'id' | 'modes' | 'models' | 'commands' | 'setMode' | 'setModel'>;
  /** What was chosen, for the next start of its process. */
  chosen(changes: { mode: string } | { model: string }): Promise<void>;
}

/** Of the actions of buttons. */
export const prefix = 'owned:';
export type Kind = 'mode' | 'model';

export function choicesOf({ session }: OpenSession, kind: Kind): Choices {
  return kind === 'mode' ? session.modes : session.models;
}

/** A number of the list, an id, a name; else what begins so. Letter case does not count. */
export function findChoice(all: Choices['all'], typed: string): readonly Choices['all'][number][] {
  const numbered = /^\d{1,3}$/.test(typed) ? all[Number(typed) - 1] : undefined;
  if (numbered) return [numbered];
  const word = typed.toLowerCase();
  const named = all.filter(({ id, name }) => id.toLowerCase() === word || name.toLowerCase() === word);
  return named.length > 0 ? named : all.filter(({ id, name }) => `${id}\n${name}`.toLowerCase().includes(word));
}

/** The session is part of it: a button of an earlier session answers nothing. */
export function keyOf({ session }: OpenSession, id: string): string {
  return createHash('sha256')
    .update(JSON.stringify([session.id, id]))
    .digest('hex')
    .slice(0, 16);
}

export function actionOf(kind: Kind, open: OpenSession, id: string, isSure = false): string {
  return `${prefix}${kind}:${keyOf(open, id)}${isSure ? ':sure' : ''}`;
}

/** A mode of which nothing is known counts as one that asks less. */
export function asksLess(mode: string): boolean {
  return !/^(default|ask|plan|read[-_ ]?only|workspace[-_ ]?write|manual)$/i.test(mode);
}
