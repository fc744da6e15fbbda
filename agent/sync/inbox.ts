// Keeps wa_inbox.json a view of the journal: the oldest unread messages stand in it, what other programs did to it is
// read back as "taken", and nothing of theirs is dropped. The journal decides; the file only shows.

import { type InboxEntry, identityOf, isoSeconds } from '../../protocol/files.ts';
import { fileLimits } from '../../protocol/limits.ts';
import { mergeEntry, pruneSettled, selectWindow } from '../files/merge.ts';
import { isExposedFile, readMailbox } from '../files/read.ts';
import { patientLockMs, updateMailboxFile } from '../files/update.ts';
import type { Journal } from '../journal/journal.ts';
import { type HeldMessage, type ProjectState, textOf } from '../journal/state.ts';
import type { Log } from '../log.ts';
import type { WaitingMessage } from '../turns/view.ts';
import { createCoalesced } from './coalesce.ts';

export interface InboxOptions {
  project: ProjectState;
  journal: Journal;
  path: string;
  /** Makes the folder and the git exclusion; called before a write. Errors: those of `ensureMailbox`. */
  prepare(): Promise<void>;
  /** Journals what hooks marked read while the daemon was too slow for them. Never rejects. */
  takeSpool(): Promise<void>;
  expand(text: string): Promise<{ name: string; text: string } | undefined>;
  clock: () => number;
  /** The relay's clock: messages expire by it. */
  relayNow: () => number;
  log: Log;
  onReceipts(): void;
  /** The file was no mailbox; what it held lies aside. */
  onQuarantined(aside: { path: string; salvaged: number }): void;
  /** After every refresh: something may wait now. */
  onRefreshed(): void;
}

export interface InboxSync {
  /** Brings file and journal together, once for all who ask while it runs. Never rejects: trouble is logged and stands in `trouble()`. */
  refresh(): Promise<void>;
  waiting(): Promise<{ messages: WaitingMessage[]; further: number }>;
  markRead(messages: readonly WaitingMessage[]): Promise<void>;
  /** The same after `record` has journalled them; gives the ids of those that somebody else had marked read before us. */
  claim(messages: readonly WaitingMessage[], record: () => Promise<void>): Promise<string[]>;
  trouble(): string | undefined;
}

/** A foreign rewrite this soon after we wrote an entry did not know of it, however late we look. */
const droppedWithinMs = 5_000;

