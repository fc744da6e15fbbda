// Puts the parts of one bound project together: journal state, the two files, the pull loop, the turn runtime.
// Decides nothing itself.

import { createHash, randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { identityOf, isoSeconds, type OutboxEntry } from '../../protocol/files.ts';
import { projectKey } from '../../protocol/ids.ts';
import { fileLimits } from '../../protocol/limits.ts';
import type { ControlRow } from '../../protocol/log.ts';
import type { Guard } from '../approvals/guard.ts';
import type { Binding, Config } from '../config.ts';
import { nudgeInTmux } from '../drivers/gemini/nudge.ts';
import { keepAnswer, readAnswer } from '../files/answers.ts';
import { readJsonFile, writeJsonFile } from '../files/json-file.ts';
import { ensureMailbox, type MailboxPlace, tidyMailbox } from '../files/location.ts';
import type { Redacted } from '../format/redact.ts';
import { summarize } from '../format/summary.ts';
import type { TurnReport, Turns } from '../hook-server/turn-types.ts';
import { createTurns } from '../hook-server/turns.ts';
import type { ApprovalMode } from '../journal/approvals.ts';
import type { Journal } from '../journal/journal.ts';
import type { Log } from '../log.ts';
import { stateFiles } from '../paths.ts';
import type { RelayClient } from '../relay-client.ts';
import { createAttachments } from '../sync/attachments.ts';
import { createCoalesced } from '../sync/coalesce.ts';
import { answerControl, replyKey } from '../sync/controls.ts';
import { keepText } from '../sync/documents.ts';
import { createInbox, type InboxSync } from '../sync/inbox.ts';
import { toEntry } from '../sync/inbox-view.ts';
import { createOutbox, type OutboxSync } from '../sync/outbox.ts';
import { createOutcomes } from '../sync/outcomes.ts';
import type { Polling } from '../sync/polling.ts';
import { createProgress } from '../sync/progress.ts';
import { type Pull, startPull } from '../sync/pull.ts';
import { type Redact, renderKey } from '../sync/render.ts';
import { watchFiles } from '../sync/watch.ts';
import type { SpoolRecord } from '../turns/spooled.ts';
import { parseStoredView, type StoredView } from '../turns/view.ts';
import { expandSlashText } from '../workflows/expand.ts';
import { guardProject } from './guarding.ts';
import { servePolling } from './polling.ts';

export interface ProjectDeps {
  config: Config;
  journal: Journal;
  client: RelayClient;
  daemon: { id: string; startedAt: number };
  redact: Redact;
  redactor(text: string): Redacted;
  /** Closes or opens the gates for the time without a daemon. */
  closeGates(key: string, mode: ApprovalMode): Promise<void>;
  clock: () => number;
  random: () => number;
  log: Log;
  isAlive(pid: number): boolean;
  isInteractive(pid: number): Promise<boolean>;
  /** Takes what hooks did on the files alone. Never rejects. */
  takeSpool(): Promise<void>;
}

export interface RunningProject {
  readonly binding: Binding;
  readonly pull: Pull;
  readonly turns: Turns;
  readonly guard: Guard;
  readonly inbox: InboxSync;
  readonly outbox: OutboxSync;
  /** What the owner asks at the desk. Gives the words of the answer. */
  steer(action: 'stop' | 'sprint' | 'away', args: string): Promise<string>;
  readonly polling: Polling;
  /** What was taken from the spool; the records of other projects are passed over. */
  adopt(records: readonly SpoolRecord[]): void;
  status(): object;
  stop(): Promise<void>;
}

/** What the platform takes in one message, less what rendering may add. */
const noteChars = 4_000;

export async function startProject(binding: Binding, place: MailboxPlace, deps: ProjectDeps): Promise<RunningProject> {
  const { config, journal, client, clock, random, log } = deps;
  const key = projectKey(binding.mailbox, binding.project);
  const address = { mailbox: binding.mailbox, project: binding.project };
  const project = journal.project(key);
  const files = stateFiles(config.dirs.state);
  const prepare = () => ensureMailbox(place, binding.dir);
  let relayOffsetMs = 0;
  let pull: Pull | undefined;
  let polling: Polling | undefined;

  function onQuarantined({ path, salvaged }: { path: string; salvaged: number }): void {
    const name = basename(path);
    log('error', 'malformed file moved aside', { project: key, name, salvaged });
    const text = `Another program left a malformed ${name.replace(/\.corrupt-.*/, '')}. It lies aside as ${name}; ${salvaged} of its entries were recovered, and no message of yours is lost.`;
    const hash = createHash('sha256').update(path).digest('hex').slice(0, 40);
    outbox
      .send({ key: `aside_${hash}`, class: 'answer', parts: [{ text, entities: [] }] })
      .catch((cause) => log('warn', 'phone not told', { error: (cause as Error).message }));
  }

  const outcomes = createOutcomes();
  const outbox = createOutbox({
    project,
    address,
    journal,
    client,
    path: place.outbox,
    prepare,
    render: (each) =>
      renderKey(each, {
        redact: deps.redact,
        hasFullAnswer: async (id) => (await readAnswer(files.answers, id)) !== undefined,
      }),
    onQuarantined,
    onOutcomes: outcomes.settled,
    clock,
    random,
    log,
  });

  const inbox = createInbox({
    project,
    journal,
    path: place.inbox,
    prepare,
    takeSpool: deps.takeSpool,
    expand: (text) => expandSlashText(text, { project: binding.dir, home: homedir() }),
    clock,
    relayNow: () => clock() + relayOffsetMs,
    log,
    onReceipts: () => pull?.nudge(),
    onQuarantined,
    onRefreshed: () => polling?.news(),
  });

  const progress = createProgress({
    send: async (item) => {
      await client.outbox({ ...address, items: [item] });
    },
    typing: () => client.typing(address),
    muted: () => project.settings.get('muted') ?? false,
    clock,
    log,
  });

  const attachments = createAttachments({
    project,
    address,
    journal,
    client,
    dir: join(place.dir, 'wa_files'),
    shownDir: place.inProject ? '.gemini/wa_files' : join(place.dir, 'wa_files'),
    prepare,
    onFetched: () => void look(),
    clock,
    random,
    log,
  });

  const turns = createTurns({
    project,
    journal,
    inbox,
    report,
    onReceipts: () => pull?.nudge(),
    activity: progress,
    tell: (about, text) => {
      const parts = [{ text: deps.redact(text).slice(0, noteChars), entities: [] }];
      const hash = createHash('sha256').update(about).digest('hex').slice(0, 40);
      return outbox.send({ key: `note_${hash}`, class: 'answer', parts });
    },
    storeView,
    restored: parseStoredView(await readJsonFile(files.view(key))),
    isAlive: deps.isAlive,
    isInteractive: deps.isInteractive,
    nudge: config.nudge === 'tmux' ? nudgeInTmux : undefined,
    holdPolicy: config.hold,
    sprintText: config.sprintText,
    clock,
    log,
  });

  /** Brings the file up to date and gives a held turn what came. */
  async function look(): Promise<void> {
    await inbox.refresh();
    await turns.steering.looked().catch((cause) => log('error', 'stop not taken', { error: (cause as Error).message }));
    turns.wake();
  }
  const served = servePolling(
    { project, journal, inbox, outbox, outcomes, turns, onReceipts: () => pull?.nudge(), onLeases: () => writeView() },
    address,
    deps,
  );
  polling = served;

  const guard = await guardProject(binding, place, deps, { prepare, send: (item) => outbox.send(item) });

  let turnView: StoredView | undefined;
  function storeView(view: StoredView): Promise<void> {
    turnView = view;
    return writeView();
  }

  const writeView = createCoalesced(async () => {
    const owner: string[] = [];
    for (const message of project.waiting.values()) {
      owner.push(identityOf(toEntry(message)));
      if (owner.length >= fileLimits.entries) break;
    }
    const view = turnView ?? turns.view();
    // What an agent holds must not come out of a stale file either.
    const handed = [...view.handed, ...[...project.leased.values()].map((message) => identityOf(toEntry(message)))];
    await writeJsonFile(files.view(key), { ...view, owner, handed }).catch((cause) =>
      log('warn', 'view not written', { project: key, error: (cause as Error).message }),
    );
  });

  async function report({ text, failed, replyTo, lead }: TurnReport): Promise<void> {
    const now = clock();
    const id = `resp_${now.toString(36)}_${randomBytes(4).toString('hex')}`;
    const short = summarize(text, config.summaryMaxChars);
    const summary = failed ? `Failed: ${short}` : lead === undefined ? short : `${lead}\n${short}`;
    if (short !== text) {
      await keepAnswer(files.answers, id, text).catch((cause) =>
        log('warn', 'full answer not kept', { error: (cause as Error).message }),
      );
    }
    const entry: OutboxEntry = { id, timestamp: isoSeconds(now), from: 'agent', text: summary, sent: false };
    await outbox.report(entry, replyTo);
  }

  /** Coalesced: two runs at once would answer a control twice. What fails is tried again with the next rows or start. */
  const answerControls = createCoalesced(async () => {
    for (const control of [...project.controls.values()]) {
      // Each by itself: a STOP must not wait behind one that fails.
      await spend(control).catch((cause) =>
        log('warn', 'control not answered', { project: key, id: control.id, error: (cause as Error).message }),
      );
    }
  });

  async function spend(control: ControlRow): Promise<void> {
    const guarded = await guard.answer(control);
    if (guarded) {
      for (const item of guarded) await outbox.send(item);
      await journal.append([{ t: 'spent', p: key, at: clock(), ids: [control.id] }]);
      return;
    }
    // Answered before; it is spent when it has had its effect.
    const isStop = control.control.type === 'stop' || control.control.type === 'abort';
    if (isStop && project.outbox.has(replyKey(control.id))) return;
    const reply = await answerControl(control, {
      steering: turns.steering,
      fullAnswer: (id) => readAnswer(files.answers, id),
      redact: deps.redact,
      keepText: (name, text, caption) => keepText(files.documents, name, text, caption),
    });
    const at = clock();
    if (reply.setting) await journal.append([{ t: 'setting', p: key, at, ...reply.setting }]);
    if (reply.kind === 'document') await outbox.sendDocument(reply.document);
    else await outbox.send(reply.item);
    if (reply.open) return;
    await journal.append([{ t: 'spent', p: key, at, ids: [control.id] }]);
    if (isStop) await inbox.refresh();
  }

  await tidyMailbox(place, binding.dir, clock());
  // The file shows what the journal has before the relay is asked for more.
  await inbox.refresh();
  await outbox.scan();
  const running = startPull({
    project,
    address,
    journal,
    client,
    daemon: deps.daemon,
    clock,
    random,
    log,
    async onRows(rows) {
      await turns.steering.arrived(rows.map(({ id }) => id));
      await look();
      await writeView();
      attachments.fetch();
      await answerControls();
    },
    onOutboxChanged: () => outbox.postOpen(),
    onRelayClock: (offsetMs) => {
      relayOffsetMs = offsetMs;
    },
  });
  pull = running;
  await writeView();
  attachments.prune().then(attachments.fetch, () => {});
  answerControls();

  const watcher = watchFiles([place.inbox, place.outbox], (path) => {
    if (path === place.inbox) look();
    else outbox.scan();
  });

  return {
    binding,
    pull: running,
    turns,
    guard,
    inbox,
    outbox,
    async steer(action, args) {
      const id = `desk_${clock().toString(36)}_${randomBytes(4).toString('hex')}`;
      if (action === 'sprint') return turns.steering.sprint(id, args);
      if (action === 'away') return turns.steering.away(args);
      const at = clock();
      const seq = project.cursor + 1;
      const control = { type: 'stop', text: 'stop' } as const;
      const row = { kind: 'control', id, seq, at, control } as const;
      await journal.append([{ t: 'row', p: key, at, row, ahead: true }]);
      // What waits for an answer of the phone is denied.
      await guard.answer(row);
      const { text, spent } = await turns.steering.stop({ id, seq, type: 'stop' });
      if (spent) {
        await journal.append([{ t: 'spent', p: key, at: clock(), ids: [id] }]);
        await inbox.refresh();
      }
      return text;
    },
    polling: served,
    adopt(records) {
      const ours = records.filter((record) => record.project === key);
      if (ours.length === 0) return;
      for (const record of ours) turns.adopt(record);
      running.nudge();
      outbox.postOpen();
    },
    status() {
      const relay = running.current();
      return {
        dir: binding.dir,
        mailbox: binding.mailbox,
        project: binding.project,
        relay: relay.state,
        ...(relay.state === 'failing' ? { error: relay.error.code, hint: relay.error.hint } : {}),
        waiting: project.waiting.size + project.fetching.size,
        leased: served.leased(),
        unsent: project.openKeys.size,
        cursor: project.cursor,
        ...turns.status(),
        approvals: guard.status(),
        inboxTrouble: inbox.trouble() ?? null,
        outboxTrouble: outbox.trouble() ?? null,
      };
    },
    async stop() {
      await turns.stop();
      watcher.stop();
      attachments.stop();
      progress.ended(false);
      await Promise.all([outbox.stop(), running.stop(), guard.stop()]);
      await inbox.stop();
      // The last word to the hooks that go on alone; and nothing is written after the end.
      await writeView();
    },
  };
}
