// What the inbox file shows of the journal, and what the file says: what is unread, handed over or taken. Pure.

import { type HookNote, type InboxEntry, identityOf, noteOf } from '../../protocol/files.ts';
import { fileLimits } from '../../protocol/limits.ts';
import type { ProjectRecord } from '../journal/records.ts';
import { editsIn, type HeldMessage, isHeldBack, type ProjectState } from '../journal/state.ts';
import { stopOf } from '../turns/stop.ts';
import type { StopView, WaitingMessage } from '../turns/view.ts';
import type { FileOrder } from './file-order.ts';
import { isEntryOf, isOurStop, isOurs, isReplaced, openStops, stopEntryId, toEntry } from './inbox-entries.ts';
import { mergeEntry, pruneSettled, selectWindow } from './merge.ts';

/** A foreign rewrite this soon after wa-sync wrote an entry did not know of the entry, however late the rewrite is seen. */
const droppedWithinMs = 5_000;

type HandedRecord = Extract<ProjectRecord, { t: 'handed' }>;

export interface ViewOutcome {
  filed: string[];
  /** By another program. */
  taken: string[];
  /** By a hook that worked without the daemon, as in the journal's record; one message each. */
  handed: Pick<HandedRecord, 'ids' | 'edits' | 'tool' | 'session' | 'transcript' | 'offset'>[];
  /** Ids of controls that such a hook obeyed. */
  stopped: string[];
}

export interface View {
  /** The next content of the file. */
  next: InboxEntry[];
  outcome: ViewOutcome;
  /** The unread entries of other programs: the number of messages, and the first STOP. */
  foreign: { unread: number; stop: StopView | undefined };
}

interface Look {
  /** True = an entry that is missing in the file was removed by another program. */
  isTelling: boolean;
  writtenAt: number;
  now: number;
  /** Messages that are being handed over: left as they are. */
  claiming: ReadonlySet<string>;
  /** Messages above it are not shown yet. */
  upToSeq: number;
  sign(entry: InboxEntry): InboxEntry;
}