export function createInbox(options: InboxOptions): InboxSync {
  const { project, journal, clock, log } = options;
  let trouble: string | undefined;
  let hasLooked = false;
  /** Not to be marked by a refresh: who marks them first is what `claim` asks. */
  const claiming = new Set<string>();

  const refresh = createCoalesced(async () => {
    try {
      await options.takeSpool();
      await expire();
      await writeView();
      trouble = undefined;
    } catch (cause) {
      const { message } = cause as Error;
      if (message !== trouble) log('error', 'inbox not written', { project: project.key, error: message });
      trouble = message;
    }
    options.onRefreshed();
  });

  async function writeView(): Promise<void> {
    if (project.waiting.size === 0 && project.messages.size === 0 && !(await isExposedFile(options.path))) return;
    await options.prepare();
    let outcome: ViewOutcome = { filed: [], taken: [] };
    const { quarantined } = await updateMailboxFile(
      { path: options.path, kind: 'inbox', now: clock, lockTimeoutMs: patientLockMs },
      (entries, state, modifiedAtMs) => {
        outcome = { filed: [], taken: [] };
        // Who wrote while nobody looked may have written more than once, so the first look concludes nothing from what is missing.
        const isTelling = state === 'ok' && hasLooked;
        const now = clock();
        const writtenAt = Math.min(now, modifiedAtMs);
        return showJournal(project, entries as InboxEntry[], { isTelling, writtenAt, now, claiming }, outcome);
      },
    );
    hasLooked = true;
    if (quarantined) options.onQuarantined(quarantined);
    const at = clock();
    const { filed, taken } = outcome;
    if (taken.length > 0) {
      log('info', 'taken by another program', { project: project.key, messages: taken.length });
      await journal.append([{ t: 'ended', p: project.key, at, ids: taken, state: 'taken' }]);
      options.onReceipts();
    }
    // Not waited for: losing this line only means that the entry is put back once more.
    if (filed.length > 0) journal.append([{ t: 'filed', p: project.key, at, ids: filed }]).catch(() => {});
  }

  /** With ids that stand in the file: an entry of another program may lack them. Trouble with the file = none of its entries. */
  async function readEntries(): Promise<readonly InboxEntry[]> {
    try {
      const file = await readMailbox<InboxEntry>(options.path, 'inbox');
      if (!file.incomplete) return file.entries;
      const { entries } = await updateMailboxFile<InboxEntry>(
        { path: options.path, kind: 'inbox', now: clock },
        (each) => each,
      );
      return entries;
    } catch (cause) {
      log('warn', 'inbox not read', { project: project.key, error: (cause as Error).message });
      return [];
    }
  }

  async function expire(): Promise<void> {
    const now = options.relayNow();
    const ids: string[] = [];
    for (const { row } of project.waiting.values()) if (row.expiresAt <= now) ids.push(row.id);
    if (ids.length === 0) return;
    await journal.append([{ t: 'ended', p: project.key, at: clock(), ids, state: 'expired' }]);
    options.onReceipts();
  }

  async function mark(messages: readonly WaitingMessage[]): Promise<string[]> {
    const ours = new Map(messages.map(({ entry }) => [identityOf(entry), entry]));
    let beaten: string[] = [];
    try {
      await options.prepare();
      await updateMailboxFile({ path: options.path, kind: 'inbox', now: clock }, (entries) => {
        beaten = [];
        const marked = (entries as InboxEntry[]).map((entry) => {
          const mine = ours.get(identityOf(entry));
          if (!mine) return entry;
          if (entry.read && (entry.attempt ?? 0) >= (mine.attempt ?? 0)) beaten.push(entry.id);
          return { ...entry, read: true };
        });
        return pruneSettled(marked, 'inbox', clock());
      });
    } catch (cause) {
      // The journal says handed: the next refresh writes it.
      log('warn', 'inbox not marked', { project: project.key, error: (cause as Error).message });
      beaten = [];
    }
    // The window moved: show what comes next, but do not keep the coding agent waiting for it.
    refresh();
    return beaten;
  }

  return {
    refresh,
    trouble: () => trouble,
    async waiting() {
      await expire();
      const unread = unreadOf(project, await readEntries());
      const messages: WaitingMessage[] = [];
      for (const each of unread.slice(0, maxExpanded)) {
        const expansion = each.fromOwner ? await options.expand(each.entry.text) : undefined;
        messages.push(expansion ? { ...each, expansion } : each);
      }
      messages.push(...unread.slice(maxExpanded));
      const owners = messages.filter((message) => message.fromOwner).length;
      return { messages, further: project.waiting.size - owners };
    },
    async claim(messages, record) {
      for (const { entry } of messages) claiming.add(entry.id);
      try {
        await record();
        return await mark(messages);
      } finally {
        for (const { entry } of messages) claiming.delete(entry.id);
      }
    },
    async markRead(messages) {
      await mark(messages);
    },
  };
}

/** More than one turn takes; the rest is expanded when its turn comes. */
const maxExpanded = 24;

interface ViewOutcome {
  filed: string[];
  taken: string[];
}

