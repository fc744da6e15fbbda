// The bindings of the Worker: its settings, which only env.ts reads, and the mailboxes.

import type { RelayVariables } from '../protocol/relay-settings.ts';
import type { Mailbox } from './mailbox/object.ts';

export interface Bindings extends RelayVariables {
  MAILBOX: DurableObjectNamespace<Mailbox>;
}
