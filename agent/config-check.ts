// Checks of config.json for people: mistyped keys, bindings that cannot work, a token that other users can read. Not in config.ts,
// which the hook fallback bundles: a hook uses the keys that it knows.

import { readFileSync, realpathSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { WaError } from '../protocol/errors.ts';
import type { Binding, Config } from './config.ts';

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
export function checkFile(file: string): void {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  } catch {
    return;
  }
  checkKeys(content, known, '', file);
  const { bindings = [] } = content as { bindings?: Raw[] };
  for (const [index, binding] of bindings.entries()) checkBinding(binding, `bindings[${index}]`, file);
  const complete = bindings.map(({ dir, mailbox, project = 0 }) => ({ dir, mailbox, project }));
  refuseDoubles(complete, file);
}

/** Two bindings of one chat or folder would take each other's messages. Errors: `bad_config` naming both. */
export function refuseDoubles(bindings: readonly Binding[], file: string): void {
  for (const [index, { dir, mailbox, project }] of bindings.entries()) {
    const twice = (what: string, other: number, hint: string) =>
      new WaError('bad_config', `${file}: "bindings[${other}]" and "bindings[${index}]" ${what}`, { hint });
    const sameFolder = bindings.slice(0, index).findIndex((each) => realFolder(each.dir) === realFolder(dir));
    if (sameFolder !== -1) {
      throw twice(`bind one folder, ${realFolder(dir)}`, sameFolder, `Remove one of them from ${file}.`);
    }
    const sameChat = bindings.slice(0, index).findIndex((each) => each.mailbox === mailbox && each.project === project);
    if (sameChat === -1) continue;
    throw twice(
      `bind chat ${mailbox}, project ${project} to two folders, ${bindings[sameChat]?.dir} and ${dir}`,
      sameChat,
      `Remove one of them from ${file}, or give each its own chat, or its own topic of a group as "project".`,
    );
  }
}

function realFolder(dir: string): string {
  try {
    return realpathSync.native(dir);
  } catch {
    return dir;
  }
}

interface Raw {
  dir: string;
  mailbox: string;
  project?: number;
}

function checkBinding({ dir, mailbox }: Raw, key: string, file: string): void {
  const wrong = (name: 'dir' | 'mailbox', expected: string, seen: string) =>
    new WaError('bad_config', `${file}: "${key}.${name}" must be ${expected}, found "${seen}"`, {
      hint: `Correct "${key}.${name}" in ${file}.`,
    });
  // A relative path has no base: the daemon and each hook start in different folders.
  if (!isAbsolute(dir)) throw wrong('dir', 'an absolute path', dir);
  if (!/^-?\d+$/.test(mailbox)) throw wrong('mailbox', 'a chat id, a number in quotes', mailbox);
}

/** Problems with which the daemon can start, a line each. A missing folder may lie on a disk that is not mounted yet. */
export async function configWarnings({ file, bindings, relay }: Config, platform: NodeJS.Platform): Promise<string[]> {
  const warnings: string[] = [];
  const mode = await stat(file).then(
    (info) => info.mode & 0o777,
    () => 0,
  );
  if (relay?.from === 'config' && platform !== 'win32' && (mode & 0o077) !== 0) {
    warnings.push(
      `${file} holds a token and has mode ${mode.toString(8)}: other users can read it. Run: chmod 600 "${file}"`,
    );
  }
  for (const { dir } of bindings) {
    const isFolder = await stat(dir).then(
      (info) => info.isDirectory(),
      () => false,
    );
    if (!isFolder)
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
      throw new WaError('bad_config', `${file}: "${here}" is not a known key`, {
        hint: `Correct or remove it. Known keys: ${Object.keys(keys).join(', ')}.`,
      });
    }
    if (expected !== true) checkKeys(inner, expected, here, file);
  }
}