/** The file's next content. Pure but for `outcome`, which says what it found. */
function showJournal(
  project: ProjectState,
  entries: readonly InboxEntry[],
  look: { isTelling: boolean; writtenAt: number; now: number; claiming: ReadonlySet<string> },
  outcome: ViewOutcome,
): InboxEntry[] {
  const { isTelling, writtenAt, now, claiming } = look;
  const shown = new Set<string>();
  const kept: InboxEntry[] = [];
  for (const entry of entries) {
    const message = project.messages.get(entry.id);
    if (!message) {
      // Ended long ago and revived by a stale foreign write, or somebody else's.
      kept.push(project.known.has(entry.id) ? { ...entry, read: true } : entry);
      continue;
    }
    const ours = toEntry(message);
    if (identityOf(ours) !== identityOf(entry)) {
      // Same id, other text: somebody else's message, unless it is what an edit replaced.
      if (!isReplaced(project, entry)) kept.push(entry);
      continue;
    }
    shown.add(entry.id);
    if (claiming.has(entry.id)) {
      kept.push(entry);
      continue;
    }
    const merged = mergeEntry(entry, ours, 'inbox') as InboxEntry;
    if (message.phase === 'waiting' && merged.read) outcome.taken.push(entry.id);
    kept.push(merged);
  }
  const waiting: InboxEntry[] = [];
  for (const message of project.waiting.values()) {
    const { id } = message.row;
    const isDropped = isTelling && message.filedAt !== undefined && writtenAt - message.filedAt > droppedWithinMs;
    if (!shown.has(id) && isDropped) {
      outcome.taken.push(id);
    } else if (!outcome.taken.includes(id)) {
      waiting.push(toEntry(message));
    }
    if (waiting.length >= fileLimits.entries) break;
  }
  const foreign = kept.filter((entry) => !entry.read && !shown.has(entry.id)).length;
  const window = selectWindow(waiting, {
    entries: Math.max(1, fileLimits.entries - foreign),
    bytes: fileLimits.windowBytes,
  });
  for (const entry of window) {
    if (shown.has(entry.id)) continue;
    outcome.filed.push(entry.id);
    kept.push(entry);
  }
  return pruneSettled(kept, 'inbox', now) as InboxEntry[];
}

function isReplaced(project: ProjectState, entry: InboxEntry): boolean {
  const message = project.messages.get(entry.id);
  return project.replaced.get(entry.id)?.some(({ text }) => message && textOf(message, text) === entry.text) ?? false;
}

/** By identity, or dead by it; of what ended long ago only the id is left. */
function isOurs(project: ProjectState, entry: InboxEntry): boolean {
  const message = project.messages.get(entry.id);
  if (!message) return project.known.has(entry.id);
  return identityOf(toEntry(message)) === identityOf(entry) || isReplaced(project, entry);
}

export function toEntry(message: HeldMessage): InboxEntry {
  const { row, attempt, phase } = message;
  return {
    id: row.id,
    timestamp: isoSeconds(row.at),
    from: 'user',
    text: textOf(message),
    read: phase !== 'waiting',
    ...(attempt > 0 ? { attempt } : {}),
    ...(row.corrects ? { editOf: row.corrects } : {}),
  };
}

/** Ours by the journal, whether they stand in the file or not; foreign ones by the file. */
function unreadOf(project: ProjectState, entries: readonly InboxEntry[]): WaitingMessage[] {
  const inFile = new Map(entries.map((entry) => [identityOf(entry), entry]));
  const found: WaitingMessage[] = [];
  for (const message of project.waiting.values()) {
    const entry = toEntry(message);
    const shown = inFile.get(identityOf(entry));
    const takenByOther = shown ? shown.read && (shown.attempt ?? 0) >= message.attempt : false;
    if (!takenByOther && !shown?.parked) found.push({ entry, at: message.row.at, fromOwner: true });
    if (found.length >= fileLimits.entries) break;
  }
  for (const entry of entries) {
    if (entry.read || entry.parked || entry.control) continue;
    if (isOurs(project, entry)) continue;
    found.push({ entry, at: Date.parse(entry.timestamp) || 0, fromOwner: false });
  }
  return found.sort((a, b) => a.at - b.at);
}
