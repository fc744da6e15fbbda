// Keeps wa_inbox.json a view of the journal: shows the oldest unread messages, reads back as "taken" what other programs did to
// them, and drops no entry of another program. The journal decides; the file only shows.

import type { HookNote, InboxEntry } from '../../protocol/files.ts';
import { createCoalesced } from '../coalesce.ts';
import type { Journal } from '../journal/journal.ts';
import type { ProjectRecord } from '../journal/records.ts';
import { overdue, type ProjectState } from '../journal/state.ts';
import type { Log } from '../log.ts';
import type { StopView, WaitingMessage } from '../turns/view.ts';
import { createFileOrder } from './file-order.ts';
import { isOurStop, openStops } from './inbox-entries.ts';
import { createInboxFile, told } from './inbox-file.ts';
import {
  changesUnread,
  foreignIn,
  inOrder,
  isBehind,
  markRead,
  settleForeignStops,
  showJournal,
  unmarkRead,
  unreadOf,
  type Via,
  type View,
  type ViewOutcome,
} from './inbox-view.ts';
import type { MailboxDeps, OpenMailbox } from './open.ts';
import type { Signer } from './signing.ts';
import { patientLockMs, stillHolds } from './update.ts';

export interface InboxOptions
  extends Pick<OpenMailbox, 'admit' | 'isAdmitted' | 'isLeftOut' | 'prepare'>,
    Pick<MailboxDeps, 'onQuarantined'> {
  project: ProjectState;
  journal: Journal;
  path: string;
  /** How long a refresh waits for the lock of the file. */
  lockTimeoutMs?: number | undefined;
  signer: Pick<Signer, 'sign'>;
  expand(text: string): Promise<{ name: string; text: string } | undefined>;
  clock: () => number;
  /** The relay's clock: messages expire by it. */
  relayNow: () => number;
  log: Log;
  onReceipts(): void;
  /** A hook that worked without the daemon obeyed these STOPs; the journal has it. */
  onStopped(ids: readonly string[]): void;
  /** After every refresh: a message may wait now. */
  onRefreshed(): void;
  /** The file could not be written, or a message has waited long enough for the files of an earlier one: refresh, and give what waits. */
  lookAgain(): void;
}

export interface InboxSync {
  /** Brings file and journal together, once for all who ask while it runs. Never rejects: trouble is logged and stands in `trouble()`. */
  refresh(): Promise<void>;
  /** The same after a change of the file, except once for the change that a refresh has made itself. */
  changed(): Promise<void>;
  waiting(): Promise<{ messages: WaitingMessage[]; further: number }>;
  /** True = by what is in memory, a message could be handed over, also to a turn that runs. */
  hasNews(when: { midTurn: boolean }): boolean;
  /** The unread STOP of another program in the file, as of the last look. */
  foreignStop(): StopView | undefined;
  /** Marks every STOP of another program read. Never rejects. */
  settleForeignStops(): Promise<void>;
  /** Brings what a hook alone did since the last look into the journal. Never rejects. */
  catchUp(): Promise<void>;
  /**
   * Marks the messages read for a hand-over, with its note, and then journals it with `record`. False = none may be given: another
   * reader was first, or the file cannot be written. Errors: those of `record`; the messages are then unread again.
   */
  take(
    messages: readonly WaitingMessage[],
    note: HookNote,
    record: () => Promise<void>,
    lockMs?: number,
  ): Promise<boolean>;
  /** Marks the messages read after `record` has journalled them. Returns the ids of those that may not be given. */
  claim(messages: readonly WaitingMessage[], record: () => Promise<void>): Promise<string[]>;
  trouble(): string | undefined;
  /** Resolves when it no longer writes the file. */
  stop(): Promise<void>;
}

/** A file that could not be written is tried again: no event comes when a disk has room again. */
const retryMs = 250;
/** More than one turn takes; the rest is expanded when its turn comes. */
const maxExpanded = 24;

