// What `wa-sync mcp` and the daemon say to each other on the local socket. One POST per tool call; types only.

/** The stdio connection that asks. The daemon watches its process and gives back what it held when it is gone. */
export interface PollingClient {
  /** Unpredictable, one per process. */
  connection: string;
  /** The name that the MCP client gave itself. */
  client: string;
  pid: number;
  /** What tells the process from a later one with its pid; empty where the OS does not say. */
  started: string;
  /** Where its pid counts; empty where the OS has only one such place. */
  space: string;
  /** The coding agent's process. */
  parent: number;
}

/** Every call. `chat` = what the tool was given; another one than the bound chat is refused. */
export interface PollingCall {
  from: PollingClient;
  cwd: string;
  chat?: string;
}

/** POST /mcp/poll: held until a message is there, or for `timeoutMs`. */
export interface PollCall extends PollingCall {
  timeoutMs: number;
  limit: number;
}

export interface PolledMessage {
  message_id: string;
  chat_id: string;
  from_user: string;
  text: string;
  /** UTC, ISO 8601. */
  timestamp: string;
}

export interface PollResult {
  messages: PolledMessage[];
  /** Several messages as one text for the model, oldest first; also one that is given again or corrects another. */
  combined_context?: string;
}

export const textModes = ['Markdown', 'MarkdownV2', 'HTML', 'Plain'] as const;

/** The names of the tools, which agents and their owners' settings know. */
export const pollingTools = {
  poll: 'telegram_poll',
  send: 'telegram_send',
  ack: 'telegram_ack',
  typing: 'telegram_send_typing',
} as const;

/** `Markdown` = as coding agents write it; the next two by the rules of chat bots. */
export type TextMode = (typeof textModes)[number];

/** POST /mcp/send: held until the chat platform answered, at most `waitMs`. A repeated `sendId` sends nothing twice. */
export interface SendCall extends PollingCall {
  sendId: string;
  text: string;
  mode: TextMode;
  waitMs: number;
}

export interface SendResult {
  /** True = it is in the journal: it is sent whatever happens to this machine's network. */
  success: boolean;
  /** The platform's id of the last chunk, once the platform has it. */
  message_id?: string;
  chunks_sent: number;
  /** The platform has not answered yet. */
  queued?: true;
  /** Why it will not arrive. */
  error?: string;
}

export interface AckResult {
  /** Done: the phone shows them as answered. */
  acked: string[];
  /** Held, but nothing was sent since they were polled. */
  unanswered: string[];
  /** Not held by this connection: unknown, given back, or held by another connection. */
  notHeld: string[];
}

/** A message that a polling agent holds, as `/status` shows it. */
export interface LeasedMessage {
  id: string;
  /** Epoch milliseconds: when the phone sent it, and when it is given back at the latest. */
  at: number;
  untilAt: number;
  client: string;
  pid: number;
  /** Its first words. */
  preview: string;
}
