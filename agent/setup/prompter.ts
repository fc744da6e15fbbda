// How setup asks: one interface for a person at a terminal, for flags, and for programs. Types, and what all of them share.

import { WaError } from '../../protocol/errors.ts';

export interface Question {
  /** The name of the answer, in `--json` and in `Answers`. */
  readonly need: string;
  /** `secret`: must never be shown. `yes`: answered with `yes` or `no`. */
  readonly kind: 'secret' | 'text' | 'choice' | 'yes';
  readonly ask: string;
  /** How the answer is given without a terminal: a flag or a variable. */
  readonly how: string;
  readonly choices?: readonly { value: string; label: string; hint?: string }[];
  /** What `--yes` takes. */
  readonly fallback?: string;
}

/** What flags and the environment have answered before anything is asked, by `need`. */
export type Answers = Readonly<Record<string, string | undefined>>;

/** What only a person with the phone can do. */
export interface PhoneNeed {
  readonly need: string;
  /** What to do, in one sentence. */
  readonly how: string;
  readonly link: string;
  /** Epoch milliseconds. */
  readonly untilAt: number;
}

export interface Prompter {
  /** The answer, once `accept` takes it. A person is asked again when `accept` raises an error; else the error is raised. Errors: `needs_input`, `cancelled`, `bad_arguments`. */
  ask<T = string>(question: Question, accept?: (answer: string) => Promise<T> | T): Promise<T>;
  /** Shows a link as a QR code where there is a person, and what the link is for. */
  link(what: string, url: string): void;
  /** A sentence for the person. */
  say(line: string): void;
  /** The result of a step. */
  done(step: string, line: string): void;
  /** Runs what takes longer than a second. */
  progress<T>(what: string, work: (update: (line: string) => void) => Promise<T>): Promise<T>;
  /** Says that setup waits for the phone; `--json` prints it as a need. */
  phone(need: PhoneNeed): void;
}

/** Takes what flags and environment answered, checked as any other answer. Undefined = not answered. */
export async function given<T>(
  answers: Answers,
  question: Question,
  accept: (answer: string) => Promise<T> | T,
): Promise<{ value: T } | undefined> {
  const answer = answers[question.need];
  return answer === undefined ? undefined : { value: await accept(checked(question, answer)) };
}

/** Errors: `bad_arguments` for an answer that is not one of the choices. */
export function checked({ need, kind, choices, how }: Question, answer: string): string {
  const allowed = kind === 'yes' ? ['yes', 'no'] : choices?.map(({ value }) => value);
  if (!allowed || allowed.includes(answer)) return answer;
  throw new WaError('bad_arguments', `${need} must be ${allowed.join(' or ')}`, { hint: `Give it by ${how}.` });
}

export const asIs = (answer: string): string => answer;

export function cancelled(): WaError {
  return new WaError('cancelled', 'setup was stopped; what is done is kept', {
    hint: 'Go on with `wa-sync setup`.',
  });
}
