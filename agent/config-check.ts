// Checks of config.json for people: mistyped keys, bindings that cannot work, a token that other users can read. Not in config.ts,
// which the hook fallback bundles: a hook uses the keys that it knows.

import { readFileSync, realpathSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { WaError } from '../protocol/errors.ts';
import { type Binding, type Config, ConfigSyntaxError } from './config.ts';

/** The keys of an object, or of each object of a list; `true` = the value is checked by `loadConfig`. */
interface Keys {
  readonly [key: string]: true | Keys;
}

const known: Keys = {
  relay: { url: true, token: true, local: true },
  bindings: { dir: true, mailbox: true, project: true },
  summaryMaxChars: true,
  redact: { secrets: true, cards: true, iban: true, ssn: true, patterns: { name: true, source: true, flags: true } },
  hold: true,
  nudge: true,
  presence: { awayAfter: true },
  follow: true,
  sprintText: true,
  agents: true,
};

function wrong(file: string, what: string, hint: string): WaError {
  return new WaError('bad_config', `${file}: ${what}`, { hint });
}

/** Adds the line of the mistake to the error of a file that is not JSON; any other error stays as it is. */
export async function withLine(cause: unknown): Promise<unknown> {
  if (!(cause instanceof ConfigSyntaxError)) return cause;
  const { file } = cause;
  const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  if (isJson(text)) return cause;
  // Loaded here, because no command needs the parser to start.
  const line = (await import('./fs/json-line.ts')).lineOfMistake(text);
  if (line === undefined) return cause;
  return wrong(file, `not JSON in line ${line}`, `Correct line ${line} of ${file}, or the line before it.`);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** For a file that `loadConfig` could read. Errors: `bad_config` naming file and key. */
export function checkFile({ file, bindings }: Config): void {
  let content: { bindings?: { dir: string; mailbox: string }[] };
  try {
    content = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  } catch {
    return;
  }
  checkKeys(content, known, '', file);
  for (const [index, { dir, mailbox }] of (content.bindings ?? []).entries()) {
    const refuse = (name: string, expected: string, found: string) => {
      const key = `"bindings[${index}].${name}"`;
      throw wrong(file, `${key} must be ${expected}, found "${found}"`, `Correct ${key} in ${file}.`);
    };
    // A relative path has no base: the daemon and each hook start in different folders.
    if (!isAbsolute(dir)) refuse('dir', 'an absolute path', dir);
    if (!/^-?\d+$/.test(mailbox)) refuse('mailbox', 'a chat id, a number in quotes', mailbox);
  }
  refuseDoubles(bindings, file);
}

/** Two bindings of one chat or folder would take each other's messages. Errors: `bad_config` naming both. */
export function refuseDoubles(bindings: readonly Binding[], file: string): void {
  for (const [index, { dir, mailbox, project }] of bindings.entries()) {
    for (const [before, other] of bindings.slice(0, index).entries()) {
      const both = `"bindings[${before}]" and "bindings[${index}]"`;
      const hint = `Remove one of them from ${file}`;
      if (realFolder(other.dir) === realFolder(dir))
        throw wrong(file, `${both} bind one folder, ${realFolder(dir)}`, `${hint}.`);
      if (other.mailbox === mailbox && other.project === project)
        throw wrong(
          file,
          `${both} bind chat ${mailbox}, project ${project} to two folders, ${other.dir} and ${dir}`,
          `${hint}, or give each its own chat, or its own topic of a group as "project".`,
        );
    }
  }
}

function realFolder(dir: string): string {
  try {
    return realpathSync.native(dir);
  } catch {
    return dir;
  }
}

/** Problems with which the daemon can start, a line each. A missing folder may lie on a disk that is not mounted yet. */
export async function configWarnings({ file, bindings, relay }: Config, platform: NodeJS.Platform): Promise<string[]> {
  const warnings: string[] = [];
  const mode = ((await stat(file).catch(() => undefined))?.mode ?? 0) & 0o777;
  if (relay?.from === 'config' && platform !== 'win32' && (mode & 0o077) !== 0) {
    warnings.push(
      `${file} holds a token and has mode ${mode.toString(8)}: other users can read it. Run: chmod 600 "${file}"`,
    );
  }
  for (const { dir } of bindings) {
    const found = await stat(dir).catch(() => undefined);
    if (!found?.isDirectory())
      warnings.push(
        `${dir} is not a folder: its messages wait until the folder exists. Correct "bindings" in ${file}.`,
      );
  }
  return warnings;
}

function checkKeys(value: unknown, keys: Keys, path: string, file: string): void {
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) checkKeys(each, keys, `${path}[${index}]`, file);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const here = path === '' ? key : `${path}.${key}`;
    const expected = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (expected === undefined) {
      const hint = `Correct or remove it. Known keys: ${Object.keys(keys).join(', ')}.`;
      throw wrong(file, `"${here}" is not a known key`, hint);
    }
    if (expected !== true) checkKeys(inner, expected, here, file);
  }
}
