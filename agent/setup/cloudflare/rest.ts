// One call of Cloudflare's REST API: the envelope of its answers, and each failure as a code with its repair. The token is in a header
// and nowhere else.

import { setTimeout as delay } from 'node:timers/promises';
import { WaError } from '../../../protocol/errors.ts';
import { oneLine } from '../../../protocol/lines.ts';
import { readText } from '../../http.ts';
import { type Connection, connectTo } from '../../relay/connection.ts';

const defaultBaseUrl = 'https://api.cloudflare.com/client/v4';

export interface RestCall {
  method?: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  body?: string;
  contentType?: string;
  /** What the token must be allowed to do, as Cloudflare's page names it. */
  needs: string;
  /** Codes of Cloudflare that are an answer and no failure: the call gives undefined. */
  absentCodes?: readonly number[];
  signal?: AbortSignal | undefined;
}

export interface Rest {
  /** The `result` of the answer. Errors: those of `Cloudflare`. */
  call(path: string, call: RestCall): Promise<unknown>;
  close(): Promise<void>;
}

export interface RestOptions {
  baseUrl?: string | undefined;
  /** Absent = a call without a login. */
  token?: string;
  /** Waits between two tries. */
  pause?(ms: number): Promise<unknown>;
}

const answerMs = 60_000;
const maxAnswerChars = 4 * 1024 * 1024;
/** Each call sets a state, so that a repeated one changes nothing. */
const pausesMs = [500, 2_000];
/** A longer wait is for the person to decide. */
const maxRetryAfterMs = 20_000;

/** Errors: `bad_config` for a base that a token must not be sent to. */
export function openRest({ baseUrl, token, pause = (ms) => delay(ms) }: RestOptions): Rest {
  const connection = connectTo(checkedBase(baseUrl || defaultBaseUrl));
  return {
    async call(path, call) {
      for (let tries = 0; ; tries += 1) {
        try {
          return await callOnce(connection, token, path, call);
        } catch (cause) {
          const waitMs = pausesMs[tries];
          if (!(cause instanceof WaError) || !cause.retryable || waitMs === undefined || call.signal?.aborted)
            throw cause;
          if ((cause.retryAfterMs ?? 0) > maxRetryAfterMs) throw cause;
          await pause(Math.max(waitMs, cause.retryAfterMs ?? 0));
        }
      }
    },
    close: () => connection.close(),
  };
}

function checkedBase(base: string): string {
  const url = URL.canParse(base) ? new URL(base) : undefined;
  const isLocal = url?.protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname);
  if (url !== undefined && !url.username && !url.password && (url.protocol === 'https:' || isLocal)) {
    return url.href.replace(/(?<!\/)\/+$/, '');
  }
  throw new WaError('bad_config', 'CLOUDFLARE_API_BASE_URL is not an https address without credentials', {
    hint: `Unset it: the default is ${defaultBaseUrl}.`,
  });
}

async function callOnce(
  connection: Connection,
  token: string | undefined,
  path: string,
  { method = 'GET', body, contentType = 'application/json', needs, absentCodes = [], signal }: RestCall,
): Promise<unknown> {
  const answer = await ask(connection, path, {
    method,
    body,
    headers: {
      accept: 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': contentType }),
    },
    signal: signal ? AbortSignal.any([signal, AbortSignal.timeout(answerMs)]) : AbortSignal.timeout(answerMs),
    headMs: answerMs,
    bodyMs: answerMs,
  });
  const { success, result, errors } = answer.envelope ?? {};
  if (answer.status < 300 && success === true) return result;
  const problem = problemOf(errors);
  if (problem.code !== undefined && absentCodes.includes(problem.code)) return undefined;
  throw failure(`${method} ${path.split('?')[0]}`, answer, problem, needs);
}

interface Envelope {
  success?: unknown;
  result?: unknown;
  errors?: unknown;
}

interface Answer {
  status: number;
  retryAfterMs: number | undefined;
  /** Undefined = not JSON: a proxy or an error page answered. */
  envelope: Envelope | undefined;
}

async function ask(connection: Connection, path: string, call: Parameters<Connection['exchange']>[1]): Promise<Answer> {
  try {
    const response = await connection.exchange(path, call);
    const seconds = Number(response.headers['retry-after']);
    return {
      status: response.statusCode ?? 0,
      retryAfterMs: seconds > 0 ? seconds * 1000 : undefined,
      envelope: envelopeOf(await readText(response, maxAnswerChars)),
    };
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? (cause as Error).name;
    throw new WaError('cloudflare_unreachable', `Cloudflare did not answer: ${reason}`, {
      hint: 'Check the network and the proxy (HTTPS_PROXY), then run the command again: it goes on where it stopped.',
      cause,
    });
  }
}

function envelopeOf(text: string): Envelope | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

interface Problem {
  code?: number;
  message: string;
}

const maxMessageChars = 300;

function problemOf(errors: unknown): Problem {
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  if (typeof first !== 'object' || first === null) return { message: '' };
  const { code, message } = first as { code?: unknown; message?: unknown };
  return {
    ...(typeof code === 'number' ? { code } : {}),
    message: typeof message === 'string' ? oneLine(message, maxMessageChars) : '',
  };
}

/** Of a token that is no token, and of one that is unknown, expired or revoked. */
const tokenCodes: readonly number[] = [6003, 6111, 9106, 9109];
/** Of a token that is good for something else. */
const permissionCodes: readonly number[] = [10000, 10014, 10015, 10023];
const sizeCodes: readonly number[] = [10027];

function failure(what: string, { status, retryAfterMs, envelope }: Answer, problem: Problem, needs: string): WaError {
  const { code, message } = problem;
  const seen = [message, code === undefined ? `HTTP ${status}` : `code ${code}`]
    .filter((part) => part !== '')
    .join(', ');
  const has = (codes: readonly number[]) => code !== undefined && codes.includes(code);
  if (status === 429) {
    return new WaError('cloudflare_rate_limited', `Cloudflare asks to wait (${seen})`, {
      hint: 'Wait some minutes, then run the command again: it goes on where it stopped.',
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  }
  if (has(sizeCodes) || status === 413) {
    return new WaError('worker_too_large', `Cloudflare finds the Worker too large (${seen})`, {
      hint: 'Report it: the Worker of the package is far below every documented limit.',
    });
  }
  if (has(tokenCodes) || (status === 401 && !has(permissionCodes))) {
    return new WaError('cloudflare_unauthorized', `Cloudflare does not accept this token (${seen})`, {
      hint: 'The token is wrong, expired or revoked: make a new one, or log in again with `wrangler login`.',
    });
  }
  if (has(permissionCodes) || status === 403) {
    return new WaError('cloudflare_forbidden', `the token may not do ${what} (${seen})`, {
      hint: `Give the token the permission "${needs}" for this account, or use a token that has it.`,
    });
  }
  if (status >= 500 || envelope === undefined) {
    return new WaError('cloudflare_unreachable', `Cloudflare did not answer ${what} as its API (${seen})`, {
      hint: 'Check the network and the proxy; if they work, see https://www.cloudflarestatus.com and run the command again later.',
    });
  }
  return new WaError('cloudflare_refused', `Cloudflare refused ${what} (${seen})`, {
    hint: 'Run the command again; if the answer stays, report it with this line.',
  });
}
