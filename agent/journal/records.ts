// The lines of journal.jsonl. A line that is fsynced is a promise; its meaning must never change, only new kinds be added.

import type { KeyEnd, Row } from '../../protocol/log.ts';
import type { Phone } from '../../protocol/phone.ts';
import type { Receipt, ReportedState } from '../../protocol/receipts.ts';
import type { OutboxItem } from '../../protocol/relay-api.ts';
import type { Sprint } from '../../protocol/sprint.ts';
import type { ApprovalRecord } from './approvals.ts';

/** A journal of another version is refused: what this daemon does not know, it would drop. */
export const journalVersion = 4;

/** An entry of the outbox file by its identity. */
export interface FiledAnswer {
  id: string;
  timestamp: string;
  text: string;
}

export interface StoredDocument {
  path: string;
  name: string;
  caption: string;
}

/** Who polls for messages by itself (MCP) and holds some until it acknowledges them. */
export interface LeaseHolder {
  /** One stdio connection; unpredictable. */
  connection: string;
  /** The name that the client gave itself. */
  client: string;
  pid: number;
  /** `startOf(pid)`: tells the process from a later one with its pid. */
  started: string;
  /** `pidSpace()` of the holder. */
  space: string;
  /** The coding agent's process, whose sessions end without the connection. */
  parent: number;
}

/** `muted`: no typing, no progress message. `away`: the owner left the desk, so that a turn's end waits for the phone. */
export type SettingName = 'muted' | 'away';

/** What a restarted daemon must know of the bound session and its turn; what the turn carries stands with the messages. */
export interface StoredTurn {
  bound?: { id: string; pid?: number | undefined } | undefined;
  runs: boolean;
  /** Where the running, or the offered, turn begins in the session file. */
  place?: { tool: string; transcript: string | undefined; offset: number } | undefined;
  /** The next prompt that we gave, until the host starts it. */
  offered?: string | undefined;
  /** Its end is told under this id, and still to be settled. */
  told?: string | undefined;
  /** The session file of the bound session, and up to where its turns are told, in bytes. */
  toldTo?: { transcript: string; at: number } | undefined;
}

interface InProject {
  /** `projectKey()` */
  p: string;
  /** Epoch milliseconds, local clock. */
  at: number;
}

export type ProjectRecord = InProject &
  /** From where this daemon reads: in a new storage of the relay, or behind what another daemon has acknowledged. */
  (
    | { t: 'epoch'; epoch: string; cursor: number }
    /** The phone at the other end, as the relay said it last. */
    | { t: 'phone'; phone: Phone }
    /** `ahead`: a control handed out beyond the window; it does not move the cursor. A row above the cursor that is an outcome ends its key. */
    | { t: 'row'; row: Row; ahead?: true }
    /** These stand in the inbox file. */
    | { t: 'filed'; ids: string[] }
    /**
     * Given to the coding agent; proof reads `transcript` from `offset` bytes. `edits`: how many edits the given text of each id had
     * in it, as one may be journalled while the text is on its way; absent = all. The same of a lease.
     */
    | {
        t: 'handed';
        ids: string[];
        edits?: number[];
        tool: string;
        session: string;
        transcript: string | null;
        offset: number;
      }
    | { t: 'proved'; ids: string[] }
    /** The hand-over is known not to have reached the model: unread again, with the next attempt. */
    | { t: 'returned'; ids: string[] }
    | { t: 'ended'; ids: string[]; state: ReportedState }
    /** Given to an agent that polls, which acknowledges them or loses them at `untilAt`; nobody else gets them meanwhile. */
    | { t: 'leased'; ids: string[]; edits?: number[]; holder: LeaseHolder; untilAt: number }
    /** Since these were leased their holder has sent something to the phone, so that it may acknowledge them. */
    | { t: 'replied'; ids: string[] }
    /** The holder is gone or too late: unread again, with the next attempt. `ungiven`: it never got them, so the attempt stays. */
    | { t: 'unleased'; ids: string[]; ungiven?: true }
    /** The relay has these reports. */
    | { t: 'receipted'; receipts: Receipt[] }
    /** What became of a message's files: one line each, which its text in the inbox file ends with. */
    | { t: 'fetched'; id: string; lines: string[] }
    /** This `/later` control became a message for after the running turn. */
    | { t: 'later'; id: string }
    /** In a sprint this message with the word stop in it counts as a STOP as well. */
    | { t: 'stopWord'; id: string }
    /** Sent before a STOP: not handed over until the owner says so. */
    | { t: 'parked'; ids: string[] }
    | { t: 'unparked'; ids: string[] }
    /** The sprint as it stands; null = none. */
    | { t: 'sprint'; sprint: Sprint | null }
    /** A switch that the owner set. */
    | { t: 'setting'; name: SettingName; value: boolean }
    /** These controls had their effect. */
    | { t: 'spent'; ids: string[] }
    | { t: 'turn'; turn: StoredTurn }
    /** Something for the phone: an entry of the outbox file, or an item that is in no file. `turn` = since this answer, which ends one. */
    | { t: 'entry'; key: string; answer: FiledAnswer; replyTo?: string; turn?: StoredTurn }
    | { t: 'item'; key: string; item: OutboxItem }
    /** A file of ours for the phone: a copy in the state directory, removed with its outcome. */
    | { t: 'document'; key: string; document: StoredDocument }
    /** The relay's storage of this epoch has these keys: their outcomes come as rows. */
    | { t: 'posted'; keys: string[]; epoch: string }
    /** The end of an open key that came with no row. */
    | ({ t: 'key' } & KeyEnd)
    /** Written by a compaction: one entry of a map of the state; `of` as in `compact.ts`. */
    | { t: 'kept'; of: string; key: string; value: unknown }
    | ApprovalRecord
  );

export type JournalRecord = { t: 'journal'; version: number } | ProjectRecord;

/** A line that is no record of ours gives undefined; the caller decides whether that is the torn tail. */
export function parseRecord(line: string): JournalRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 't' in value ? (value as JournalRecord) : undefined;
  } catch {
    return undefined;
  }
}
