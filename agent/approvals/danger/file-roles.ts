// What a command does to the files that it names: removes or moves them, changes them, or puts something into a folder. A table by
// program. Pure.

import { runsFound } from './shell-programs.ts';
import type { SimpleCommand } from './shell-words.ts';

export interface Touched {
  /** `change`: the file stays, but another may be in its place or no longer be read. `into`: see `arriving`. */
  role: 'remove' | 'change' | 'into';
  word: string;
  /** For `into`: the names that come into the folder; undefined = unknown. */
  arriving?: readonly string[] | undefined;
  /** For what `find` removes: only names like these. */
  named?: readonly string[];
}

const removers = /^(rm|rd|rmdir|del|erase|unlink|shred|rimraf|trash|trash-put|srm|remove-item|ri)$/i;
const changers = /^(chmod|chown|chgrp|chattr|setfacl|chflags|icacls|truncate|mount|umount|swapoff)$/;
const copiers = /^(cp|mv|ln|install|rsync|scp|copy|move|move-item|copy-item|ditto|gcp|gmv)$/i;
/** Options that take the next word, of those above. */
const valued = /^(-[moSgu]|--mode|--owner|--suffix|-e|--exclude|--rsh|--include|--filter|-s|--size|--reference)$/;

export function touchedBy(command: SimpleCommand): Touched[] {
  const [program = '', ...rest] = command.words;
  const written = command.writes.map((word): Touched => ({ role: 'change', word }));
  return [...written, ...byProgram(program, rest, command)];
}

function byProgram(program: string, rest: readonly string[], command: SimpleCommand): Touched[] {
  const remove = (words: readonly string[]) => words.map((word): Touched => ({ role: 'remove', word }));
  const change = (words: readonly string[]) => words.map((word): Touched => ({ role: 'change', word }));
  const names = namesOf(rest);
  if (removers.test(program)) return remove(names);
  if (copiers.test(program)) return copied(program, rest, names);
  if (changers.test(program)) return change(/^(mount|umount|truncate)$/.test(program) ? names : names.slice(1));
  if (program === 'tee' || program === 'sponge') return change(names);
  if (program === 'dd') return change(rest.flatMap((word) => /^of=(.+)$/s.exec(word)?.[1] ?? []));
  if (program === 'find' || program === 'fd') return found(rest, command);
  if (isInPlace(program, rest))
    return change(names.slice(rest.some((word) => /^(-e|-f|--expression)/.test(word)) ? 0 : 1));
  if (program === 'tar' || program === 'bsdtar' || program === 'unzip' || program === '7z' || program === 'cpio')
    return unpacked(program, rest, command);
  if (program === 'docker' || program === 'podman') return mounted(rest);
  if (/^(rename|prename|mmv|zmv)$/.test(program)) return remove(names);
  if (program === 'git') return byGit(rest);
  if (fetchesInto[program]) return optionOf(rest, fetchesInto[program]).map((word) => ({ role: 'into', word }));
  if (program === 'dpkg' || program === 'dpkg-deb' || program === 'unrar') return into(names.slice(1));
  return [];
}

/** Options that name the folder into which something comes. */
const fetchesInto: Readonly<Record<string, RegExp>> = {
  curl: /^--output-dir(?:=|$)/,
  wget: /^(?:-P|--directory-prefix(?:=|$))/,
  aria2c: /^(?:-d|--dir(?:=|$))/,
  patch: /^(?:-d|--directory(?:=|$))/,
};

function optionOf(rest: readonly string[], option: RegExp): string[] {
  return rest.flatMap((word, at) => {
    const name = option.exec(word)?.[0];
    if (name === undefined) return [];
    const value = word.slice(name.length) || rest[at + 1];
    return value === undefined ? [] : [value];
  });
}

function into(words: readonly string[]): Touched[] {
  return words.map((word) => ({ role: 'into', word }));
}

/** What `git mv` and `git rm` take away, and where a clone or a patch comes to lie. */
function byGit(rest: readonly string[]): Touched[] {
  const at = rest.findIndex((word) => /^(mv|rm|clone|apply)$/.test(word));
  const names = namesOf(rest.slice(at + 1));
  switch (rest[at]) {
    case 'rm':
      return rest.includes('-n') || rest.includes('--dry-run') ? [] : names.map((word) => ({ role: 'remove', word }));
    case 'mv':
      return copied('mv', rest.slice(at + 1), names);
    case 'clone':
      return into(names.slice(1).slice(-1));
    case 'apply':
      return into(optionOf(rest, /^--directory(?:=|$)/));
    default:
      return [];
  }
}

function namesOf(rest: readonly string[]): string[] {
  const end = rest.indexOf('--');
  return rest.filter((word, at) => {
    if (end >= 0 && at > end) return true;
    return word !== '--' && !/^-./.test(word) && !(at > 0 && valued.test(rest[at - 1] as string));
  });
}

