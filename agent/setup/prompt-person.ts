// Setup for a person at a terminal. Secrets are typed without an echo; Ctrl+C at any prompt ends setup cleanly.

import { confirm, isCancel, log, password, select, spinner, text } from '@clack/prompts';
import { renderUnicodeCompact } from 'uqr';
import { WaError } from '../../protocol/errors.ts';
import { visible } from '../visible.ts';
import { type Answers, asIs, cancelled, given, type Prompter, type Question } from './prompter.ts';

export function personPrompter({ answers }: { answers: Answers }): Prompter {
  return {
    async ask<T = string>(question: Question, accept: (answer: string) => Promise<T> | T = asIs as never): Promise<T> {
      const found = await given(answers, question, accept);
      if (found) return found.value;
      for (;;) {
        const answer = await asked(question);
        try {
          return await accept(answer);
        } catch (cause) {
          if (!(cause instanceof WaError)) throw cause;
          log.error(visible([cause.message, cause.hint].filter(Boolean).join('\n')));
        }
      }
    },
    link(what, url) {
      log.info(visible(`${what}: ${url}`));
      log.message(renderUnicodeCompact(url, { border: 2 }));
    },
    say: (line) => log.message(visible(line)),
    done: (step, line) => log.success(visible(`${step}: ${line}`)),
    async progress(what, work) {
      const shown = spinner();
      shown.start(what);
      try {
        const result = await work((line) => shown.message(visible(`${what}: ${line}`)));
        shown.stop(what);
        return result;
      } catch (cause) {
        shown.error(what);
        throw cause;
      }
    },
    phone({ how, link }) {
      log.info(visible(`${how}: ${link}`));
      log.message(renderUnicodeCompact(link, { border: 2 }));
    },
  };
}

/** Errors: `cancelled`. */
async function asked({ kind, ask: message, choices = [], fallback }: Question): Promise<string> {
  if (kind === 'yes') return kept(await confirm({ message, initialValue: fallback === 'yes' })) ? 'yes' : 'no';
  if (kind === 'secret') {
    return kept(
      await password({ message, mask: '', validate: (value) => (value?.trim() ? undefined : 'Nothing was typed.') }),
    ).trim();
  }
  if (kind === 'choice') {
    return kept(
      await select<string>({
        message,
        options: [...choices],
        ...(fallback === undefined ? {} : { initialValue: fallback }),
      }),
    );
  }
  const usual = fallback === undefined ? {} : { placeholder: fallback, defaultValue: fallback };
  return kept(await text({ message, ...usual })).trim();
}

function kept<T>(answer: T): Exclude<T, symbol> {
  if (isCancel(answer)) throw cancelled();
  return answer as Exclude<T, symbol>;
}
