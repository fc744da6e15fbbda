// Errors of an agent in words for people. An error is never an answer.

import { WaError } from '../../../protocol/errors.ts';
import { list, object, text } from '../../drivers/fields.ts';
import { AgentError, type Failures, type Says } from '../agent-error.ts';
import type { AcpRow } from './agents.ts';
import type { ChildEnd } from './child.ts';

/** An error that the agent has sent. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: number, message: string, data: Readonly<Record<string, unknown>>) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

const loginRequired = -32000;
const resourceNotFound = -32002;
const maxErrorChars = 2_000;

export const isLogin = (cause: unknown) => cause instanceof RpcError && cause.code === loginRequired;

/** Of an error that names a session; the words are those of Gemini CLI and of the two adapters. */
export function isUnknownSession(cause: unknown): boolean {
  if (!(cause instanceof RpcError)) return false;
  const words = `${cause.message} ${text(cause.data.details) ?? ''}`;
  return (
    cause.code === resourceNotFound ||
    /invalid session identifier|(?:session|thread|rollout)[^.]{0,80}not found|no (?:conversation|rollout) found/i.test(
      words,
    )
  );
}

export function loginError({ title, login }: AcpRow, cause?: unknown): AgentError {
  return new AgentError(
    'agent_login',
    (texts) => texts.notLoggedIn(title),
    (texts) => texts.logIn(login),
    cause,
  );
}

/** What `cause` means for a call that opens or changes a session; `says` gets the words of the cause. */
export function callError(row: AcpRow, says: (texts: Failures, why: string) => string, cause: unknown): WaError {
  if (cause instanceof WaError) return cause;
  if (isLogin(cause)) return loginError(row, cause);
  return failed(row, (texts) => says(texts, wordsOf(cause)), cause);
}

export function failed({ program }: AcpRow, says: Says, cause?: unknown): AgentError {
  return new AgentError('child_failed', says, (texts) => texts.tryAgain(program), cause);
}

/** Of an error: its message and, where the agent gives them, its details. */
export function wordsOf(cause: unknown): string {
  const { message } = cause as Error;
  const details = cause instanceof RpcError ? text(cause.data.details) : undefined;
  const whole = details && !message.includes(details) ? `${message}: ${details}` : message;
  return innerMessage(whole.replace(/^Internal error: (?=.)/, '')).slice(0, maxErrorChars);
}

/** Gemini CLI and Codex hand over the body of the model's API; its message is what a person can read. */
function innerMessage(words: string): string {
  try {
    return text(object(object(JSON.parse(words)).error).message) ?? words;
  } catch {
    return words;
  }
}

export function deathWords({ title }: AcpRow, { code, signal, lastWords }: ChildEnd): Says {
  return (texts) => (signal ? texts.killed(title, signal, lastWords) : texts.ended(title, code ?? 1, lastWords));
}

/** The failure that both adapters report in one form, as a notice or with the end of a prompt. Undefined = none. */
export function sessionFailure(meta: unknown): { severity: string; text: string } | undefined {
  const failure = object(object(object(object(meta).jetbrains).air).sessionFailure);
  const title = text(failure.title);
  if (title === undefined) return undefined;
  return { severity: text(failure.severity) ?? 'error', text: innerMessage(title).slice(0, maxErrorChars) };
}

/** The methods by which an agent says it can be logged in to. */
export function authMethods(handshake: Record<string, unknown>): string[] {
  return list(handshake.authMethods).flatMap((method) => text(object(method).id) ?? []);
}
