// Keeps wa_inbox.json a view of the journal: shows the oldest unread messages, reads back as "taken" what other programs did to
// them, and drops no entry of another program. The journal decides; the file only shows.

import { WaError } from '../../protocol/errors.ts';
import type { HookNote, InboxEntry } from '../../protocol/files.ts';
import { createCoalesced } from '../coalesce.ts';
import type { Journal } from '../journal/journal.ts';
import type { ProjectRecord } from '../journal/records.ts';
import type { ProjectState } from '../journal/state.ts';
import type { Log } from '../log.ts';
import type { StopView, WaitingMessage } from '../turns/view.ts';
import { createFileOrder } from './file-order.ts';
import {
  changesUnread,
  foreignIn,
  inOrder,
  isBehind,
  isOurStop,
  markRead,
  openStops,
  settleForeignStops,
  showJournal,
  unmarkRead,
  unreadOf,
  type Via,
  type ViewOutcome,
} from './inbox-view.ts';
import type { MailboxDeps, OpenMailbox } from './open.ts';
import type { Signer } from './signing.ts';
import { patientLockMs, readMailbox, updateMailboxFile } from './update.ts';

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
  take(messages: readonly WaitingMessage[], note: HookNote, record: () => Promise<void>): Promise<boolean>;
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
  const { project, journal, path, clock, log, lockTimeoutMs = patientLockMs } = options;
  let trouble: string | undefined;
  /** Why the last look could not read the file. */
  let unreadable: string | undefined;
  let hasLooked = false;
  /** Not to be marked by a refresh, because `take` and `claim` ask who marks them first. */
  const claiming = new Set<string>();
  /** The unread entries of other programs, as of the last look. */
  let foreign: { unread: number; stop: StopView | undefined } = { unread: 0, stop: undefined };
  let stopped = false;
  let again: NodeJS.Timeout | undefined;
  const orderAt = createFileOrder(project.fetching);
  const warn = (what: string) => (cause: Error) => log('warn', what, { project: project.key, error: cause.message });
  /** A hook waits for this write, and the watcher sees it before its end; a look meanwhile would only delay the hook. */
  let marking: Promise<unknown> = Promise.resolve();

  const refresh = createCoalesced(async () => {
    await marking;
    if (stopped) return;
    try {
      await expire();
      await writeView();
      trouble = undefined;
    } catch (cause) {
      trouble = logTrouble('error', 'inbox not written', cause as Error, trouble);
    }
    const againAt = trouble === undefined ? orderAt(clock()).endsAt : clock() + retryMs;
    clearTimeout(again);
    if (againAt !== undefined && !stopped) again = setTimeout(options.lookAgain, againAt - clock()).unref();
    options.onRefreshed();
  });

  async function writeView(): Promise<void> {
    await options.admit();
    if (project.messages.size === 0 && openStops(project).length === 0) {
      const { entries, exposed } = await readEntries();
      foreign = foreignIn(project, entries);
      if (!exposed && !entries.some((entry) => !entry.read && isOurStop(project, entry))) return;
    }
    await options.prepare();
    let outcome: ViewOutcome | undefined;
    const { entries: next } = await update((entries, state, modifiedAtMs) => {
      const now = clock();
      const view = showJournal(project, entries, {
        // A program may have written more than once before the first look, which therefore concludes nothing from a missing entry.
        isTelling: state === 'ok' && hasLooked,
        writtenAt: Math.min(now, modifiedAtMs),
        now,
        claiming,
        upToSeq: orderAt(now).upToSeq,
        sign: (entry) => options.signer.sign(entry, 'inbox'),
      });
      outcome = view.outcome;
      return view.next;
    }, lockTimeoutMs);
    hasLooked = true;
    unreadable = undefined;
    foreign = foreignIn(project, next);
    if (outcome) await journalOutcome(outcome);
  }

  async function journalOutcome({ filed, taken, handed, stopped: obeyed }: ViewOutcome): Promise<void> {
    const inProject = { p: project.key, at: clock() };
    if (handed.length + obeyed.length > 0 && (await options.isAdmitted())) {
      const records: ProjectRecord[] = handed.map((hand) => ({ t: 'handed', ...inProject, ...hand }));
      if (obeyed.length > 0) records.push({ t: 'spent', ...inProject, ids: obeyed });
      await journal.append(records);
      log('info', 'given by a hook alone', { project: project.key, messages: handed.length, stops: obeyed.length });
      if (obeyed.length > 0) options.onStopped(obeyed);
    }
    if (taken.length > 0 && (await options.isAdmitted())) {
      log('info', 'taken by another program', { project: project.key, messages: taken.length });
      await end(taken, 'taken');
    }
    // Not awaited: losing this line only means that the entry is put back once more.
    if (filed.length > 0) journal.append([{ t: 'filed', ...inProject, ids: filed }]).catch(() => {});
  }

  async function end(ids: string[], state: 'taken' | 'expired'): Promise<void> {
    await journal.append([{ t: 'ended', p: project.key, at: clock(), ids, state }]);
    options.onReceipts();
  }

  async function expire(): Promise<void> {
    const now = options.relayNow();
    const ids = [...project.waiting.values()].flatMap(({ row }) => (row.expiresAt <= now ? row.id : []));
    if (ids.length > 0) await end(ids, 'expired');
  }

  /** With ids that stand in the file: another program may omit them. No entries where they do not matter, or the file is in trouble. */
  async function readEntries(
    matter: (entries: readonly InboxEntry[]) => boolean = () => true,
  ): Promise<{ entries: readonly InboxEntry[]; exposed: boolean }> {
    const none = { entries: [], exposed: false };
    try {
      const file = await readMailbox<InboxEntry>(path, 'inbox');
      unreadable = undefined;
      // Most events find nothing in the file that the journal does not know, and the look at git is long.
      if (!matter(file.entries)) return none;
      if (!(await options.isAdmitted())) {
        // The hook that asks does not wait for the reason: what others wrote comes with a later look.
        void refresh();
        return none;
      }
      return file.incomplete ? { ...file, entries: (await update((entries) => entries)).entries } : file;
    } catch (cause) {
      unreadable = logTrouble('warn', 'inbox not read', cause as Error, unreadable);
      return none;
    }
  }

  /** Whoever finds the file malformed first, the phone is told. Default: the time that a hook can wait for the lock. */
  async function update(change: Parameters<typeof updateMailboxFile<InboxEntry>>[1], timeoutMs?: number) {
    const result = await updateMailboxFile({ path, kind: 'inbox', now: clock, lockTimeoutMs: timeoutMs }, change);
    if (result.quarantined) options.onQuarantined(result.quarantined);
    return result;
  }

  /** Returns the trouble with its repair, because `wa-sync status` shows only this text. Logs it once. */
  function logTrouble(level: 'warn' | 'error', what: string, cause: Error, before: string | undefined): string {
    const hint = cause instanceof WaError && cause.hint !== undefined ? `. ${cause.hint}` : '';
    const text = `${cause.message}${hint}`;
    if (text !== before) log(level, what, { project: project.key, error: text });
    return text;
  }

  /** Returns the ids of those that were read before; undefined = the file could not be written. Never rejects. */
  function mark(messages: readonly WaitingMessage[], via: Via): Promise<string[] | undefined> {
    let superseded: string[] = [];
    const write = async () => {
      await options.prepare();
      await update((entries) => {
        const marked = markRead(entries, messages, via, clock());
        superseded = marked.superseded;
        return marked.next;
      });
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
    stop() {
      stopped = true;
      clearTimeout(again);
      return refresh();
    },
    trouble: () => trouble ?? unreadable,
    async waiting() {
      await expire();
      const order = orderAt(clock());
      const { entries } = await readEntries((found) => changesUnread(project, found));
      const messages: WaitingMessage[] = [];
      for (const [at, each] of unreadOf(project, entries, order).entries()) {
        const expansion = each.fromOwner && at < maxExpanded ? await options.expand(each.entry.text) : undefined;
        messages.push(expansion ? { ...each, expansion } : each);
      }
      const owners = messages.filter((message) => message.fromOwner).length;
      return { messages, further: Math.max(0, inOrder(project, order).length - owners) };
    },
    hasNews({ midTurn }) {
      return foreign.unread > 0 || inOrder(project, orderAt(clock())).some(({ later }) => !(later && midTurn));
    },
    foreignStop: () => foreign.stop,
    async settleForeignStops() {
      foreign = { ...foreign, stop: undefined };
      await options
        .admit()
        .then(() => update((entries) => settleForeignStops(project, entries)))
        .catch(warn('stop not marked'));
    },
    async catchUp() {
      const isNew = (entry: InboxEntry) => !claiming.has(entry.id) && isBehind(project, entry);
      const { entries } = await readEntries((found) => found.some(isNew));
      if (entries.some(isNew)) await refresh();
    },
    take: (messages, note, record) =>
      whileClaiming(messages, async () => {
        if ((await mark(messages, note))?.length !== 0) return false;
        try {
          await record();
        } catch (cause) {
          // Where this fails, too, the note tells the next look of a hand-over without proof.
          const unmark = () => update((entries) => unmarkRead(entries, messages));
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
