// What wa-sync itself says about an agent: in English for logs and the command line, in the language of the chat for the phone. The
// agent's own words inside of it stay as they are.

import { type ErrorCode, WaError } from '../../protocol/errors.ts';
import { type Texts, textsIn } from '../../protocol/texts.ts';

export type Failures = Texts['owned']['sessions']['failures'];

/** A sentence of the catalogue with what it names. */
export type Says = (texts: Failures) => string;

const { failures: english } = textsIn('en').owned.sessions;

export const inEnglish = (says: Says): string => says(english);

export class AgentError extends WaError {
  readonly says: Says;
  readonly advises: Says;

  constructor(code: ErrorCode, says: Says, advises: Says, cause?: unknown) {
    super(code, says(english), { hint: advises(english), cause });
    this.says = says;
    this.advises = advises;
  }
}

/** An error as the phone reads it; one that is not about an agent stays English. */
export function errorIn(cause: unknown, texts: Failures): { message: string; hint: string | undefined } {
  if (cause instanceof AgentError) return { message: cause.says(texts), hint: cause.advises(texts) };
  return { message: (cause as Error).message, hint: cause instanceof WaError ? cause.hint : undefined };
}

export function errorOf(cause: unknown): WaError {
  return cause instanceof WaError ? cause : new WaError('internal', (cause as Error).message, { cause });
}
