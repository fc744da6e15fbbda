// The closed set of error codes and the one error class. Policy reads `code` and `retryable`, never the message.

/** `retryable` is the default of a code: whether the same call may succeed later without anybody acting. */
const codes = {
  // relay HTTP API
  unauthorized: { retryable: false },
  bad_request: { retryable: false },
  body_too_large: { retryable: false },
  not_found: { retryable: false },
  unknown_mailbox: { retryable: false },
  misconfigured: { retryable: false },
  superseded: { retryable: false },
  held_by_other_daemon: { retryable: true },
  mailbox_full: { retryable: true },
  storage_failed: { retryable: true },
  storage_version: { retryable: false },
  no_topics: { retryable: false },
  // daemon -> relay
  relay_unreachable: { retryable: true },
  relay_error: { retryable: true },
  relay_bad_answer: { retryable: true },
  // delivery to the phone
  rate_limited: { retryable: true },
  platform_unreachable: { retryable: true },
  platform_error: { retryable: true },
  platform_unauthorized: { retryable: false },
  platform_conflict: { retryable: false },
  chat_unreachable: { retryable: false },
  rejected: { retryable: false },
  empty_text: { retryable: false },
  before_binding: { retryable: false },
  expired: { retryable: false },
  // workstation
  not_configured: { retryable: false },
  bad_config: { retryable: false },
  bad_arguments: { retryable: false },
  not_bound: { retryable: false },
  daemon_running: { retryable: false },
  daemon_not_running: { retryable: false },
  daemon_busy: { retryable: true },
  sprint_running: { retryable: false },
  session_in_use: { retryable: true },
  turn_running: { retryable: true },
  lock_timeout: { retryable: true },
  journal_version: { retryable: false },
  file_unusable: { retryable: true },
  outside_project: { retryable: false },
  runtime_dir_unusable: { retryable: false },
  socket_path_too_long: { retryable: false },
  settings_unreadable: { retryable: false },
  needs_node_22: { retryable: false },
  port_in_use: { retryable: false },
  webhook_active: { retryable: false },
  // setting up the relay
  cloudflare_unauthorized: { retryable: false },
  cloudflare_forbidden: { retryable: false },
  cloudflare_rate_limited: { retryable: true },
  cloudflare_unreachable: { retryable: true },
  cloudflare_refused: { retryable: false },
  worker_too_large: { retryable: false },
  worker_name_taken: { retryable: false },
  relay_not_ready: { retryable: true },
  relay_newer: { retryable: false },
  terms_not_accepted: { retryable: false },
  temporary_account_refused: { retryable: true },
  account_needed: { retryable: false },
  other_bot: { retryable: false },
  child_failed: { retryable: false },
  agent_login: { retryable: false },
  folder_untrusted: { retryable: false },
  needs_input: { retryable: false },
  cancelled: { retryable: false },
  pairing_expired: { retryable: false },
  setup_version: { retryable: false },
  service_unavailable: { retryable: false },
  service_failed: { retryable: false },
  service_missing: { retryable: false },
  internal: { retryable: false },
} as const satisfies Record<string, { retryable: boolean }>;

export type ErrorCode = keyof typeof codes;

export const errorCodes = Object.keys(codes) as ErrorCode[];

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(codes, value);
}

export interface WaErrorOptions {
  /** The command or setting that repairs it, as an imperative sentence. */
  hint?: string;
  /** Overrides the default of the code. */
  retryable?: boolean;
  /** What the server asked for; implies nothing about `retryable`. */
  retryAfterMs?: number;
  cause?: unknown;
}

/** Says what happened with the value seen; never a token, never the text of a message. */
export class WaError extends Error {
  override readonly name = 'WaError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, options: WaErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.retryable = options.retryable ?? codes[code].retryable;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The body of every `/v1` answer that is not a success, and of a parked poll that ends with an error. */
export interface ErrorBody {
  error: { code: ErrorCode; message: string; hint?: string; retryAfterMs?: number };
}

export function errorBody(error: WaError): ErrorBody {
  return {
    error: {
      code: error.code,
      message: error.message,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    },
  };
}
