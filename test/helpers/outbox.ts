// An outbox sync over a given journal, whose relay, file rules and texts are harmless unless a test says otherwise.

import { createSigner } from '../../agent/mailbox/signing.ts';
import { createRelayClient } from '../../agent/relay/client.ts';
import { createOutages } from '../../agent/relay/outages.ts';
import { createOutbox, type OutboxOptions, type OutboxSync } from '../../agent/relay/outbox.ts';

export const quietOutages = () => createOutages({ log: () => {}, clock: () => 0 });

export function outboxOf(
  given: Pick<OutboxOptions, 'project' | 'journal' | 'path' | 'clock'> & Partial<OutboxOptions>,
): OutboxSync {
  return createOutbox({
    address: { mailbox: '1', project: 0 },
    client: createRelayClient({ url: 'http://127.0.0.1:9', token: 'none' }),
    signer: createSigner('a'.repeat(64), given.project.key),
    admit: () => Promise.resolve(),
    isAdmitted: () => Promise.resolve(true),
    prepare: () => Promise.resolve(),
    render: async () => undefined,
    keepText: () => Promise.reject(new Error('no large text here')),
    onQuarantined: () => {},
    onEnded: () => {},
    random: () => 0.5,
    log: () => {},
    outages: quietOutages(),
    ...given,
  });
}