/** The next content of the file, and what the present content says. */
export function showJournal(
  project: ProjectState,
  entries: readonly InboxEntry[],
  { isTelling, writtenAt, now, claiming, upToSeq, sign }: Look,
): View {
  const outcome: ViewOutcome = { filed: [], taken: [], handed: [], stopped: [] };
  const shown = new Map<string, InboxEntry>();
  const kept: InboxEntry[] = [];
  const theirs: InboxEntry[] = [];
  const stops = new Map(openStops(project).map((stop) => [stop.id, stop]));
  for (const entry of entries) {
    const message = project.messages.get(entry.id);
    if (isOurStop(project, entry)) {
      kept.push(showStop(entry));
    } else if (!message) {
      // Ended long ago and revived by a stale foreign write, or an entry of another program.
      kept.push(project.known.has(entry.id) ? { ...without(entry, 'via'), read: true } : foreign(entry));
    } else if (isEntryOf(message, entry)) {
      const next = claiming.has(entry.id) ? entry : showMessage(message, entry);
      shown.set(entry.id, next);
      kept.push(next);
    } else if (!isReplaced(project, entry)) {
      // The same id with another text, which no edit replaced: an entry of another program.
      kept.push(foreign(entry));
    } else if (entry.read && (entry.attempt ?? 0) >= message.attempt) {
      noteHanded(message, entry);
    }
  }
  kept.push(...[...stops.values()].map(sign));
  // What is being handed over stays in the file until the journal has it.
  const staying = kept.filter((entry) => claiming.has(entry.id) || (!entry.read && !shown.has(entry.id)));
  for (const entry of selectWindow(waitingEntries(), staying)) {
    if (shown.has(entry.id)) continue;
    outcome.filed.push(entry.id);
    kept.push(entry);
  }
  return { next: pruneSettled(kept, 'inbox', now), outcome, foreign: unreadIn(theirs) };

  /** The daemon settles nothing from the note of a hook there, and an entry with a note stays: a signature may be copied with the entry. */
  function foreign(entry: InboxEntry): InboxEntry {
    theirs.push(entry);
    const isNoted = entry.read && entry.via !== undefined && entry.sig !== undefined;
    return isNoted && sign(entry) !== entry ? without(entry, 'via') : entry;
  }

  function showStop(entry: InboxEntry): InboxEntry {
    const open = stops.get(entry.id);
    stops.delete(entry.id);
    if (!open) return { ...without(entry, 'via'), read: true };
    if (entry.read && noteOf(entry)) {
      const obeyed = [...project.controls.values()].filter((row) => stopEntryId(row) === entry.id);
      outcome.stopped.push(...obeyed.map(({ id }) => id));
    }
    return sign(withTimeOf(open, mergeEntry(entry, open, 'inbox')));
  }

  function showMessage(message: HeldMessage, entry: InboxEntry): InboxEntry {
    const ours = toEntry(message);
    const version = mergeEntry(entry, ours, 'inbox');
    // What is read keeps the signature that it got unread.
    const merged = version.read ? version : sign(withTimeOf(ours, version));
    if (merged.read && !noteHanded(message, merged) && message.phase === 'waiting') outcome.taken.push(entry.id);
    // The journal has the hand-over, so the entry may go when the file is full. The mark of a lease keeps hooks away.
    if (message.phase !== 'waiting' && message.phase !== 'leased') return without(merged, 'via');
    const isParked = isHeldBack(message);
    if (merged.read || Boolean(merged.parked) === isParked) return merged;
    return isParked ? { ...merged, parked: true } : without(merged, 'parked');
  }

  /** True = a hook alone gave the message in the words of `entry`. */
  function noteHanded(message: HeldMessage, entry: InboxEntry): boolean {
    const note = message.phase === 'waiting' ? noteOf(entry) : undefined;
    if (!note) return false;
    const { id } = message.row;
    const { at: offset, ...place } = note;
    outcome.handed.push({ ids: [id], edits: [editsIn(project, id, (text) => text === entry.text)], ...place, offset });
    return true;
  }

  /** The waiting messages as entries, also those that the file shows, oldest first; more than the file can take are left out. */
  function waitingEntries(): InboxEntry[] {
    const gone = new Set([...outcome.taken, ...outcome.handed.flatMap(({ ids }) => ids)]);
    const waiting: InboxEntry[] = [];
    for (const message of project.waiting.values()) {
      const { id, seq } = message.row;
      // The owner is still to say what an `asked` message is for, and another program may overlook a mark.
      if (claiming.has(id) || message.parked === 'asked') continue;
      const isDropped = isTelling && message.filedAt !== undefined && writtenAt - message.filedAt > droppedWithinMs;
      const entry = shown.get(id);
      if (!entry && isDropped) outcome.taken.push(id);
      else if (!gone.has(id) && (entry || seq <= upToSeq)) waiting.push(entry ?? sign(toEntry(message)));
      if (waiting.length >= fileLimits.entries) break;
    }
    return waiting;
  }
}

/** Another program may have changed when the message expires, which the signature covers. */
function withTimeOf({ expiresAt }: InboxEntry, entry: InboxEntry): InboxEntry {
  if (entry.expiresAt === expiresAt) return entry;
  return expiresAt === undefined ? without(entry, 'expiresAt') : { ...entry, expiresAt };
}

/** Returns the same object when the field is missing. */
function without(entry: InboxEntry, field: 'via' | 'parked' | 'expiresAt'): InboxEntry {
  if (entry[field] === undefined) return entry;
  const { [field]: _, ...rest } = entry;
  return rest as InboxEntry;
}

/** The note of a hand-over; without a session, of a lease: an agent that polls has the message, and no hook may give it. */
export type Via = HookNote | { tool: 'mcp' };

/**
 * The next content of the file with `messages` marked read, and the ids of those that other programs had read before. For a hook all
 * are marked or none.
 */
