// Puts together what a project does for agents that poll. Decides nothing itself.

import type { Journal } from '../journal/journal.ts';
import type { ProjectState } from '../journal/state.ts';
import type { Log } from '../log.ts';
import type { InboxSync } from '../mailbox/inbox.ts';
import { isOver, pidSpace } from '../process.ts';
import type { Address, RelayClient } from '../relay/client.ts';
import type { OutboxSync } from '../relay/outbox.ts';
import type { Outcomes } from '../relay/outcomes.ts';
import type { Redact, Typesetter } from '../relay/render.ts';
import { createLeases } from '../session/leases.ts';
import { createPolling, type Polling } from '../session/polling.ts';
import type { Turns } from '../session/types.ts';

interface PollingParts {
  project: ProjectState;
  journal: Journal;
  inbox: InboxSync;
  outbox: OutboxSync;
  outcomes: Outcomes;
  turns: Pick<Turns, 'exclusive'>;
  onReceipts(): void;
}

interface PollingDeps {
  client: Pick<RelayClient, 'typing'>;
  redact: Redact;
  typesetter: Typesetter;
  clock: () => number;
  log: Log;
}

export function servePolling(parts: PollingParts, address: Address, deps: PollingDeps): Polling {
  const { project, journal, inbox, outbox } = parts;
  const { clock, log } = deps;
  const leases = createLeases({
    project,
    journal,
    inbox,
    exclusive: parts.turns.exclusive,
    // Processes of a container cannot be asked; what they hold comes back with their connection, or in time.
    isGone: (holder) => holder.space === pidSpace() && isOver(holder),
    // The name that the client gave itself stands in it.
    tell: (item) =>
      outbox.send({ ...item, parts: item.parts.map(({ text, entities }) => ({ text: deps.redact(text), entities })) }),
    onReceipts: parts.onReceipts,
    clock,
    log,
  });
  return createPolling({
    mailbox: address.mailbox,
    leases,
    queue: (items) => outbox.send(...items),
    outcome: async (key, timeoutMs, signal) =>
      project.outbox.get(key)?.end ?? parts.outcomes.wait(key, timeoutMs, signal),
    typing: () => deps.client.typing(address),
    typesetter: deps.typesetter,
    clock,
  });
}
