// The closed set of error codes and the one error class. Policy reads `code` and `retryable`, never the message.

/** Whether the same call may succeed later without anybody acting, unless the error says otherwise. */
const isRetryable = {
  // relay HTTP API
  unauthorized: false,
  bad_request: false,
  body_too_large: false,
  not_found: false,
  unknown_mailbox: false,
  misconfigured: false,
  superseded: false,
  held_by_other_daemon: true,
  mailbox_full: true,
  storage_failed: true,
  storage_version: false,
  no_topics: false,
  // daemon -> relay
  relay_unreachable: true,
  relay_error: true,
  relay_bad_answer: true,
  // delivery to the phone
  rate_limited: true,
  platform_unreachable: true,
  platform_error: true,
  platform_unauthorized: false,
  platform_conflict: false,
  chat_unreachable: false,
  rejected: false,
  empty_text: false,
  before_binding: false,
  expired: false,
  // workstation
  not_configured: false,
  bad_config: false,
  bad_arguments: false,
  not_bound: false,
  daemon_running: false,
  daemon_not_running: false,
  daemon_busy: true,
  sprint_running: false,
  session_in_use: true,
  turn_running: true,
  lock_timeout: true,
  journal_version: false,
  file_unusable: true,
  outside_project: false,
  runtime_dir_unusable: false,
  socket_path_too_long: false,
  settings_unreadable: false,
  needs_node_22: false,
  port_in_use: false,
  webhook_active: false,
  // setting up the relay
  cloudflare_unauthorized: false,
  cloudflare_forbidden: false,
  cloudflare_rate_limited: true,
  cloudflare_unreachable: true,
  cloudflare_refused: false,
  worker_too_large: false,
  worker_name_taken: false,
  relay_not_ready: true,
  relay_newer: false,
  terms_not_accepted: false,
  temporary_account_refused: true,
  account_needed: false,
  other_bot: false,
  child_failed: false,
  agent_login: false,
  folder_untrusted: false,
  needs_input: false,
  cancelled: false,
  pairing_expired: false,
  setup_version: false,
  service_unavailable: false,
  service_failed: false,
  service_missing: false,
  internal: false,
} as const satisfies Record<string, boolean>;

export type ErrorCode = keyof typeof isRetryable;

export const errorCodes = Object.keys(isRetryable) as ErrorCode[];

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(isRetryable, value);
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
    this.retryable = options.retryable ?? isRetryable[code];
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
