// Answers of the HTTP API: errors as statuses, one place for the headers.

import { type ErrorCode, errorBody, WaError } from '../protocol/errors.ts';

/** The table of protocol/README.md, section 5. */
const statusOf: Partial<Record<ErrorCode, number>> = {
  unauthorized: 401,
  bad_request: 400,
  body_too_large: 413,
  not_found: 404,
  unknown_mailbox: 404,
  superseded: 409,
  held_by_other_daemon: 409,
  no_topics: 409,
  rate_limited: 503,
  platform_unreachable: 502,
  platform_error: 502,
  platform_unauthorized: 502,
  mailbox_full: 503,
  storage_failed: 503,
};

/** `value` = the JSON, or what becomes JSON. */
export function jsonAnswer(status: number, value: object | string): Response {
  return new Response(typeof value === 'string' ? value : JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  });
}

export function errorAnswer(error: unknown): Response {
  const body = errorBody(asWaError(error));
  const status = statusOf[body.error.code] ?? 500;
  const answer = jsonAnswer(status, body);
  if (status === 503) answer.headers.set('retry-after', String(Math.ceil((body.error.retryAfterMs ?? 5_000) / 1000)));
  return answer;
}

/** An unexpected error is a bug: its message stays in the log of the Worker. */
function asWaError(error: unknown): WaError {
  if (error instanceof WaError) return error;
  console.error('unexpected', error instanceof Error ? (error.stack ?? error.message) : String(error));
  return new WaError('internal', 'the relay failed in a way it does not know', {
    hint: 'look into `npx wrangler tail`',
  });
}
