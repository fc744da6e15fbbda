// Keeps wa_inbox.json a view of the journal: the oldest unread messages stand in it, what other programs did to it is
// read back as "taken", and nothing of theirs is dropped. The journal decides; the file only shows.

import { WaError } from '../../protocol/errors.ts';
import { type HookNote, type InboxEntry, identityOf } from '../../protocol/files.ts';
import { createCoalesced } from '../coalesce.ts';
import type { Journal } from '../journal/journal.ts';
import type { ProjectRecord } from '../journal/records.ts';
import type { ProjectState } from '../journal/state.ts';
import type { Log } from '../log.ts';
import { stopOf } from '../turns/stop.ts';
import type { StopView, WaitingMessage } from '../turns/view.ts';
import { createFileOrder } from './file-order.ts';
import {
  changesUnread,
  emptyOutcome,
  isOurStop,
  isOurs,
  openStops,
  showJournal,
  unreadOf,
  type ViewOutcome,
} from './inbox-view.ts';
import { pruneSettled } from './merge.ts';
import { isExposedFile, readMailbox } from './read.ts';
import type { Signer } from './signing.ts';
import { patientLockMs, updateMailboxFile } from './update.ts';

export interface InboxOptions {
  project: ProjectState;
  journal: Journal;
  path: string;
  /** How long a refresh waits for the lock of the file. */
  lockTimeoutMs?: number | undefined;
  /** Before a look that may wait. Errors: what keeps the file from being looked at. */
  admit(): Promise<void>;
  /** After a read: what was read may be used. */
  isAdmitted(): Promise<boolean>;
  /** The files take no part, so the journal alone says what was given. */
  isLeftOut(): boolean;
  /** The same before a write, and makes the folder. Errors: those of `ensureMailbox` as well. */
  prepare(): Promise<void>;
  signer: Pick<Signer, 'sign'>;
  expand(text: string): Promise<{ name: string; text: string } | undefined>;
  clock: () => number;
  /** The relay's clock: messages expire by it. */
  relayNow: () => number;
  log: Log;
  onReceipts(): void;
  /** A hook that worked without the daemon obeyed these STOPs; the journal has it. */
  onStopped(ids: readonly string[]): void;
  /** The file was no mailbox; what it held lies aside. */
  onQuarantined(aside: { path: string; salvaged: number }): void;
  /** After every refresh: something may wait now. */
  onRefreshed(): void;
  /** Who waited for the files of an earlier message has waited long enough; refresh again. */
  onWaitedEnough(): void;
}

export interface InboxSync {
  /** Brings file and journal together, once for all who ask while it runs. Never rejects: trouble is logged and stands in `trouble()`. */
  refresh(): Promise<void>;
  waiting(): Promise<{ messages: WaitingMessage[]; further: number }>;
  /** By what is in memory: something could be handed over, also to a turn that runs. */
  hasNews(when: { midTurn: boolean }): boolean;
  /** The STOP of another program that stands unread in the file, as it was when we last looked. */
  foreignStop(): StopView | undefined;
  /** Marks every STOP of another program read. Never rejects. */
  settleForeignStops(): Promise<void>;
  /** What a hook alone did since the last look is in the journal then. Never rejects. */
  catchUp(): Promise<void>;
  /**
   * Marks them read for a hand-over, with its note, and then journals it with `record`. False = none of them is ours to give: somebody
   * else was first, or the file cannot be written. Errors: those of `record`, and they are unread again.
   */
  take(messages: readonly WaitingMessage[], note: HookNote, record: () => Promise<void>): Promise<boolean>;
  /** Marks them read after `record` has journalled them; gives the ids of those that are not ours to give. */
  claim(messages: readonly WaitingMessage[], record: () => Promise<void>): Promise<string[]>;
  trouble(): string | undefined;
  /** Resolves when it no longer writes the file. */
  stop(): Promise<void>;
}

