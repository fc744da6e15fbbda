// Puts together what carries a project's messages: between journal, files and phone, with what hangs on them. Decides nothing itself.

import { homedir } from 'node:os';
import { join } from 'node:path';
import { mailboxFolder } from '../../protocol/files.ts';
import type { Shows } from '../approvals/question/question.ts';
import type { Binding, Config } from '../config.ts';
import type { Journal } from '../journal/journal.ts';
import { languageOf, maxTextOf, type ProjectState, phoneTexts } from '../journal/state.ts';
import type { Log } from '../log.ts';
import { createInbox } from '../mailbox/inbox.ts';
import type { OpenMailbox } from '../mailbox/open.ts';
import type { Signer } from '../mailbox/signing.ts';
import type { OwnedEvent } from '../owned/owned.ts';
import { stateFiles } from '../paths.ts';
import { createNotifier } from '../phone/notify.ts';
import { createProgress, waitsFor } from '../phone/progress.ts';
import { createTurnDetails } from '../phone/turn-details.ts';
import { createWorkflowNames } from '../phone/workflow-names.ts';
import { createAttachments } from '../relay/attachments.ts';
import type { Address, RelayClient } from '../relay/client.ts';
import { keepText } from '../relay/documents.ts';
import { readAnswer } from '../relay/full-answers.ts';
import type { Outages } from '../relay/outages.ts';
import { createOutbox } from '../relay/outbox.ts';
import { createOutcomes } from '../relay/outcomes.ts';
import { type Redact, renderKey, type Typesetter } from '../relay/render.ts';
import { expandSlashText } from '../workflows/expand.ts';

export interface MailDeps {
  config: Config;
  journal: Journal;
  client: RelayClient;
  daemon: { id: string; startedAt: number };
  inboxLockMs: number | undefined;
  redact: Redact;
  typesetter: Typesetter;
  shows: Shows;
  clock: () => number;
  random: () => number;
  log: Log;
  outages: Outages;
}

export interface MailParts {
  project: ProjectState;
  address: Address;
  binding: Binding;
  mailbox: OpenMailbox;
  signer: Signer;
  /** Where the coding agent's own tools read files of the phone; undefined = none, so that they lie in the folder of the mailbox. */
  readableFolder(): Promise<string | undefined>;
  /** How far the relay's clock is ahead of this machine's. */
  relayOffsetMs(): number;
  onReceipts(): void;
  /** A hook that worked without the daemon obeyed a STOP. */
  onStopped(ids: readonly string[]): void;
  /** The inbox file was looked at. */
  onRefreshed(): void;
  /** The files of a message have come, so that it may be read. */
  onFetched(): void;
  /** The workflow that this message names was found, so that it may be read. */
  onNamed(id: string): void;
}

export function createMail(parts: MailParts, deps: MailDeps) {
  const { project, address, binding, mailbox, signer, onReceipts, onStopped, onRefreshed, onFetched, onNamed } = parts;
  const { place, admit, isAdmitted, isLeftOut, prepare } = mailbox;
  const { config, journal, client, redact, typesetter, clock, random, log, outages } = deps;
  const files = stateFiles(config.dirs.state);
  const outcomes = createOutcomes();
  const expand = (text: string) =>
    expandSlashText(text, {
      project: binding.dir,
      home: homedir(),
      onRefused: (why) => log('warn', 'workflow not read', { project: project.key, error: why.message }),
    });

  const outbox = createOutbox({
    project,
    address,
    journal,
    client,
    path: place.outbox,
    signer,
    admit,
    isAdmitted,
    prepare,
    render: (each) =>
      renderKey(each, {
        typesetter,
        maxText: maxTextOf(project),
        hasFullAnswer: async (id) => (await readAnswer(files.answers, id)) !== undefined,
      }),
    keepText: (name, text, caption) => keepText(files.documents, name, text, caption),
    onQuarantined: (aside) => notifier.quarantined(aside),
    onEnded: outcomes.ended,
    clock,
    random,
    log,
    outages,
  });

  const notifier = createNotifier({
    project,
    journal,
    outbox,
    answersDir: files.answers,
    summaryMaxChars: config.summaryMaxChars,
    redact,
    clock,
    log,
  });

  const inbox = createInbox({
    project,
    journal,
    path: place.inbox,
    lockTimeoutMs: deps.inboxLockMs,
    admit,
    isAdmitted,
    isLeftOut,
    prepare,
    signer,
    expand,
    clock,
    relayNow: () => clock() + parts.relayOffsetMs(),
    log,
    onReceipts,
    onStopped,
    onQuarantined: notifier.quarantined,
    onRefreshed,
    lookAgain: onFetched,
  });

  const details = createTurnDetails({
    typesetter,
    texts: () => phoneTexts(project).owned,
    changes: (diffs) => deps.shows.diff(diffs, languageOf(project)),
    keepText: (name, text, caption) => keepText(files.documents, name, text, caption),
  });
  const progress = createProgress({
    send: async (item) => {
      await client.outbox({ ...address, items: [item] });
    },
    keep: (item) => outbox.send(item),
    keys: () => project.outbox.keys(),
    offers: details.offers,
    typing: () => client.typing(address),
    muted: () => project.settings.get('muted') ?? false,
    waitsFor: () => waitsFor(project),
    redact,
    typesetter,
    phone: () => project.phone,
    clock,
    log,
  });

  const attachments = createAttachments({
    project,
    address,
    journal,
    client,
    async folders() {
      const dir = join(place.dir, 'wa_files');
      const nextToFiles = { dir, shownDir: place.inProject ? `${mailboxFolder}/wa_files` : dir };
      const readable = await parts.readableFolder();
      return readable === undefined ? [nextToFiles] : [{ dir: readable, shownDir: readable }, nextToFiles];
    },
    prepare,
    onFetched,
    onMissing(id, missing) {
      const text = phoneTexts(project).notes.missingFiles(missing.join('\n'));
      notifier
        .tell(`missing:${id}`, text, id)
        .catch((cause) => log('warn', 'phone not told', { error: (cause as Error).message }));
    },
    clock,
    random,
    log,
    outages,
  });

  const names = createWorkflowNames({
    project,
    journal,
    isWorkflow: async (text) => (await expand(text)) !== undefined,
    send: (item) => outbox.send(item),
    onFound: onNamed,
    onReceipts,
    clock,
    log,
  });

  /** What the agent of a session that the daemon owns says, for the message that is edited in place and for what is asked of it later. */
  function streamed(event: OwnedEvent): void {
    const slot = progress.slot();
    if (slot === undefined) return;
    progress.event(event);
    details.see(slot, event);
  }

  return { inbox, outbox, outcomes, notifier, progress, details, streamed, attachments, names };
}
