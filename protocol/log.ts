// The rows of a project's log, as a poll hands them out and as the journal keeps them.

interface RowBase {
  /** Rises within a project and never goes back. */
  seq: number;
  id: string;
  /** When the phone sent it, or the outcome was known; epoch milliseconds. */
  at: number;
}

/** Something that the phone sent with a message; fetched by `GET /v1/files/<id>`. */
export interface PhoneFile {
  /** The platform's id, opaque; lives as long as the platform keeps the file. */
  id: string;
  kind: 'photo' | 'document' | 'voice' | 'video' | 'audio' | 'animation' | 'sticker';
  /** As the phone named it, not safe as a file name; made up from the kind where the platform has none. */
  name: string;
  /** Undefined = the platform did not say. */
  bytes?: number;
}

/** Set on a message of another person that the owner forwarded. `from` = its author in one line, empty when the platform does not say. */
export interface Forwarded {
  from: string;
}

/** A text of the owner. `expired` leaves an empty tombstone, so that the cursor can pass it. */
export interface MessageRow extends RowBase {
  kind: 'message';
  text: string;
  expiresAt: number;
  expired?: true;
  /** The text holds the word stop: STOP in a sprint, an ordinary message otherwise. */
  stopWord?: true;
  /** The text is `/name …` of no command. Where the project has no workflow of that name, the owner is asked before the agent gets it. */
  workflow?: true;
  /** The text that the phone quoted or replied to. */
  quote?: string;
  /** The author of the quote; absent = another person, or not known. */
  quoteFrom?: 'agent' | 'owner';
  /** The text is not the owner's: it is never a command and never a STOP. */
  forwarded?: Forwarded;
  /** In the order of the phone. Files that are too large to fetch are not listed; the text says so. */
  files?: PhoneFile[];
  /** Set on the row that a retry of a dead message made. */
  retryOf?: string;
  /** Set by the daemon when an edit came after the hand-over: the message that this one corrects. Never sent by the relay. */
  corrects?: string;
}

/** New text of an earlier message. */
export interface EditRow extends RowBase {
  kind: 'edit';
  editOf: string;
  text: string;
  /** As in `MessageRow`. */
  workflow?: true;
  forwarded?: Forwarded;
}

/** An order that acts at once, ahead of every waiting message. */
export type Control =
  | { type: 'stop' | 'abort'; text: string }
  | { type: 'command'; name: string; args: string }
  | { type: 'button'; action: string; key: string; userId: string }
  /** An answer to a message that was sent with `replyAction`; the coding agent never sees it as a message. */
  | { type: 'reply'; action: string; key: string; userId: string; text: string };

export interface ControlRow extends RowBase {
  kind: 'control';
  control: Control;
}

/** The end of an outbox key: no part of the item waits any more. */
export interface KeyEnd {
  key: string;
  state: 'sent' | 'dead';
  /** Once it is sent: the platform's id of the message of the last part. */
  ref?: string;
  /** Why it is dead: an error code, and the platform's own words. */
  error?: { code: string; reason: string };
}

/** The outcome of an item that the daemon posted. A dead letter that is sent again has a second outcome; the later row counts. */
export interface OutcomeRow extends RowBase {
  kind: 'outcome';
  outcome: KeyEnd;
}

export type Row = MessageRow | EditRow | ControlRow | OutcomeRow;
