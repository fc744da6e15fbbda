// The bindings of the Worker: its settings, which only env.ts reads, and the mailboxes with the way to ask them.

import { WaError } from '../protocol/errors.ts';
import { mailboxName } from '../protocol/ids.ts';
import type { RelayVariables } from '../protocol/relay-settings.ts';
import type { Mailbox, MailboxCalls, ObjectAnswer } from './mailbox/object.ts';
import type { Platform } from './platform.ts';

export interface Bindings extends RelayVariables {
  MAILBOX: DurableObjectNamespace<Mailbox>;
}

export type MailboxStub = DurableObjectStub<Mailbox>;

/** The object of a chat. */
export function mailboxOf(env: Bindings, { account }: Platform, chatId: string): MailboxStub {
  return env.MAILBOX.getByName(mailboxName(account, chatId));
}

/** Raises the error that the object returned, and `storage_failed` when the object cannot be reached. */
export async function ask<Name extends keyof MailboxCalls>(
  stub: MailboxStub,
  name: Name,
  ...args: Parameters<MailboxCalls[Name]>
): Promise<ReturnType<MailboxCalls[Name]>> {
  let answer: ObjectAnswer<unknown>;
  try {
    answer = (await stub.call(name, args)) as ObjectAnswer<unknown>;
  } catch (error) {
    throw new WaError('storage_failed', 'the mailbox cannot be reached', { cause: error });
  }
  if (answer.ok) return answer.value as ReturnType<MailboxCalls[Name]>;
  const { code, message, ...rest } = answer.error;
  throw new WaError(code, message, rest);
}
