// Setup without a terminal: by flags, where a missing answer is an error that names its flag, and by `--json`, where it is an object on
// stdout that the next line of stdin may answer.

import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { WaError } from '../../protocol/errors.ts';
import { type Answers, asIs, checked, given, type Prompter, type Question } from './prompter.ts';

export interface PlainOptions {
  answers: Answers;
  /** `--yes`: takes `fallback` where there is one. */
  takesFallback: boolean;
  out(line: string): void;
}

export function flagPrompter({ answers, takesFallback, out }: PlainOptions): Prompter {
  return {
    async ask<T = string>(question: Question, accept: (answer: string) => Promise<T> | T = asIs as never): Promise<T> {
      const found = await given(answers, question, accept);
      if (found) return found.value;
      if (takesFallback && question.fallback !== undefined) return accept(question.fallback);
      throw new WaError('bad_arguments', `setup needs ${question.need}: ${question.ask}`, {
        hint: `Give it by ${question.how}${usual(question)}; in a terminal the same command asks for it.`,
      });
    },
    link: (what, url) => out(`${what}: ${url}`),
    say: out,
    done: (step, line) => out(`${step.padEnd(8)} ${line}`),
    progress(what, work) {
      out(`${what} …`);
      return work(() => {});
    },
    phone: ({ how, link }) => out(`${how}: ${link}`),
  };
}

function usual({ fallback }: Question): string {
  return fallback === undefined ? '' : `, or take the usual answer, "${fallback}", by --yes`;
}

const maxLineChars = 64 * 1024;

export interface JsonOptions extends PlainOptions {
  /** Undefined = nobody answers: the first open need ends setup. */
  input: Readable | undefined;
}

/** Each line of stdout is one object: `{need, how, …}`, `{say}`, `{link, what}`, `{done, result}`. A line of stdin answers `{"<need>": "…"}`. */
export function jsonPrompter({ answers, takesFallback, out, input }: JsonOptions): Prompter {
  const print = (value: object) => out(JSON.stringify(value));
  const next = input ? lineReader(input) : async () => undefined;
  return {
    async ask<T = string>(question: Question, accept: (answer: string) => Promise<T> | T = asIs as never): Promise<T> {
      const found = await given(answers, question, accept);
      if (found) return found.value;
      if (takesFallback && question.fallback !== undefined) return accept(question.fallback);
      const { need, kind, ask, how, choices, fallback } = question;
      const usual = fallback === undefined ? {} : { default: fallback };
      print({
        need,
        kind,
        ask,
        how: `${how}, or {"${need}": "…"} as a line on stdin`,
        ...(choices && { choices }),
        ...usual,
      });
      const answer = answerIn(await next(), need);
      if (answer === undefined) {
        throw new WaError('needs_input', `setup needs ${need}`, {
          hint: `Give it by ${how} or on stdin, and run the same command again: what is done is kept.`,
        });
      }
      return accept(checked(question, answer));
    },
    link: (what, url) => print({ link: url, what }),
    say: (line) => print({ say: line }),
    done: (step, result) => print({ done: step, result }),
    progress(what, work) {
      print({ say: `${what} …` });
      return work(() => {});
    },
    phone: (need) => print(need),
  };
}

/** Errors: `bad_arguments` for a line that is not an object with this answer as a text. */
function answerIn(line: string | undefined, need: string): string | undefined {
  if (line === undefined) return undefined;
  const value = line.length > maxLineChars ? undefined : (parse(line)?.[need] as unknown);
  if (typeof value === 'string') return value.trim();
  throw new WaError('bad_arguments', `the line on stdin is not an object with the text "${need}"`, {
    hint: `Send {"${need}": "…"} on one line.`,
  });
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** The next line that is not empty; undefined = the input has ended. */
export function lineReader(input: Readable): () => Promise<string | undefined> {
  const lines = createInterface({ input, terminal: false })[Symbol.asyncIterator]();
  return async () => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) return undefined;
      if (value.trim() !== '') return value;
    }
  };
}
