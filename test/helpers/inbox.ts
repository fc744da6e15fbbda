// The inbox file over a real journal, with nothing around it: no relay, no signatures, no slash texts. Holds no expectations.

import { createInbox, type InboxOptions, type InboxSync } from '../../agent/mailbox/inbox.ts';

type Needed = Pick<InboxOptions, 'project' | 'journal' | 'path' | 'clock'>;

/** A test names in `options` what it looks at. */
export function loneInbox(options: Needed & Partial<InboxOptions>): InboxSync {
  return createInbox({
    admit: () => Promise.resolve(),
    isAdmitted: () => Promise.resolve(true),
    isLeftOut: () => false,
    prepare: () => Promise.resolve(),
    signer: { sign: (entry) => entry },
    expand: () => Promise.resolve(undefined),
    relayNow: () => 0,
    log: () => {},
    onReceipts: () => {},
    onStopped: () => {},
    onQuarantined: () => {},
    onRefreshed: () => {},
    lookAgain: () => {},
    ...options,
  });
}
