// Every size and time that two parts must agree on. A number that only one part needs lives in that part.

/** A message that waits longer has expired, unless the relay is set to another time. */
export const messageTtlMs = 24 * 3_600_000;

/** What one Mailbox, one webhook and one `/v1` call may hold. Sizes in UTF-8 bytes, times in milliseconds. */
export const relayLimits = {
  webhookBodyBytes: 256 * 1024,
  apiBodyBytes: 1024 * 1024,
  pollWindowBytes: 256 * 1024,
  pollReceipts: 500,
  outboxItemsPerCall: 20,
  outboxParts: 10,
  /** UTF-16 units of one message, on any platform. */
  partUnits: 32_768,
  mailboxMessages: 10_000,
  mailboxBytes: 100 * 1024 * 1024,
  floodMessagesPerMinute: 60,
  holdMs: 25_000,
  holdQuietMs: 50_000,
  /** After this long without a message the daemon asks for `holdQuietMs`. */
  quietAfterMs: 10 * 60_000,
  heartbeatMs: 10_000,
  /** A project whose daemon has been silent this long may be taken by another workstation. */
  takeoverAfterMs: 120_000,
  messageTtlMs,
  outboxTtlMs: 7 * 24 * 3_600_000,
  /** Outcomes of outbox keys, and the memory of seen updates. */
  outboxKeptMs: 30 * 24 * 3_600_000,
  dedupeKeptMs: 25 * 3_600_000,
  /** Terminal messages, and controls below the cursor. */
  logKeptMs: 24 * 3_600_000,
  albumGatherMs: 1_000,
  /** When a message waits and no poll has arrived for this long, the phone is notified, once per outage. */
  offlineAfterMs: 90_000,
  /** The largest file that a bot may download, and upload. */
  fileDownBytes: 20 * 1024 * 1024,
  fileUpBytes: 50 * 1024 * 1024,
} as const;

/** The two files. The window is what one file holds of the journal's unread messages. */
export const fileLimits = {
  entries: 100,
  windowBytes: 50 * 1024,
  settledKeptMs: 3_600_000,
  maxAttempts: 3,
  /** Fetched files of the phone (`wa_files/`). */
  filesKeptMs: 7 * 24 * 3_600_000,
  /** A larger file is treated as malformed: a hook could not read it within its deadline. */
  fileBytes: 1024 * 1024,
} as const;

/** Hook <-> daemon. */
export const hookLimits = {
  stdinBytes: 4 * 1024 * 1024,
  /** Events that never hold: the daemon's answer, and the whole process. */
  answerMs: 300,
  deadlineMs: 450,
  fileLockMs: 200,
  /** One turn receives at most this much; the rest waits. */
  turnMessages: 20,
  turnBytes: 32 * 1024,
  keepAliveMs: 5_000,
  keepAliveBytes: 64,
  twinMs: 1_000,
} as const;

/** Of the hook fallback, from the start of its process: after `answerMs` spent on the socket, and without a socket. */
export const aloneAfterSocketMs = 120;
export const aloneMs = 400;

/** Characters of a status update in the outbox file (`summaryMaxChars` in the config changes it). */
export const summaryMaxChars = 500;
