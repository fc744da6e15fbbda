// Starts and stops one bound project, in the order that custody needs. Decides nothing itself.

import type { Row } from '../../protocol/log.ts';
import type { Texts } from '../../protocol/texts.ts';
import type { Guard } from '../approvals/guard.ts';
import type { Binding } from '../config.ts';
import type { ProjectStatus } from '../daemon-status.ts';
import { phoneTexts } from '../journal/state.ts';
import type { Log } from '../log.ts';
import type { InboxSync } from '../mailbox/inbox.ts';
import { watchFiles } from '../mailbox/watch.ts';
import type { HeldTexts } from '../phone/held-texts.ts';
import { type HelloState, hello } from '../phone/hello.ts';
import type { OutboxSync } from '../relay/outbox.ts';
import { type Pull, startPull } from '../relay/pull.ts';
import type { Mcp } from '../session/mcp.ts';
import type { Turns } from '../session/types.ts';
import type { OwnedPart } from './owned.ts';
import { joinParts, type ProjectDeps, type ProjectParts } from './project-parts.ts';
import { statusOf } from './project-status.ts';
import { createStanding } from './standing.ts';

export interface RunningProject {
  readonly binding: Binding;
  readonly pull: Pull;
  readonly turns: Turns;
  readonly guard: Guard;
  readonly held: HeldTexts;
  readonly inbox: InboxSync;
  readonly outbox: OutboxSync;
  /** What the owner asks at the terminal. Returns the text of the answer. */
  steer(action: 'stop' | 'sprint' | 'away', args: string): Promise<string>;
  /** A note on the phone; the same `about` is told once. */
  tell(about: string, textOf: (texts: Texts) => string): Promise<void>;
  /** See `hello` of agent/phone. */
  hello(id: string): Promise<HelloState>;
  readonly mcp: Mcp;
  /** The session that the daemon runs itself. */
  readonly owned: OwnedPart;
  status(): ProjectStatus;
  /** Tells the relay soon where the project stands, when that has changed. Called by the daemon's clock. */
  stands(): void;
  stop(): Promise<void>;
}

/** Errors: `outside_project`, and those of `hold`. */
export async function startProject(binding: Binding, deps: ProjectDeps): Promise<RunningProject> {
  let pull: Pull | undefined;
  const parts = await joinParts(binding, deps, () => pull?.nudge());
  const { project, mailbox, inbox, outbox, notifier, turns, guard, held, controls, mcp, owned, seen, usage } = parts;
  const { place } = mailbox;
  const status = () => statusOf({ ...parts, pull });

  await takeUp(parts, deps.log);
  const pulling = startProjectPull(parts, deps, status);
  pull = pulling;
  parts.attachments.prune().then(parts.attachments.fetch, () => {});
  void parts.names.look();
  void controls.answer();

  const watcher = watchFiles([place.inbox, place.outbox], (path) => {
    if (path === place.inbox) void parts.lookAtChange();
    else void outbox.scan();
  });

  /** The process of an owned session ends first: what it leaves is told while the turns still hear. */
  async function stop(): Promise<void> {
    await owned.sessions.stop();
    await turns.stop();
  }

  return {
    binding,
    pull: pulling,
    turns: {
      ...turns,
      async handle(call, host) {
        seen.last.hook = deps.clock();
        if (call.transcript) seen.session = { agent: call.agent, path: call.transcript };
        usage.note(call);
        await owned.sees(call, host.pid);
        return turns.handle(call, host);
      },
      stop,
    },
    guard,
    held,
    inbox,
    outbox,
    steer: controls.steer,
    tell: (about, textOf) => notifier.tell(about, textOf(phoneTexts(project))),
    hello: (id) => hello(id, { project, outbox, dir: binding.dir }),
    mcp,
    owned,
    status,
    stands: () => pulling.stands(),
    async stop() {
      await stop();
      watcher.stop();
      parts.attachments.stop();
      parts.progress.ended(false);
      await Promise.all([outbox.stop(), pulling.stop(), guard.stop(), usage.stop()]);
      await inbox.stop();
    },
  };
}

/** The files show what the journal has before the relay is asked for more; and what hooks did while no daemon ran is settled. */
async function takeUp({ progress, inbox, outbox, turns, owned }: ProjectParts, log: Log): Promise<void> {
  await progress.closeInterrupted();
  await inbox.refresh();
  await outbox.scan();
  await turns.checkProcess().catch((cause) => log('error', 'turn not taken up', { error: (cause as Error).message }));
  await owned.sessions.start();
}

function startProjectPull(parts: ProjectParts, deps: ProjectDeps, status: () => ProjectStatus): Pull {
  const { project, address, outbox, names, turns, held, controls, seen } = parts;
  const { journal, client, daemon, outages, clock, random, log } = deps;
  const standing = createStanding(deps.surroundings, deps);
  return startPull({
    ...{ project, address, journal, client, daemon, outages, clock, random, log },
    standing: () => standing(status()),
    async onRows(rows) {
      seen.last.message = clock();
      // A name that may be no workflow releases nothing, but its word stop counts at once.
      const isOpen = (row: Row) => row.kind === 'message' && row.workflow && !row.stopWord;
      await turns.steering.arrived(rows.filter((row) => !isOpen(row)).map(({ id }) => id));
      void names.look();
      // Neither a tap or a STOP nor the next poll waits for a file that is locked.
      const answered = controls.answer();
      void parts.catchUp();
      await answered;
    },
    onEnded(ends) {
      seen.last.sent = clock();
      void outbox.ended(ends);
    },
    asksAbout: held.holds,
    onEpoch: () => outbox.postOpen(),
    onRelayClock: (offsetMs) => {
      seen.relayOffsetMs = offsetMs;
      seen.last.poll = clock();
    },
  });
}
