// The lines of journal.jsonl. A line that is fsynced is a promise; its meaning must never change, only new kinds be added.

import type { HookNote } from '../../protocol/files.ts';
import type { KeyEnd, Row } from '../../protocol/log.ts';
import type { Phone } from '../../protocol/phone.ts';
import type { PollingClient } from '../../protocol/polling.ts';
import type { Receipt, ReportedState } from '../../protocol/receipts.ts';
import type { OutboxItem, TextPart } from '../../protocol/relay-api.ts';
import type { Sprint } from '../../protocol/sprint.ts';
import type { HostDialog } from '../../protocol/turn-events.ts';
import type { ApprovalRecord } from './approvals.ts';

/** A journal of another version is refused: this daemon would drop records that it does not know. */
export const journalVersion = 6;

/** An entry of the outbox file by its identity. */
export interface FiledAnswer {
  id: string;
  timestamp: string;
  text: string;
}

/** A turn by its session file, and the size of that file in bytes when the turn had ended. */
export interface EndedTurn {
  transcript: string;
  at: number;
}

export interface StoredDocument {
  path: string;
  name: string;
  caption: string;
}

/** A dialog of the coding agent that waits in the terminal, from its hook until it is known to be gone. */
export interface OpenDialog {
  /** Unpredictable; the buttons name the dialog by it. */
  id: string;
  agent: string;
  session: string;
  pid: number | undefined;
  /** As the host told it; the kind `question` = the agent asks the person there something, in its own words. */
  dialog: HostDialog;
  /** As the phone shows it, without what can be done about it. */
  part: TextPart;
  /** Of the message on the phone; 0 = not told yet. */
  rev: number;
  /** The screen shows it, so the phone has buttons. */
  seen: boolean;
  /** A key was pressed for a tap, or is about to be: no second one is. */
  pressed: boolean;
}

/** `muted`: no typing, no progress message. `away`: the owner left the desk, so that a turn's end waits for the phone. */
export type SettingName = 'muted' | 'away';

/** Whether turns that a person began at the terminal are sent: `auto` = those of nobody's presence. */
export type Follow = 'auto' | 'always' | 'never';

/** Ends of turns that were not sent because a person was at the terminal. */
export interface Withheld {
  turns: number;
  last: { id: string; text: string; failed: boolean; via: HookNote; at: number };
}

/** The state of the bound session and its turn for a restarted daemon; the messages of the turn have their own state. */
export interface StoredTurn {
  bound?: { id: string; pid?: number | undefined; owned?: true | undefined } | undefined;
  /** The coding agent of that session. */
  agent?: string | undefined;
  runs: boolean;
  /** Where the running, or the offered, turn begins in the session file. */
  place?: { tool: string; transcript: string | undefined; offset: number } | undefined;
  /** The next prompt that the daemon gave, until the host starts the prompt. */
  offered?: string | undefined;
  /** That prompt stands in the queue of the host. */
  queued?: boolean | undefined;
  /** Prompts in the queue of the host that must not begin a turn any more. */
  stale?: readonly string[] | undefined;
  /** The id of the reported answer; the turn is still to be settled. */
  told?: string | undefined;
  /** The session file of the bound session, and the end of its last reported turn in bytes. */
  toldTo?: { transcript: string; at: number } | undefined;
}

/** The session of a project that the daemon runs itself, or ran last. */
export interface OwnedRecord {
  agent: string;
  /** False = ended, or opened in a terminal: the daemon does not start it again by itself. */
  open: boolean;
  /** Undefined = the agent has not named it yet. */
  session?: string | undefined;
  /** It has had a prompt, so that the agent can open it again. */
  used: boolean;
  /** As last chosen; undefined = the agent's own. */
  mode?: string | undefined;
  model?: string | undefined;
  /** Its process: `id` stands in the environment, the rest follows once it runs. */
  child?: { id: string; pid?: number; started?: string } | undefined;
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
    /** The newest description of the phone by the relay. */
    | { t: 'phone'; phone: Phone }
    /** `ahead`: a control handed out beyond the window; it does not move the cursor. A row above the cursor that is an outcome ends its key. */
    | { t: 'row'; row: Row; ahead?: true }
    /** The inbox file has these messages. */
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
        starts?: true;
      }
    | { t: 'proved'; ids: string[] }
    /** The hand-over did not reach the model, as is known now: unread again, with the next attempt. */
    | { t: 'returned'; ids: string[] }
    | { t: 'ended'; ids: string[]; state: ReportedState }
    /** Given to an agent that polls, which acknowledges them or loses them at `untilAt`; no other agent gets them meanwhile. */
    | { t: 'leased'; ids: string[]; edits?: number[]; holder: PollingClient; untilAt: number }
    /** The holder has sent a text to the phone after the lease began, so that the holder may acknowledge these. */
    | { t: 'replied'; ids: string[] }
    /** The holder is gone or too late: unread again, with the next attempt. `ungiven`: the holder never got them, so the attempt stays. */
    | { t: 'unleased'; ids: string[]; ungiven?: true }
    /** The relay has these reports. */
    | { t: 'receipted'; receipts: Receipt[] }
    /** The result for each file of a message: one line each, at the end of the text in the inbox file. */
    | { t: 'fetched'; id: string; lines: string[] }
    /** The text behind this control became a message. */
    | { t: 'prompted'; id: string; text: string }
    | { t: 'owned'; owned: OwnedRecord }
    /** This `/later` control became a message for after the running turn. */
    | { t: 'later'; id: string }
    /** In a sprint this message with the word stop in it counts as a STOP as well. */
    | { t: 'stopWord'; id: string }
    /** Not handed over until the owner says so: sent before a STOP, or while a question waited for the owner. */
    | { t: 'parked'; ids: string[]; why?: 'question' }
    | { t: 'unparked'; ids: string[] }
    /** Null = it is gone. */
    | { t: 'dialog'; dialog: OpenDialog | null }
    /** The current sprint; null = no sprint. */
    | { t: 'sprint'; sprint: Sprint | null }
    /** A switch that the owner set. */
    | { t: 'setting'; name: SettingName; value: boolean }
    | { t: 'follow'; follow: Follow }
    /** Null = the phone has what was withheld. */
    | { t: 'withheld'; withheld: Withheld | null }
    /** These controls had their effect. */
    | { t: 'spent'; ids: string[] }
    | { t: 'turn'; turn: StoredTurn }
    /**
     * A text for the phone: an entry of the outbox file, or an item that stands in no file. `turn` = the state after an answer that ends a
     * turn; `ended` = the turn that the entry ended, as its signed entry says.
     */
    | { t: 'entry'; key: string; answer: FiledAnswer; replyTo?: string; turn?: StoredTurn; ended?: EndedTurn }
    | { t: 'item'; key: string; item: OutboxItem }
    /** A file for the phone: a copy in the state directory, removed with its outcome. */
    | { t: 'document'; key: string; document: StoredDocument }
    /** The relay's storage of this epoch has these keys: their outcomes come as rows. */
    | { t: 'posted'; keys: string[]; epoch: string }
    /** The end of an open key that came without a row. */
    | ({ t: 'key' } & KeyEnd)
    /** Written by a compaction: one entry of a map of the state; `of` as in `compact.ts`. */
    | { t: 'kept'; of: string; key: string; value: unknown }
    | ApprovalRecord
  );

export type JournalRecord = { t: 'journal'; version: number } | ProjectRecord;

/** Undefined for a damaged line. */
export function parseRecord(line: string): JournalRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 't' in value ? (value as JournalRecord) : undefined;
  } catch {
    return undefined;
  }
}
