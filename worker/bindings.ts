// What the runtime gives the Worker: its settings, read by env.ts alone, and the mailboxes.

import type { RelayVariables } from '../protocol/relay-settings.ts';
import type { Mailbox } from './mailbox/object.ts';

export interface Bindings extends RelayVariables {
  MAILBOX: DurableObjectNamespace<Mailbox>;
}