export function markRead(
  entries: readonly InboxEntry[],
  messages: readonly WaitingMessage[],
  via: Via,
  now: number,
): { next: readonly InboxEntry[]; superseded: string[] } {
  const ours = new Map(messages.map(({ entry }) => [identityOf(entry), entry]));
  const superseded: string[] = [];
  const marked = entries.map((entry) => {
    const mine = ours.get(identityOf(entry));
    if (!mine) return entry;
    if (entry.read && (entry.attempt ?? 0) >= (mine.attempt ?? 0)) {
      superseded.push(entry.id);
      return entry;
    }
    return { ...entry, ...(mine.attempt ? { attempt: mine.attempt } : {}), read: true, via };
  });
  return { next: 'session' in via && superseded.length > 0 ? entries : pruneSettled(marked, 'inbox', now), superseded };
}

export function unmarkRead(entries: readonly InboxEntry[], messages: readonly WaitingMessage[]): InboxEntry[] {
  const ours = new Set(messages.map(({ entry }) => identityOf(entry)));
  return entries.map((entry) => (ours.has(identityOf(entry)) ? { ...without(entry, 'via'), read: false } : entry));
}

/** The unread entries of other programs, as in `View`. */
export function foreignIn(project: ProjectState, entries: readonly InboxEntry[]): View['foreign'] {
  return unreadIn(entries.filter((entry) => !isOurs(project, entry) && !isOurStop(project, entry)));
}

function unreadIn(theirs: readonly InboxEntry[]): View['foreign'] {
  const unread = theirs.filter((entry) => !entry.read && !entry.parked);
  return {
    unread: unread.filter((entry) => !entry.control).length,
    stop: unread.flatMap((entry) => stopOf(entry) ?? [])[0],
  };
}

/** Marks every STOP of another program read. */
export function settleForeignStops(project: ProjectState, entries: readonly InboxEntry[]): InboxEntry[] {
  return entries.map((entry) => (stopOf(entry) && !isOurStop(project, entry) ? { ...entry, read: true } : entry));
}

/** True = the file says read of what waits by the journal: a message, or a STOP that a hook obeyed. */
export function isBehind(project: ProjectState, { id, read, attempt = 0, control, via }: InboxEntry): boolean {
  const message = project.waiting.get(id);
  if (!read) return false;
  if (message) return attempt >= message.attempt;
  return control !== undefined && via !== undefined && openStops(project).some((stop) => stop.id === id);
}

/** The messages of the owner that may be handed over, oldest first: not parked, and behind no message whose files are missing. */
export function* inOrder(project: ProjectState, { upToSeq }: Pick<FileOrder, 'upToSeq'>): Generator<HeldMessage> {
  for (const message of project.waiting.values()) {
    if (!isHeldBack(message) && message.row.seq <= upToSeq) yield message;
  }
}

/** False = `unreadOf` returns the same without these entries, so it is irrelevant whether they may be used. */
export function changesUnread(project: ProjectState, entries: readonly InboxEntry[]): boolean {
  return entries.some((entry) =>
    isOurs(project, entry) ? entry.read && project.waiting.has(entry.id) : !isSettled(entry),
  );
}

function isSettled({ read, parked, control }: InboxEntry): boolean {
  return Boolean(read || parked || control);
}

/** Oldest first: the owner's messages by the journal, whether the file shows them or not, those of other programs by the file. */
export function unreadOf(
  project: ProjectState,
  entries: readonly InboxEntry[],
  order: Pick<FileOrder, 'upToSeq'>,
): WaitingMessage[] {
  const inFile = new Map(entries.map((entry) => [identityOf(entry), entry]));
  const found: WaitingMessage[] = [];
  for (const message of inOrder(project, order)) {
    if (found.length >= fileLimits.entries) break;
    const entry = toEntry(message);
    const shown = inFile.get(identityOf(entry));
    if (shown?.read && (shown.attempt ?? 0) >= message.attempt) continue;
    const later = message.later ? ({ later: true } as const) : {};
    const beforeStop = message.parked === 'released' ? ({ beforeStop: true } as const) : {};
    found.push({ entry, at: message.row.at, fromOwner: true, ...later, ...beforeStop });
  }
  for (const entry of entries) {
    if (isSettled(entry) || isOurs(project, entry)) continue;
    found.push({ entry, at: Date.parse(entry.timestamp) || 0, fromOwner: false });
  }
  return found.sort((a, b) => a.at - b.at);
}
