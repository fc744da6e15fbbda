// Which keys config.json may have. Apart from config.ts, which the hook fallback bundles: a hook passes over what it does not
// know, a person who mistyped a key is told.

import { readFileSync } from 'node:fs';
import { WaError } from '../protocol/errors.ts';

/** The keys of an object, or of each object of a list; `true` = the value is checked by `loadConfig`. */
interface Keys {
  readonly [key: string]: true | Keys;
}

const known: Keys = {
  relay: { url: true, token: true },
  bindings: { dir: true, mailbox: true, project: true },
  summaryMaxChars: true,
  redact: { secrets: true, cards: true, iban: true, ssn: true, patterns: { name: true, source: true, flags: true } },
  hold: true,
  nudge: true,
  sprintText: true,
};

/** For a file that `loadConfig` could read. Errors: `bad_config` naming file and key. */
export function checkKeys(file: string): void {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  } catch {
    return;
  }
  check(content, known, '', file);
}

function check(value: unknown, keys: Keys, path: string, file: string): void {
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) check(each, keys, `${path}[${index}]`, file);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const here = path === '' ? key : `${path}.${key}`;
    const expected = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (expected === undefined) {
      throw new WaError('bad_config', `${file}: there is no key "${here}"`, {
        hint: `Correct or remove it; possible here: ${Object.keys(keys).join(', ')}.`,
      });
    }
    if (expected !== true) check(inner, expected, here, file);
  }
}