export function createInbox(options: InboxOptions): InboxSync {
  const { project, journal, clock, log, lockTimeoutMs = patientLockMs } = options;
  let trouble: string | undefined;
  /** Why there was nothing to read at the last look. */
  let unreadable: string | undefined;
  let hasLooked = false;
  /** Not to be marked by a refresh: who marks them first is what `claim` asks. */
  const claiming = new Set<string>();
  /** What other programs wrote and nobody has read yet, as of the last look. */
  let foreign: { unread: number; stop: StopView | undefined } = { unread: 0, stop: undefined };

  let stopped = false;
  let retry: NodeJS.Timeout | undefined;
  const orderAt = createFileOrder(project.fetching);
  let waited: NodeJS.Timeout | undefined;

  /** A hook waits for this write, which the watcher sees before its end; a look beside it would only hold it up. */
  let marking: Promise<unknown> = Promise.resolve();

  const refresh = createCoalesced(async () => {
    await marking;
    if (stopped) return;
    try {
      await expire();
      await writeView();
      trouble = undefined;
    } catch (cause) {
      const message = troubleOf(cause as Error);
      if (message !== trouble) log('error', 'inbox not written', { project: project.key, error: message });
      trouble = message;
      clearTimeout(retry);
      if (!stopped) retry = setTimeout(refresh, retryMs).unref();
    }
    const { endsAt } = orderAt(clock());
    clearTimeout(waited);
    if (endsAt !== undefined && !stopped) waited = setTimeout(options.onWaitedEnough, endsAt - clock()).unref();
    options.onRefreshed();
  });

  async function writeView(): Promise<void> {
    await options.admit();
    const isEmpty = project.waiting.size === 0 && project.messages.size === 0 && openStops(project).length === 0;
    if (isEmpty && !(await isExposedFile(options.path))) {
      const entries = await readEntries();
      if (!entries.some((entry) => !entry.read && isOurStop(project, entry))) return look(entries);
    }
    await options.prepare();
    let outcome: ViewOutcome = emptyOutcome();
    const { quarantined, entries: written } = await updateMailboxFile(
      { path: options.path, kind: 'inbox', now: clock, lockTimeoutMs },
      (entries, state, modifiedAtMs) => {
        outcome = emptyOutcome();
        // Who wrote while nobody looked may have written more than once, so the first look concludes nothing from what is missing.
        const isTelling = state === 'ok' && hasLooked;
        const now = clock();
        const writtenAt = Math.min(now, modifiedAtMs);
        const { upToSeq } = orderAt(now);
        const sign = (entry: InboxEntry) => options.signer.sign(entry, 'inbox');
        const look = { isTelling, writtenAt, now, claiming, upToSeq, sign };
        return showJournal(project, entries as InboxEntry[], look, outcome);
      },
    );
    hasLooked = true;
    unreadable = undefined;
    look(written as InboxEntry[]);
    if (quarantined) options.onQuarantined(quarantined);
    const at = clock();
    const { filed, taken, handed, stopped } = outcome;
    if (handed.length + stopped.length > 0 && (await options.isAdmitted())) await adopt(outcome);
    if (taken.length > 0 && (await options.isAdmitted())) {
      log('info', 'taken by another program', { project: project.key, messages: taken.length });
      await journal.append([{ t: 'ended', p: project.key, at, ids: taken, state: 'taken' }]);
      options.onReceipts();
    }
    // Not waited for: losing this line only means that the entry is put back once more.
    if (filed.length > 0) journal.append([{ t: 'filed', p: project.key, at, ids: filed }]).catch(() => {});
  }

  /** What the notes of hooks say that worked without the daemon. */
  async function adopt({ handed, stopped }: ViewOutcome): Promise<void> {
    const at = clock();
    const records: ProjectRecord[] = handed.map(({ id, edits, note: { at: offset, ...place } }) => ({
      t: 'handed',
      p: project.key,
      at,
      ids: [id],
      edits: [edits],
      ...place,
      offset,
    }));
    if (stopped.length > 0) records.push({ t: 'spent', p: project.key, at, ids: stopped });
    await journal.append(records);
    log('info', 'given by a hook alone', { project: project.key, messages: handed.length, stops: stopped.length });
    if (stopped.length > 0) options.onStopped(stopped);
  }

  function look(entries: readonly InboxEntry[]): void {
    const theirs = entries.filter((entry) => !entry.read && !entry.parked && !isOurs(project, entry));
    const stop = theirs.flatMap((entry) => (isOurStop(project, entry) ? [] : (stopOf(entry) ?? []))).at(0);
    foreign = { unread: theirs.filter((entry) => !entry.control).length, stop };
  }

  /** With ids that stand in the file: an entry of another program may lack them. None of them where they do not matter, or the file is in trouble. */
  async function readEntries(
    matter: (entries: readonly InboxEntry[]) => boolean = () => true,
  ): Promise<readonly InboxEntry[]> {
    try {
      const file = await readMailbox<InboxEntry>(options.path, 'inbox');
      unreadable = undefined;
      // Most events find nothing in the file that the journal does not know, and the look at git is long.
      if (!matter(file.entries)) return [];
      if (!(await options.isAdmitted())) {
        // It is found out beside the hook that asks: what others wrote comes with a later look.
        void refresh();
        return [];
      }
      if (!file.incomplete) return file.entries;
      const { entries } = await updateMailboxFile<InboxEntry>(
        { path: options.path, kind: 'inbox', now: clock },
        (each) => each,
      );
      return entries;
    } catch (cause) {
      const message = troubleOf(cause as Error);
      if (message !== unreadable) log('warn', 'inbox not read', { project: project.key, error: message });
      unreadable = message;
      return [];
    }
  }

  function isOpenStop(id: string): boolean {
    return openStops(project).some((stop) => stop.id === id);
  }

  async function expire(): Promise<void> {
    const now = options.relayNow();
    const ids: string[] = [];
    for (const { row } of project.waiting.values()) if (row.expiresAt <= now) ids.push(row.id);
    if (ids.length === 0) return;
    await journal.append([{ t: 'ended', p: project.key, at: clock(), ids, state: 'expired' }]);
    options.onReceipts();
  }

  /** Gives the ids of those that were read before; undefined = the file could not be written. For a hook all are marked or none. */
  async function mark(messages: readonly WaitingMessage[], via: Via): Promise<string[] | undefined> {
    const marked = writeMarks(messages, via);
    marking = marked;
    const beaten = await marked;
    // The window moved: show what comes next, but do not keep the coding agent waiting for it.
    void refresh();
    return beaten;
  }

  async function writeMarks(messages: readonly WaitingMessage[], via: Via): Promise<string[] | undefined> {
    const ours = new Map(messages.map(({ entry }) => [identityOf(entry), entry]));
    let beaten: string[] | undefined = [];
    try {
      await options.prepare();
      await updateMailboxFile({ path: options.path, kind: 'inbox', now: clock }, (entries) => {
        const found: string[] = [];
        beaten = found;
        const marked = (entries as InboxEntry[]).map((entry) => {
          const mine = ours.get(identityOf(entry));
          if (!mine) return entry;
          if (entry.read && (entry.attempt ?? 0) >= (mine.attempt ?? 0)) {
            found.push(entry.id);
            return entry;
          }
          return {
            ...entry,
            ...(mine.attempt ? { attempt: mine.attempt } : {}),
            read: true,
            via,
          };
        });
        return 'session' in via && found.length > 0 ? entries : pruneSettled(marked, 'inbox', clock());
      });
    } catch (cause) {
      log('warn', 'inbox not marked', { project: project.key, error: (cause as Error).message });
      beaten = options.isLeftOut() ? [] : undefined;
    }
    return beaten;
  }

  /** The journal did not take the hand-over. Where this fails, too, the note tells the next look of a hand-over without proof. */
  async function unmark(messages: readonly WaitingMessage[]): Promise<void> {
    const ours = new Set(messages.map(({ entry }) => identityOf(entry)));
    if (options.isLeftOut()) return;
    await updateMailboxFile<InboxEntry>({ path: options.path, kind: 'inbox', now: clock }, (entries) =>
      entries.map((entry) => {
        if (!ours.has(identityOf(entry))) return entry;
        const { via: _, ...rest } = entry;
        return { ...rest, read: false } as InboxEntry;
      }),
    ).catch((cause) => log('warn', 'inbox not unmarked', { project: project.key, error: (cause as Error).message }));
  }

  /** While `work` runs, a refresh leaves these as they are in the file. */
  async function whileClaiming<T>(messages: readonly WaitingMessage[], work: () => Promise<T>): Promise<T> {
    for (const { entry } of messages) claiming.add(entry.id);
    try {
      return await work();
    } finally {
      for (const { entry } of messages) claiming.delete(entry.id);
    }
  }

  return {
    refresh,
    stop() {
      stopped = true;
      clearTimeout(retry);
      clearTimeout(waited);
      return refresh();
    },
    trouble: () => trouble ?? unreadable,
    async waiting() {
      await expire();
      const order = orderAt(clock());
      const unread = unreadOf(project, await readEntries((entries) => changesUnread(project, entries)), order);
      const messages: WaitingMessage[] = [];
      for (const each of unread.slice(0, maxExpanded)) {
        const expansion = each.fromOwner ? await options.expand(each.entry.text) : undefined;
        messages.push(expansion ? { ...each, expansion } : each);
      }
      messages.push(...unread.slice(maxExpanded));
      const owners = messages.filter((message) => message.fromOwner).length;
      let notNow = 0;
      for (const { parked, row } of project.waiting.values()) {
        if (parked === 'parked' || row.seq > order.upToSeq) notNow += 1;
      }
      return { messages, further: Math.max(0, project.waiting.size - notNow - owners) };
    },
    hasNews({ midTurn }) {
      if (foreign.unread > 0) return true;
      const { upToSeq } = orderAt(clock());
      for (const { parked, later, row } of project.waiting.values()) {
        if (parked !== 'parked' && !(later && midTurn) && row.seq <= upToSeq) return true;
      }
      return false;
    },
    foreignStop: () => foreign.stop,
    async settleForeignStops() {
      foreign = { ...foreign, stop: undefined };
      const settle = () =>
        updateMailboxFile<InboxEntry>({ path: options.path, kind: 'inbox', now: clock }, (entries) =>
          entries.map((entry) => (stopOf(entry) && !isOurStop(project, entry) ? { ...entry, read: true } : entry)),
        );
      await options
        .admit()
        .then(settle)
        .catch((cause) => log('warn', 'stop not marked', { project: project.key, error: (cause as Error).message }));
    },
    async catchUp() {
      const isBehind = ({ id, read, attempt = 0, control, via }: InboxEntry) => {
        if (!read || claiming.has(id)) return false;
        const message = project.waiting.get(id);
        return message ? attempt >= message.attempt : control !== undefined && via !== undefined && isOpenStop(id);
      };
      const entries = await readEntries((found) => found.some(isBehind));
      if (entries.some(isBehind)) await refresh();
    },
    take: (messages, note, record) =>
      whileClaiming(messages, async () => {
        if ((await mark(messages, note))?.length !== 0) return false;
        try {
          await record();
        } catch (cause) {
          await unmark(messages);
          throw cause;
        }
        return true;
      }),
    claim: (messages, record) =>
      whileClaiming(messages, async () => {
        await record();
        return (await mark(messages, leased)) ?? messages.map(({ entry }) => entry.id);
      }),
  };
}

type Via = HookNote | typeof leased;

/** Of what an agent that polls holds: no hook has it, and none may give it. */
const leased = { tool: 'mcp' };

/** With its repair, because `wa-sync status` shows nothing else of it. */
function troubleOf(cause: Error): string {
  return cause instanceof WaError && cause.hint !== undefined ? `${cause.message}. ${cause.hint}` : cause.message;
}

/** A file that could not be written is tried again: nothing else happens when a disk has room again. */
const retryMs = 250;

/** More than one turn takes; the rest is expanded when its turn comes. */
const maxExpanded = 24;
