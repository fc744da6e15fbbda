// The parts of one bound project, joined: what carries its messages, the turn runtime, the gates, the sessions that the daemon
// runs itself, what the owner does. Decides nothing itself, and starts nothing.

import { hash } from 'node:crypto';
import { homedir } from 'node:os';
import { projectKey } from '../../protocol/ids.ts';
import { guardProject } from '../approvals/guard.ts';
import type { GuardDeps } from '../approvals/guard-parts.ts';
import { createCoalesced } from '../coalesce.ts';
import type { Binding } from '../config.ts';
import { hmacWith } from '../crypto.ts';
import type { LastEvents } from '../daemon-status.ts';
import { newCompressions } from '../drivers/session-file.ts';
import { filesFolder } from '../drivers/workstations.ts';
import type { Heavy } from '../heavy/heavy.ts';
import { languageOf, maxTextOf } from '../journal/state.ts';
import { openMailbox } from '../mailbox/open.ts';
import { createSigner } from '../mailbox/signing.ts';
import { stateFiles } from '../paths.ts';
import type { Keys } from '../presence.ts';
import { keepText } from '../relay/documents.ts';
import { createTurns } from '../session/turns.ts';
import { answerInFile } from './answer-in-file.ts';
import { createDayUsage } from './day-usage.ts';
import { createHostProcess } from './host-process.ts';
import { createMail, type MailDeps } from './mail.ts';
import { createOwned } from './owned.ts';
import type { OwnedAgents } from './owned-agents.ts';
import { createOwner } from './owner.ts';
import { createPolling } from './polling.ts';
import { createPromptQueue } from './prompt-queue.ts';
import type { Surroundings } from './standing.ts';

export interface ProjectDeps extends Omit<MailDeps, 'typesetter'>, GuardDeps {
  /** See `Signer`. */
  signingKey: string;
  typesetterFor: Heavy['typesetterFor'];
  /** See `Serving`. */
  hold(mailboxDir: string, projectDir: string): Promise<void>;
  isAlive(pid: number): boolean;
  surroundings: Surroundings;
  keys: Keys;
  ownedAgents: OwnedAgents;
}

/** What the project has seen last. */
interface Seen {
  /** The session file that a hook named. */
  session: { agent: string | undefined; path: string | undefined };
  /** How far the relay's clock is ahead of this machine's. */
  relayOffsetMs: number;
  last: LastEvents;
}

export type ProjectParts = Awaited<ReturnType<typeof joinParts>>;

const nodeHmac = (key: string) => hmacWith(key, (bytes) => hash('sha256', bytes, 'buffer'));

