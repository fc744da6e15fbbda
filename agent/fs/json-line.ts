// The line where a text stops being JSON: the message of `JSON.parse` names no line in Node 20, and quotes the file. Pure, never throws.

import { type ParseError, parse } from 'jsonc-parser';

/** Longer than anything a person writes. */
const maxChars = 1_000_000;

/** Counted from 1; undefined = not looked for. For a text that `JSON.parse` refuses. */
export function lineOfMistake(text: string): number | undefined {
  if (text.length > maxChars) return undefined;
  const errors: ParseError[] = [];
  try {
    parse(text, errors, { disallowComments: true });
  } catch {
    // Nested too deeply for the parser.
    return undefined;
  }
  return text.slice(0, errors[0]?.offset ?? text.length).split('\n').length;
}
