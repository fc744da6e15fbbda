// A limit for the Markdown parser's own work on one paragraph: emphasis and brackets are looked up by walking back over all that
// stands before them, so a text of nothing else takes time that grows with its square. Must never change an ordinary paragraph.

import type { gfm } from 'micromark-extension-gfm';

type Extension = ReturnType<typeof gfm>;
type Construct = Extract<NonNullable<Extension['text']>[string], { tokenize: unknown }>;
type Tokenizer = Construct['tokenize'];
type State = Parameters<Tokenizer>[1];
type Code = Parameters<State>[0];
type TokenizeContext = ThisParameterType<Tokenizer>;

/** Marks in one paragraph, cell or heading that may still begin or end something. */
export const maxMarks = 1_000;

/** `!`, `[`, `]`: one each. */
const brackets = [33, 91, 93];
/** `*`, `_`, `~`: the parser takes a run as one, and splits that later. */
const emphasis = [42, 95, 126];

/** Behind the last mark that counts, what is left of each line is text. For one parse. */
export function boundedInline(): Extension {
  const marks = new WeakMap<TokenizeContext, number>();
  const tokenize: Tokenizer = function (effects, ok, nok) {
    const before = marks.get(this) ?? 0;
    let run = 0;
    let first: Code = null;
    const start: State = (code) => {
      first = code;
      effects.enter('data');
      return count(code);
    };
    const count: State = (code) => {
      const isCounted = code === first && (run === 0 || emphasis.includes(code as number));
      if (isCounted && before + run < maxMarks) {
        run += 1;
        effects.consume(code);
        return count;
      }
      if (isCounted) return rest(code);
      marks.set(this, before + run);
      return nok(code);
    };
    const rest: State = (code) => {
      // Line endings are negative, the end is null.
      if (code !== null && code >= 0) {
        effects.consume(code);
        return rest;
      }
      effects.exit('data');
      return ok(code);
    };
    return start;
  };
  const construct = { name: 'boundedInline', tokenize };
  return { text: Object.fromEntries([...brackets, ...emphasis].map((code) => [code, construct])) };
}