export function createInbox(options: InboxOptions): InboxSync {
  const { project, journal, path, clock, lockTimeoutMs = patientLockMs } = options;
  const log: Log = (level, event, fields) => options.log(level, event, { project: project.key, ...fields });
  const { isAdmitted, onQuarantined } = options;
  const file = createInboxFile({ path, clock, log, isAdmitted, onQuarantined, lookLater: () => void refresh() });
  let trouble: string | undefined;
  let hasLooked = false;
  /** Not to be marked by a refresh, because `take` and `claim` ask who marks them first. */
  const claiming = new Set<string>();
  /** The unread entries of other programs, as of the last look. */
  let foreign: View['foreign'] = { unread: 0, stop: undefined };
  /** What the last view left in the file; undefined once the change that the view itself made was noticed. */
  let left: Buffer | undefined;
  let stopped = false;
  let again: NodeJS.Timeout | undefined;
  const orderAt = createFileOrder(project.fetching);
  const warn = (what: string) => (cause: Error) => log('warn', what, { error: cause.message });
  /** A hook waits for this write, and the watcher sees it before its end; a look meanwhile would only delay the hook. */
  let marking: Promise<unknown> = Promise.resolve();

  /** The look that runs, or the last one. */
  let looking: Promise<void> = Promise.resolve();

  const refresh = createCoalesced(() => {
    looking = look();
    return looking;
  });

  async function look(): Promise<void> {
    await marking;
    if (stopped) return;
    try {
      await expire();
      await writeView();
      trouble = undefined;
    } catch (cause) {
      trouble = told(log, 'error', 'inbox not written', cause as Error, trouble);
    }
    const againAt = trouble === undefined ? orderAt(clock()).endsAt : clock() + retryMs;
    clearTimeout(again);
    if (againAt !== undefined && !stopped) again = setTimeout(options.lookAgain, againAt - clock()).unref();
    options.onRefreshed();
  }

  async function writeView(): Promise<void> {
    if (project.messages.size === 0 && openStops(project).length === 0) {
      await options.admit();
      const { entries, exposed } = await file.read();
      foreign = foreignIn(project, entries);
      if (!exposed && !entries.some((entry) => !entry.read && isOurStop(project, entry))) return;
    }
    await options.prepare();
    let view: View | undefined;
    const { bytes, changed } = await file.update((entries, state, modifiedAtMs) => {
      const now = clock();
      view = showJournal(project, entries, {
        // A program may have written more than once before the first look, which therefore concludes nothing from a missing entry.
        isTelling: state === 'ok' && hasLooked,
        writtenAt: Math.min(now, modifiedAtMs),
        now,
        claiming,
        upToSeq: orderAt(now).upToSeq,
        sign: (entry) => options.signer.sign(entry, 'inbox'),
      });
      return view.next;
    }, lockTimeoutMs);
    if (!view) return;
    const { outcome } = view;
    hasLooked = true;
    foreign = view.foreign;
    left = undefined;
    const isJournalled = await journalOutcome(outcome);
    // What the journal learns from a note changes the entry once more.
    if (changed && isJournalled && outcome.handed.length + outcome.stopped.length === 0) left = bytes;
  }

  /** False = something is to be journalled by a later look. */
  async function journalOutcome({ filed, taken, handed, stopped: obeyed }: ViewOutcome): Promise<boolean> {
    const inProject = { p: project.key, at: clock() };
    const records: ProjectRecord[] = filed.length > 0 ? [{ t: 'filed', ...inProject, ids: filed }] : [];
    const isSaid = handed.length + obeyed.length + taken.length > 0;
    if (!isSaid || !(await options.isAdmitted())) {
      // Not awaited: losing this line only means that the entry is put back once more.
      if (records.length > 0) journal.append(records).catch(() => {});
      return !isSaid;
    }
    for (const hand of handed) records.push({ t: 'handed', ...inProject, ...hand });
    if (obeyed.length > 0) records.push({ t: 'spent', ...inProject, ids: obeyed });
    if (taken.length > 0) records.push({ t: 'ended', ...inProject, ids: taken, state: 'taken' });
    await journal.append(records);
    if (handed.length + obeyed.length > 0) {
      log('info', 'given by a hook alone', { messages: handed.length, stops: obeyed.length });
    }
    if (obeyed.length > 0) options.onStopped(obeyed);
    if (taken.length > 0) {
      log('info', 'taken by another program', { messages: taken.length });
      options.onReceipts();
    }
    return true;
  }

  async function expire(): Promise<void> {
    const ids = overdue(project, options.relayNow(), claiming);
    if (ids.size === 0) return;
    await options.admit().catch(() => {});
    // A hook alone, or another program, may have had one in time: the look at the file that follows journals that.
    const { entries } = await file.read((found) => found.some((entry) => isBehind(project, entry)));
    for (const entry of entries) if (isBehind(project, entry)) ids.delete(entry.id);
    if (ids.size === 0) return;
    await journal.append([{ t: 'ended', p: project.key, at: clock(), ids: [...ids], state: 'expired' }]);
    options.onReceipts();
  }

  /** Returns the ids of those that were read before; undefined = the file could not be written. Never rejects. */
  function mark(messages: readonly WaitingMessage[], via: Via, lockMs?: number): Promise<string[] | undefined> {
    let superseded: string[] = [];
    const write = async () => {
      await options.prepare();
      await file.update((entries) => {
        const marked = markRead(entries, messages, via, clock());
        superseded = marked.superseded;
        return marked.next;
      }, lockMs);
      return superseded;
    };
    const marked = write().catch((cause) => {
      warn('inbox not marked')(cause);
      return options.isLeftOut() ? [] : undefined;
    });
    marking = marked;
    return marked;
  }

  /** While `work` runs, a refresh leaves these as they are in the file. */
  function whileClaiming<T>(messages: readonly WaitingMessage[], work: () => Promise<T>): Promise<T> {
    for (const { entry } of messages) claiming.add(entry.id);
    return work().finally(() => {
      for (const { entry } of messages) claiming.delete(entry.id);
      // The window moved: show what comes next, but do not keep the coding agent waiting for it.
      void refresh();
    });
  }

  return {
    refresh,
    async changed() {
      // The change that a view makes is noticed before the view has ended.
      await looking;
      const own = left;
      left = undefined;
      if (!own || !(await stillHolds(path, own).catch(() => false))) await refresh();
    },
    stop() {
      stopped = true;
      clearTimeout(again);
      return refresh();
    },
    trouble: () => trouble ?? file.trouble(),
    async waiting() {
      await expire();
      const order = orderAt(clock());
      const { entries } = await file.read((found) => changesUnread(project, found));
      const messages: WaitingMessage[] = [];
      for (const [at, each] of unreadOf(project, entries, order).entries()) {
        const expansion = each.fromOwner && at < maxExpanded ? await options.expand(each.entry.text) : undefined;
        messages.push(expansion ? { ...each, expansion } : each);
      }
      const owners = messages.filter((message) => message.fromOwner).length;
      return { messages, further: Math.max(0, [...inOrder(project, order)].length - owners) };
    },
    hasNews({ midTurn }) {
      if (foreign.unread > 0) return true;
      for (const { later } of inOrder(project, orderAt(clock()))) if (!(later && midTurn)) return true;
      return false;
    },
    foreignStop: () => foreign.stop,
    async settleForeignStops() {
      foreign = { ...foreign, stop: undefined };
      await options
        .admit()
        .then(() => file.update((entries) => settleForeignStops(project, entries)))
        .catch(warn('stop not marked'));
    },
    async catchUp() {
      const isNew = (entry: InboxEntry) => !claiming.has(entry.id) && isBehind(project, entry);
      if ((await file.read((found) => found.some(isNew))).entries.some(isNew)) await refresh();
    },
    take: (messages, note, record, lockMs) =>
      whileClaiming(messages, async () => {
        if ((await mark(messages, note, lockMs))?.length !== 0) return false;
        try {
          await record();
        } catch (cause) {
          // Where this fails, too, the note tells the next look of a hand-over without proof.
          const unmark = () => file.update((entries) => unmarkRead(entries, messages));
          if (!options.isLeftOut()) await unmark().catch(warn('inbox not unmarked'));
          throw cause;
        }
        return true;
      }),
    claim: (messages, record) =>
      whileClaiming(messages, async () => {
        await record();
        return (await mark(messages, { tool: 'mcp' })) ?? messages.map(({ entry }) => entry.id);
      }),
  };
}
