// Puts together what a project needs for agents that poll: the leases of its messages, and the MCP calls on them.

import type { Journal } from '../journal/journal.ts';
import type { ProjectState } from '../journal/state.ts';
import type { Log } from '../log.ts';
import type { InboxSync } from '../mailbox/inbox.ts';
import { isOver, pidSpace } from '../process.ts';
import type { Address, RelayClient } from '../relay/client.ts';
import type { OutboxSync } from '../relay/outbox.ts';
import type { createOutcomes } from '../relay/outcomes.ts';
import type { Redact, Typesetter } from '../relay/render.ts';
import { createLeases } from '../session/leases.ts';
import { createMcp } from '../session/mcp.ts';
import type { Turns } from '../session/types.ts';

export interface PollingParts {
  project: ProjectState;
  journal: Journal;
  client: Pick<RelayClient, 'typing'>;
  inbox: InboxSync;
  outbox: Pick<OutboxSync, 'send'>;
  outcomes: Pick<ReturnType<typeof createOutcomes>, 'wait'>;
  turns: Pick<Turns, 'exclusive'>;
  address: Address;
  redact: Redact;
  typesetter: Typesetter;
  onReceipts(): void;
  clock: () => number;
  log: Log;
}

export function createPolling(parts: PollingParts) {
  const { project, journal, client, inbox, outbox, outcomes, turns, address, redact, typesetter, clock, log } = parts;
  const leases = createLeases({
    ...{ project, journal, inbox, clock, log },
    exclusive: turns.exclusive,
    // Processes of a container cannot be asked; what they hold comes back with their connection, or in time.
    isGone: (holder) => holder.space === pidSpace() && isOver(holder),
    // The name that the client gave itself stands in it.
    tell: (item) =>
      outbox.send({ ...item, parts: item.parts.map(({ text, entities }) => ({ text: redact(text), entities })) }),
    onReceipts: parts.onReceipts,
  });
  const mcp = createMcp({
    mailbox: address.mailbox,
    leases,
    queue: (items) => outbox.send(...items),
    outcome: async (id, timeoutMs, signal) => project.outbox.get(id)?.end ?? outcomes.wait(id, timeoutMs, signal),
    typing: () => client.typing(address),
    typesetter,
    clock,
  });
  return { leases, mcp };
}
