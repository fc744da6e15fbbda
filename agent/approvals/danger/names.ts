// Which words of a command may be the names of files, and from which folders they are meant. Pure.

import { absolute, maxPathChars, normal } from './paths.ts';
import { isUnknown } from './shell-expand.ts';
import type { SimpleCommand } from './shell-words.ts';

/** With `-C` and its kin the program goes elsewhere first. */
export function foldersOf({ words, folders }: SimpleCommand): readonly string[] {
  const at = words.findIndex((word) => /^(-C|--chdir|--directory|--prefix|--cwd|-D)$/.test(word));
  const joined = /^--(?:chdir|directory|prefix|cwd)=(.+)$/s.exec(
    words.find((word) => word.startsWith('--')) ?? '',
  )?.[1];
  const to = at > 0 ? words[at + 1] : joined;
  if (to === undefined || to.length > maxPathChars || isUnknown(to)) return folders;
  return [...new Set([...folders.map((base) => normal(absolute(to, base))), ...folders])];
}

/** Those of what it runs are its own, but for the strings in a program's text. */
export function hasNames({ isInner, words: [program] }: SimpleCommand): boolean {
  return !isInner || program === 'open';
}

/** What of a command may be the name of a file. */
export function namesIn({ words: [program = '', ...rest], writes, reads }: SimpleCommand): string[] {
  const isPath = (word: string) => !/^-[^=/.~]*$/.test(word);
  const words = rest.filter(isPath).map(withoutKey);
  // `-d @file`, `-F part=@file`, `host:path`, `UNIX-CONNECT:path`
  const sent = words.flatMap((word) => (program === 'curl' ? /@(.+)$/s.exec(word)?.[1] : undefined) ?? []);
  const inTree = program === 'git' ? words.flatMap((word) => /^[\w@./^~{}-]{1,200}:(.+)$/s.exec(word)?.[1] ?? []) : [];
  const behind = words.flatMap((word) => /^[\w@.-]{1,100}[:,]([/~].*)$/s.exec(word)?.[1] ?? []);
  // A text of many words names no file, but code may.
  return [...words, ...sent, ...behind, ...inTree, ...writes, ...reads];
}

/** `of=x`, `--file=x`, `-Ipath` */
function withoutKey(word: string): string {
  return /^(?:--?)?[\w-]{1,100}=(.+)$/s.exec(word)?.[1] ?? /^-[A-Za-z]([/~.].*)$/s.exec(word)?.[1] ?? word;
}

/** A tool is given the path as it is, a program what the shell made of it. */
export function fromHome(word: string, home: string): string {
  return word.replace(/^~(?=\/|$)/, home).replace(/^(\$HOME|\$\{HOME\})(?=\/|$)/, home);
}