function copied(program: string, rest: readonly string[], names: readonly string[]): Touched[] {
  const at = rest.findIndex((word) => /^(-t|--target-directory)$/.test(word));
  const given =
    at >= 0
      ? rest[at + 1]
      : /^--target-directory=(.+)$/s.exec(rest.find((word) => word.startsWith('--target-d')) ?? '')?.[1];
  const target = given ?? names.at(-1);
  const sources = given === undefined ? names.slice(0, -1) : names.filter((word) => word !== given);
  if (target === undefined) return [];
  const moved = /^(g?mv|move|move-item)$/i.test(program)
    ? sources.map((word): Touched => ({ role: 'remove', word }))
    : [];
  // Elsewhere than on this machine.
  if (/^(rsync|scp)$/.test(program) && /^[\w.@-]+:/.test(target)) return moved;
  const takesAll = (word: string) => /(^|\/)\.$/.test(word) || (program === 'rsync' && word.endsWith('/'));
  const isWhole =
    rest.some((word) => /^(-[^\WT]*T\w*|--no-target-directory|--delete.*)$/.test(word)) || sources.some(takesAll);
  const isLink = program === 'ln' && rest.some((word) => /^-\w*n|^--no-dereference$/.test(word));
  const arriving =
    isWhole || isLink ? undefined : sources.map((word) => word.replace(/(?<!\/)\/+$/, '').replace(/^.*\//s, ''));
  return [...moved, { role: 'into', word: target, arriving }];
}

/** Of `find`: where it begins, and what names it takes. */
function found(rest: readonly string[], { isInner }: SimpleCommand): Touched[] {
  const run = rest.findIndex((word) => runsFound.test(word));
  const program = (rest[run + 1] ?? '').replace(/^.*\//, '');
  const isRemoval =
    rest.includes('-delete') || (run >= 0 && (removers.test(program) || /^(mv|chmod|chown|sh|bash)$/.test(program)));
  if (!isRemoval || isInner) return [];
  const named = namesFound(rest);
  return startsOf(rest).map((word): Touched => ({ role: 'remove', word, named }));
}

/** The patterns that limit what `find` finds; none = everything. */
export function namesFound(rest: readonly string[]): string[] {
  if (rest.some((word) => /^(-o|-or|!|-not)$/.test(word)) && !rest.includes('-prune')) {
    // With `-o` each side must have its name.
    const sides = rest.filter((word) => /^(-o|-or)$/.test(word)).length + 1;
    const given = rest.filter((word) => /^-i?(name|path|wholename)$/.test(word)).length;
    if (given < sides || rest.some((word) => word === '!' || word === '-not')) return [];
  }
  return rest.flatMap((word, at) => {
    if (!/^-i?(name|path|wholename)$/.test(rest[at - 1] ?? '')) return [];
    return [word.replace(/\/\*+$/, '').replace(/^.*\//s, '') || '*'];
  });
}

/** Where `find` begins to look. */
export function startsOf(words: readonly string[]): string[] {
  const rest = words.filter((word, at) => !(at < 3 && /^-[HLP]$/.test(word)));
  const end = rest.findIndex((word) => /^[-(!]/.test(word));
  const starts = end < 0 ? rest : rest.slice(0, end);
  return starts.length === 0 ? ['.'] : starts;
}

function isInPlace(program: string, rest: readonly string[]): boolean {
  if (/^g?sed$/.test(program)) return rest.some((word) => /^(-[a-zA-Z]*i|--in-place)/.test(word));
  return /^(perl|ruby)$/.test(program) && rest.some((word) => /^-[a-zA-Z0]*i/.test(word));
}

/** Into the folder that an archive is unpacked in comes whatever it holds. */
function unpacked(program: string, rest: readonly string[], { folders }: SimpleCommand): Touched[] {
  const isTar = /tar$/.test(program);
  const [verb = ''] = rest;
  if (isTar && rest.includes('--remove-files')) return namesOf(rest).map((word): Touched => ({ role: 'remove', word }));
  if (isTar && !rest.some((word) => /^(--extract|--get|-[a-zA-Z]*x)/.test(word)) && !/^[a-zA-Z]*x/.test(verb))
    return [];
  if (program === 'unzip' && rest.some((word) => /^-[lptvZ]/.test(word))) return [];
  if (program === '7z' && verb !== 'x' && verb !== 'e') return [];
  if (program === 'cpio' && !rest.some((word) => /^-[a-z]*[ip]/.test(word))) return [];
  const option = isTar ? /^(-C|--directory)$/ : program === 'cpio' ? /^(-D|--directory)$/ : /^-d$/;
  const at = rest.findIndex((word) => option.test(word));
  const joined = rest.flatMap(
    (word) => /^(?:--directory=|--one-top-level=|-C(?=.)|-o(?=.)|-d(?=.))(.+)$/s.exec(word)?.[1] ?? [],
  );
  const target = at >= 0 ? rest[at + 1] : joined[0];
  return [{ role: 'into', word: target ?? folders[0] ?? '.' }];
}

/** `-v ~:/x` */
function mounted(rest: readonly string[]): Touched[] {
  return rest.flatMap((word, at): Touched[] => {
    const given = /^(-v|--volume|--mount)$/.test(rest[at - 1] ?? '')
      ? word
      : /^--(?:volume|mount)=(.+)$/s.exec(word)?.[1];
    const host = given && (/(?:^|,)(?:source|src)=([^,]+)/.exec(given)?.[1] ?? /^([^:,]+):/.exec(given)?.[1]);
    return host && /^[/~.]/.test(host) ? [{ role: 'into', word: host }] : [];
  });
}
