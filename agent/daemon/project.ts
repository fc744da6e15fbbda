// Puts the parts of one bound project together: what carries its messages, the pull loop, the turn runtime, the gates.
// Decides nothing itself.

import { createHmac } from 'node:crypto';
import { homedir } from 'node:os';
import { projectKey } from '../../protocol/ids.ts';
import type { Row } from '../../protocol/log.ts';
import type { Texts } from '../../protocol/texts.ts';
import { type Guard, type GuardDeps, guardProject } from '../approvals/guard.ts';
import { createCoalesced } from '../coalesce.ts';
import type { Binding } from '../config.ts';
import type { LastEvents, ProjectStatus } from '../daemon-status.ts';
import { driverOf } from '../drivers/registry.ts';
import { newCompressions } from '../drivers/session-file.ts';
import { filesFolder, workstationOf } from '../drivers/workstations.ts';
import type { Heavy } from '../heavy/heavy.ts';
import { languageOf, maxTextOf, phoneTexts } from '../journal/state.ts';
import type { InboxSync } from '../mailbox/inbox.ts';
import { openMailbox } from '../mailbox/open.ts';
import { createSigner } from '../mailbox/signing.ts';
import { watchFiles } from '../mailbox/watch.ts';
import { stateFiles } from '../paths.ts';
import { createHeldTexts, type HeldTexts } from '../phone/held-texts.ts';
import { type HelloState, hello } from '../phone/hello.ts';
import { createOwnedCommands } from '../phone/owned-commands.ts';
import { findForPhone } from '../phone/sessions.ts';
import type { Keys } from '../presence.ts';
import { keepText } from '../relay/documents.ts';
import type { OutboxSync } from '../relay/outbox.ts';
import { type Pull, startPull } from '../relay/pull.ts';
import type { Mcp } from '../session/mcp.ts';
import { createTurns } from '../session/turns.ts';
import type { Turns } from '../session/types.ts';
import { isServerProcess } from '../terminal.ts';
import { answerInFile } from './answer-in-file.ts';
import { createDayUsage } from './day-usage.ts';
import { createMail, type MailDeps } from './mail.ts';
import { createOwned, type OwnedPart } from './owned.ts';
import type { OwnedAgents } from './owned-agents.ts';
import { createOwnedDesk } from './owned-desk.ts';
import { createOwnerControls } from './owner-controls.ts';
import { createPolling } from './polling.ts';
import { statusOf } from './project-status.ts';
import { createPromptQueue } from './prompt-queue.ts';
import { createStanding, type Surroundings } from './standing.ts';

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

const nodeHmac = (key: string, text: string) => createHmac('sha256', key).update(text).digest('hex');