/** `onReceipts`: there are receipts to send. Errors: `outside_project`, and those of `hold`. */
export async function joinParts(binding: Binding, given: ProjectDeps, onReceipts: () => void) {
  const { config, journal, client, redact, keys, clock, log } = given;
  const address = { mailbox: binding.mailbox, project: binding.project };
  const key = projectKey(address.mailbox, address.project);
  const project = journal.project(key);
  const typesetter = given.typesetterFor(() => ({ maxText: maxTextOf(project), language: languageOf(project) }));
  const deps = { ...given, typesetter };
  const files = stateFiles(config.dirs.state);
  const signer = createSigner(deps.signingKey, key, nodeHmac(deps.signingKey));
  const seen: Seen = {
    session: { agent: project.turn?.place?.tool, path: project.turn?.place?.transcript },
    relayOffsetMs: 0,
    last: { poll: null, message: null, sent: null, hook: null },
  };
  const usage = await createDayUsage(files.usage(key), { clock, log });

  const mailbox = await openMailbox(binding, {
    ...{ config, project, signer, clock, log },
    tell: (about, text) => notifier.tell(about, text),
    onQuarantined: (aside) => notifier.quarantined(aside),
  });
  const { place, prepare } = mailbox;
  await deps.hold(place.dir, binding.dir);

  const mail = createMail(
    {
      ...{ project, address, binding, mailbox, signer },
      readableFolder: () => filesFolder(seen.session, binding.dir, homedir()),
      relayOffsetMs: () => seen.relayOffsetMs,
      onReceipts,
      onStopped: (ids) => turns.stoppedAlone(ids),
      onRefreshed: () => turns.wake(),
      onFetched: () => void look(),
      onNamed: (id) => void turns.steering.arrived([id]).then(look),
    },
    deps,
  );
  const { inbox, outbox, outcomes, notifier, progress, streamed, attachments } = mail;

  const sessionsPlace = { home: homedir(), env: process.env, state: config.dirs.state };
  const turns = createTurns({
    ...{ project, journal, inbox, clock, log },
    report: notifier.report,
    tellWithheld: notifier.tellWithheld,
    onReceipts,
    activity: progress,
    tell: notifier.tell,
    compressions: async ({ tool, transcript, offset }) =>
      transcript ? newCompressions({ agent: tool, path: transcript }, offset) : [],
    scanOutbox: () => outbox.scan().then(outbox.isTaken),
    onDialog: (call, pid, dialog) => guard.dialogs.opened(call, pid, dialog),
    isAlive: deps.isAlive,
    isInteractive: deps.isInteractive,
    ...createHostProcess(config, keys),
    queue: createPromptQueue(config),
    awayAfterMs: config.presence.awayAfterMs,
    follow: config.follow,
    answerInFile: (of, carried) => answerInFile(of, carried, { place: sessionsPlace, within: binding.dir }),
    cancelOwned: () => owned.sessions.cancel(),
    routes: () => [owned.sessions.route, mcp.route],
    holdPolicy: config.hold,
    sprintText: config.sprintText,
  });

  /** Brings the file up to date, which wakes the agent, and takes a STOP that stands in it. */
  const look = () => inbox.refresh().then(takeStop);
  const lookAtChange = () => inbox.changed().then(takeStop);

  async function takeStop(): Promise<void> {
    try {
      // The gate first: the rules spend a STOP that finds no turn.
      await guard.stoppedInFile(inbox.foreignStop());
      await turns.steering.looked();
    } catch (cause) {
      log('error', 'stop not taken', { error: (cause as Error).message });
    }
  }

  /** What is in the journal, for the files and what hangs on them. Never rejects. */
  const catchUp = createCoalesced(async () => {
    await look();
    void attachments.fetch();
  });

  const { leases, mcp } = createPolling({
    ...{ project, journal, client, inbox, outbox, outcomes, turns, address, redact, typesetter, clock, log },
    onReceipts,
  });

  const guard = await guardProject(binding, deps, {
    mailboxDir: place.dir,
    prepare,
    send: (item) => outbox.send(item),
    sendFile: async (name, text, caption) => outbox.sendDocument(await keepText(files.documents, name, text, caption)),
    onCancelled: (why) => turns.cancelled(why),
    isPresent: () => turns.status().present === true,
    seenAt: () => turns.seenAt(),
  });

  const owned = createOwned({
    ...{ project, journal, binding, guard, streamed, redact, clock, log },
    turns: {
      ...turns,
      handle(call, host) {
        usage.note(call);
        return turns.handle(call, host);
      },
    },
    agents: deps.ownedAgents,
    runtimeDir: config.dirs.runtime,
    place: sessionsPlace,
    tell: notifier.tell,
    isAlive: deps.isAlive,
  });

  const { held, controls } = createOwner(
    {
      ...{ project, binding, mail, turns, guard, owned },
      place: sessionsPlace,
      onReceipts,
      onBehind: () => void catchUp(),
    },
    deps,
  );

  return {
    ...{ binding, address, project, mailbox, ...mail, turns, leases, mcp, guard, owned, held, controls },
    ...{ seen, usage, lookAtChange, catchUp },
  };
}
