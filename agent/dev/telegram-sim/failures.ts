// Scripted failures: which of the next calls fail, and how. Holds no connection.

import type { ApiFailure } from './types.ts';

export interface FailureScript {
  add(failure: ApiFailure): void;
  /** The failure that this call gets; each counts down its `times`. */
  take(method: string): ApiFailure | undefined;
}

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

const descriptions: Record<number, string> = {
  401: 'Unauthorized',
  403: 'Forbidden: bot was blocked by the user',
  404: 'Not Found',
  409: 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
  429: 'Too Many Requests: retry after 1',
};

export function createFailureScript(): FailureScript {
  const planned: { failure: ApiFailure; left: number }[] = [];
  return {
    add(failure) {
      planned.push({ failure, left: failure.times ?? 1 });
    },
    take(method) {
      const index = planned.findIndex(
        ({ failure }) => failure.method === undefined || failure.method.toLowerCase() === method.toLowerCase(),
      );
      const found = planned[index];
      if (!found) return undefined;
      found.left -= 1;
      if (found.left <= 0) planned.splice(index, 1);
      return found.failure;
    },
  };
}

/** The answer of a failure; missing fields are filled in as the Bot API would. */
export function failureAnswer({ status = 500, headers = {}, body }: ApiFailure): RawAnswer {
  if (body !== undefined) return { status, headers, body };
  const description = descriptions[status] ?? (status >= 500 ? 'Internal Server Error' : 'Bad Request');
  const retryAfter = Number(headers['Retry-After'] ?? headers['retry-after'] ?? 1);
  if (status !== 429) return { status, headers, body: { ok: false, error_code: status, description } };
  return {
    status,
    headers: { 'Retry-After': String(retryAfter), ...headers },
    body: {
      ok: false,
      error_code: status,
      description: `Too Many Requests: retry after ${retryAfter}`,
      parameters: { retry_after: retryAfter },
    },
  };
}