/** Errors: `outside_project`, and those of `hold`. */
export async function startProject(binding: Binding, given: ProjectDeps): Promise<RunningProject> {
  const { config, journal, client, keys, clock, random, log } = given;
  const key = projectKey(binding.mailbox, binding.project);
  const address = { mailbox: binding.mailbox, project: binding.project };
  const project = journal.project(key);
  const deps = {
    ...given,
    typesetter: given.typesetterFor(() => ({ maxText: maxTextOf(project), language: languageOf(project) })),
  };
  const files = stateFiles(config.dirs.state);
  const signer = createSigner(deps.signingKey, key, nodeHmac);
  /** The session file that a hook named last. */
  let session: { agent: string | undefined; path: string | undefined } = {
    agent: project.turn?.place?.tool,
    path: project.turn?.place?.transcript,
  };
  const usage = await createDayUsage(files.usage(key), { clock, log });
  const standing = createStanding(deps.surroundings, deps);
  let relayOffsetMs = 0;
  const last: LastEvents = { poll: null, message: null, sent: null, hook: null };
  let pull: Pull | undefined;

  const mailbox = await openMailbox(binding, {
    config,
    project,
    signer,
    clock,
    log,
    tell: (about, text) => notifier.tell(about, text),
    onQuarantined: (aside) => notifier.quarantined(aside),
  });
  const { place, prepare } = mailbox;
  await given.hold(place.dir, binding.dir);

  const { inbox, outbox, outcomes, notifier, progress, details, streamed, attachments, names } = createMail(
    {
      project,
      address,
      binding,
      mailbox,
      signer,
      readableFolder: () => filesFolder(session, binding.dir, homedir()),
      relayOffsetMs: () => relayOffsetMs,
      onReceipts: () => pull?.nudge(),
      onStopped: (ids) => turns.stoppedAlone(ids),
      onRefreshed: () => turns.wake(),
      onFetched: () => void look(),
      onNamed: (id) => void turns.steering.arrived([id]).then(look),
    },
    deps,
  );

  const isServer = async (pid: number, agent: string | undefined) => {
    const runsServer = agent === undefined ? undefined : driverOf(agent)?.isServer;
    return runsServer !== undefined && (await isServerProcess(pid, runsServer));
  };

  const sessionsPlace = { home: homedir(), env: process.env, state: config.dirs.state };
  const turns = createTurns({
    project,
    journal,
    inbox,
    report: notifier.report,
    tellWithheld: notifier.tellWithheld,
    onReceipts: () => pull?.nudge(),
    activity: progress,
    tell: notifier.tell,
    compressions: async ({ tool, transcript, offset }) =>
      transcript ? newCompressions({ agent: tool, path: transcript }, offset) : [],
    async told(isFresh) {
      if (isFresh) await outbox.scan();
      return outbox.toldAlone();
    },
    onDialog: (call, pid, dialog) => guard.dialogs.opened(call, pid, dialog),
    isAlive: deps.isAlive,
    isInteractive: deps.isInteractive,
    // The keys of a server's terminals cannot be told apart from those of its own surroundings.
    lastKeyAt: async (pid, agent) => ((await isServer(pid, agent)) ? undefined : keys.lastAt(pid)),
    isServer,
    queue: createPromptQueue(config),
    nudgeOff: config.nudge === 'off',
    canWake: async (pid, agent) =>
      config.nudge === 'auto' &&
      workstationOf(agent)?.nudge !== undefined &&
      (await (workstationOf(agent)?.canNudge ?? keys.isInTmux)(pid)),
    nudge: async (pid, agent) => (await workstationOf(agent)?.nudge?.(pid, (work) => keys.typing(pid, work))) ?? false,
    awayAfterMs: config.presence.awayAfterMs,
    follow: config.follow,
    answerInFile: (of, carried) => answerInFile(of, carried, { place: sessionsPlace, within: binding.dir }),
    cancelOwned: () => owned.sessions.cancel(),
    routes: () => [owned.sessions.route, mcp.route],
    holdPolicy: config.hold,
    sprintText: config.sprintText,
    clock,
    log,
  });

  /** Brings the file up to date, which wakes the agent, and takes a STOP that stands in it. */
  async function look(): Promise<void> {
    await inbox.refresh();
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
    ...{ project, journal, client, inbox, outbox, outcomes, turns, address, clock, log },
    redact: deps.redact,
    typesetter: deps.typesetter,
    onReceipts: () => pull?.nudge(),
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
    ...{ project, journal, binding, guard, streamed, clock, log },
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

  const held = createHeldTexts({
    project,
    journal,
    send: (item) => outbox.send(item),
    expects: guard.expects,
    use: guard.use,
    async onReleased(ids) {
      await turns.steering.arrived(ids);
      void catchUp();
    },
    onEnded() {
      pull?.nudge();
      void catchUp();
    },
    clock,
    log,
  });

  const texts = () => phoneTexts(project);
  const controls = createOwnerControls({
    project,
    journal,
    guard,
    held,
    steering: turns.steering,
    orders: owned,
    owned: createOwnedCommands({
      desk: createOwnedDesk({ config, dir: binding.dir, session: owned.openSession, texts }),
      texts,
      details,
      refusalOf: guard.refusalOf,
      redact: deps.redact,
    }),
    inbox,
    outbox,
    files,
    typesetter: deps.typesetter,
    sessions: (words) =>
      findForPhone(words, {
        place: sessionsPlace,
        dir: binding.dir,
        redact: deps.redact,
        texts: texts(),
        clock,
      }),
    clock,
    log,
  });

  const status = () =>
    statusOf({ binding, mailbox, project, pull, leases, turns, owned, session, last, usage, guard, inbox, outbox });

  await progress.closeInterrupted();
  // The file shows what the journal has before the relay is asked for more.
  await inbox.refresh();
  await outbox.scan();
  // What hooks did while no daemon ran.
  await turns.checkProcess().catch((cause) => log('error', 'turn not taken up', { error: (cause as Error).message }));
  await owned.sessions.start();
  const running = startPull({
    project,
    address,
    journal,
    client,
    daemon: deps.daemon,
    clock,
    random,
    log,
    outages: deps.outages,
    standing: () => standing(status()),
    async onRows(rows) {
      last.message = clock();
      // A name that may be no workflow releases nothing, but its word stop counts at once.
      const isOpen = (row: Row) => row.kind === 'message' && row.workflow && !row.stopWord;
      await turns.steering.arrived(rows.filter((row) => !isOpen(row)).map(({ id }) => id));
      void names.look();
      // Neither a tap or a STOP nor the next poll waits for a file that is locked.
      const answered = controls.answer();
      void catchUp();
      await answered;
    },
    onEnded(ends) {
      last.sent = clock();
      void outbox.ended(ends);
    },
    asksAbout: held.holds,
    onEpoch: () => outbox.postOpen(),
    onRelayClock: (offsetMs) => {
      relayOffsetMs = offsetMs;
      last.poll = clock();
    },
  });
  pull = running;
  attachments.prune().then(attachments.fetch, () => {});
  void names.look();
  void controls.answer();

  const watcher = watchFiles([place.inbox, place.outbox], (path) => {
    if (path === place.inbox) void look();
    else void outbox.scan();
  });

  /** The process of an owned session ends first: what it leaves is told while the turns still hear. */
  async function stop(): Promise<void> {
    await owned.sessions.stop();
    await turns.stop();
  }

  return {
    binding,
    pull: running,
    turns: {
      ...turns,
      async handle(call, host) {
        last.hook = clock();
        if (call.transcript) session = { agent: call.agent, path: call.transcript };
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
    stands: () => running.stands(),
    async stop() {
      await stop();
      watcher.stop();
      attachments.stop();
      progress.ended(false);
      await Promise.all([outbox.stop(), running.stop(), guard.stop(), usage.stop()]);
      await inbox.stop();
    },
  };
}
