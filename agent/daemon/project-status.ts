// What `wa-sync status` is told of a project, gathered from its parts.

import type { Guard } from '../approvals/guard.ts';
import type { Binding } from '../config.ts';
import type { LastEvents, ProjectStatus } from '../daemon-status.ts';
import type { ProjectState } from '../journal/state.ts';
import type { InboxSync } from '../mailbox/inbox.ts';
import type { OpenMailbox } from '../mailbox/open.ts';
import type { OutboxSync } from '../relay/outbox.ts';
import type { Pull } from '../relay/pull.ts';
import type { Leases } from '../session/leases.ts';
import type { Turns } from '../session/types.ts';
import type { DayUsage } from './day-usage.ts';
import type { OwnedPart } from './owned.ts';

export interface StatusParts {
  binding: Binding;
  mailbox: Pick<OpenMailbox, 'place' | 'note'>;
  project: ProjectState;
  /** Undefined = not polling yet. */
  pull: Pick<Pull, 'current'> | undefined;
  leases: Pick<Leases, 'list'>;
  turns: Pick<Turns, 'status'>;
  owned: Pick<OwnedPart, 'status'>;
  seen: {
    /** The session file that a hook named last. */
    session: { agent: string | undefined; path: string | undefined };
    last: LastEvents;
  };
  usage: Pick<DayUsage, 'sessions'>;
  guard: Pick<Guard, 'status'>;
  inbox: Pick<InboxSync, 'trouble'>;
  outbox: Pick<OutboxSync, 'trouble'>;
}

export function statusOf(parts: StatusParts): ProjectStatus {
  const { binding, mailbox, project, inbox, outbox } = parts;
  const { session, last } = parts.seen;
  const relay = parts.pull?.current() ?? { state: 'connecting' as const };
  const { owned: isOwned, busy: _, ...turns } = parts.turns.status();
  const owned = parts.owned.status();
  return {
    dir: binding.dir,
    files: mailbox.place.dir,
    filesNote: mailbox.note ?? null,
    mailbox: binding.mailbox,
    project: binding.project,
    relay: relay.state,
    ...(relay.state === 'failing' ? { error: relay.error.code, hint: relay.error.hint } : {}),
    waiting: project.waiting.size + project.fetching.size,
    leased: parts.leases.list(),
    unsent: project.openKeys.size,
    cursor: project.cursor,
    ...turns,
    owned,
    agent: (isOwned ? owned?.agent : session.agent) ?? null,
    transcript: isOwned ? null : (session.path ?? null),
    last: { ...last },
    usage: parts.usage.sessions(),
    approvals: parts.guard.status(),
    inboxTrouble: inbox.trouble() ?? null,
    outboxTrouble: outbox.trouble() ?? null,
  };
}
