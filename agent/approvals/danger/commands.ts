// The built-in rules for one simple command of a shell. Pure.

import { namesFound, startsOf } from './file-roles.ts';
import { hasGlob } from './glob.ts';
import { mayFindGuard, type Place } from './guarded.ts';
import { lookAtAgents, lookAtOwn, lookAtProcesses } from './own-commands.ts';
import { absolute, isAbove, normal } from './paths.ts';
import type { Add, Reason } from './rules.ts';
import { isUnknown } from './shell-expand.ts';
import { marks } from './shell-marks.ts';
import { readsStdin, takesStdinCode } from './shell-programs.ts';
import type { SimpleCommand } from './shell-words.ts';

const diskDevice = /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|r?disk)/;

export function lookAtProgram(command: SimpleCommand, place: Place, add: Add): void {
  const { words, writes } = command;
  const [program = '', ...rest] = words;
  const flags = rest.filter((word) => word.startsWith('-'));
  const targets = rest.filter((word) => !word.startsWith('-'));
  const short = (letters: RegExp) => flags.some((flag) => /^-[A-Za-z]+$/.test(flag) && letters.test(flag));
  const recursive = short(/[rR]/) || flags.includes('--recursive') || /^(rd|rmdir|rimraf)$/i.test(program);
  if (program === 'find') {
    if (
      rest.includes('-delete') ||
      rest.some((word, at) => /^-(exec|ok)/.test(word) && /(^|\/)(rm|shred|unlink)$/.test(rest[at + 1] ?? ''))
    )
      lookAtFound(rest, command, place, add);
  } else if (
    (/^(rm|rd|rmdir|shred|rimraf)$/i.test(program) && recursive) ||
    (/^remove-item$/i.test(program) && flags.some((flag) => /^-rec/i.test(flag)))
  ) {
    lookAtDeleted(targets, command, place, add);
  } else if (program === 'rsync' && flags.some((flag) => flag.startsWith('--del'))) {
    lookAtDeleted(targets.slice(-1), command, place, add);
  } else if (program === 'mv' && targets.slice(0, -1).some((target) => /(^|\/)\.git\/*$/.test(target))) {
    add('delete-root', 'movesRepository');
  }
  lookAtSent(command, place, add);
  if (program === 'git') lookAtGit(rest, add);
  if (/^mkfs|^(mke2fs|wipefs|fdisk|parted|sgdisk|blkdiscard|diskpart|lvremove|vgremove|pvremove)$/.test(program))
    add('disk', 'writesDisk');
  if (erases[program]?.test(rest.join(' '))) add('disk', 'emptiesDisk');
  if (program === 'format' && targets.some((target) => /^[a-z]:/i.test(target))) add('disk', 'writesDisk');
  const onto = /^(dd|tee|cp|shred)$/.test(program) ? rest.map((word) => word.replace(/^of=/, '')) : [];
  if ([...onto, ...writes].some((word) => diskDevice.test(word))) add('disk', 'writesDisk');
  if (
    /^ch(mod|own|grp)$/.test(program) &&
    recursive &&
    targets.slice(1).some((target) => isBroad(target, command, place))
  ) {
    add('delete-root', 'changesTreeRights');
  }
  if (program === 'dropdb' || (program === 'redis-cli' && rest.some((word) => /^flush(all|db)$/i.test(word)))) {
    add('drop-table', 'emptiesDatabase');
  }
  lookAtRun(command, add);
  if (isFromXargs(command) && /^(rm|shred|unlink)$/.test(program)) {
    for (const source of sourcesOf(command.from)) {
      if (source.words[0] === 'find') lookAtFound(source.words.slice(1), source, place, add);
    }
  }
  lookAtProcesses(program, rest, add);
  lookAtAgents(command, add);
  const at = words.findIndex((word) => /(^|[/\\])wa-sync(\.c?m?js|\.cmd)?(@[\w.-]+)?$/.test(word));
  if (at >= 0) lookAtOwn(words.slice(at + 1), words.slice(0, at), add);
}

const erases: Readonly<Record<string, RegExp>> = {
  cryptsetup: /\b(luksFormat|erase|luksErase)\b/,
  hdparm: /--security-erase/,
  nvme: /^(format|sanitize)\b/,
  diskutil: /^(erase|secureErase|zero|partitionDisk|reformat)/i,
  zfs: /^(destroy|rollback)\b/,
  zpool: /^(destroy|labelclear)\b/,
  btrfs: /^subvolume delete\b/,
};

/** Whatever a home holds, the keys in it among the rest. */
function lookAtSent({ words, folders, isInner }: SimpleCommand, { home }: Place, add: Add): void {
  const [program = '', ...rest] = words;
  if (isInner || !/^(tar|bsdtar|zip|7z|scp|rsync|cp|rclone|restic|borg)$/.test(program)) return;
  const names = rest.filter((word, at) => !word.startsWith('-') && !/^(-C|--directory|-d)$/.test(rest[at - 1] ?? ''));
  const isUnpacking =
    /tar$/.test(program) &&
    rest.some((word, at) => /^--(extract|get|list)|^-[a-zA-Z]*[xt]/.test(word) || (at === 0 && /^[xt]/.test(word)));
  const sources = /^(scp|rsync|cp)$/.test(program) ? names.slice(0, -1) : names.slice(isUnpacking ? names.length : 0);
  const isWhole = (word: string) =>
    folders.some((base) =>
      isAbove(normal(absolute(word.replace(/^~(?=\/|$)/, home).replace(/(?<![/*])[/*]+$/, '') || '/', base)), home),
    );
  if (!isUnpacking && sources.some((word) => !isUnknown(word) && isWhole(word))) add('secret-file', 'takesHome');
}

/** Programs that run the word behind them as it is. */
const wrappers = /^(sudo|doas|env|command|exec|builtin|nohup|time|nice|setsid|xargs)$/;
/** Whose output is names of files of this project, or text that a person could read. */
const listers = /^(find|fd|git|grep|rg|ag|ls|cat|echo|printf|sort|uniq|head|tail|sed|awk|tr|cut|jq|comm|xargs)$/;

/** What runs, or which files, only the shell knows. */
function lookAtRun(command: SimpleCommand, add: Add): void {
  const { words, from, isInner, texts } = command;
  const [program = '', ...rest] = words;
  const computed = (word: string | undefined) =>
    word !== undefined && (isUnknown(word) || (hasGlob(word) && /[/?]/.test(word) && !/^\[\[?$/.test(word)));
  const cannot = (why: Reason) => add('unknown', why);
  if (!isInner && computed(program)) cannot('unknownProgram');
  if (!isInner && wrappers.test(program)) {
    const name = rest.find((word) => !/^-|^\w+=/.test(word));
    if (computed(name) && program !== 'xargs') cannot('unknownProgram');
  }
  if (program === 'eval' && rest.some(isUnknown)) cannot('runsUnknown');
  if (/^(source|\.)$/.test(program) && computed(rest[0])) cannot('runsUnknown');
  if (
    /^(\w*sh|python[\d.]*|node|perl|ruby|php)$/.test(program) &&
    rest.some(
      (word) =>
        /b64decode|fromhex|atob\(|'base64'|unpack\(|decode_base64/.test(word) &&
        /exec|eval|system|spawn|popen|run\(/.test(word),
    )
  ) {
    cannot('runsComputed');
  }
  if (
    readsStdin(words) &&
    from &&
    texts.length === 0 &&
    !/^(cat|echo|printf|curl|wget|tee)$/.test(from.words[0] ?? '')
  ) {
    cannot('runsPrinted');
  }
  if (waitsForLines(command)) cannot('runsTyped');
  if (program === 'crontab' && !isInner && !rest.includes('-l')) cannot('runsLater');
  if (isFromXargs(command) && /^(rm|shred|unlink|mv|chmod|chown|truncate|tee|sed)$/.test(program)) {
    const isChange = program !== 'sed' || rest.some((word) => /^-\w*i|^--in-place/.test(word));
    const chain = sourcesOf(from);
    const isListed = chain.length > 0 && chain.every(({ words: [name = ''] }) => listers.test(name));
    const first = chain.at(-1)?.words[0] ?? '';
    if (isChange && !(isListed && /^(find|fd|git|grep|rg|ag|ls)$/.test(first))) cannot('changesUnknown');
  }
}

/** A coding agent can type into what it has started, without another look at what it types. */
function waitsForLines({ words, from, texts, reads }: SimpleCommand): boolean {
  if (from !== undefined || texts.length > 0 || reads.length > 0) return false;
  if (words.slice(1).some((word) => /^(--(version|help)|-[vVh])$/.test(word))) return false;
  return readsStdin(words) || takesStdinCode(words);
}

function sourcesOf(from: SimpleCommand | undefined): SimpleCommand[] {
  const chain: SimpleCommand[] = [];
  for (let at = from; at !== undefined && chain.length < 16; at = at.from) chain.push(at);
  return chain;
}

/** `xargs` puts this mark behind what it runs. */
function isFromXargs({ words, isInner }: SimpleCommand): boolean {
  return isInner && words.at(-1) === '{}';
}

/** With names it is as harmless as these, in the project and where nothing else lies. */
function lookAtFound(rest: readonly string[], command: SimpleCommand, place: Place, add: Add): void {
  const names = namesFound(rest).filter((name) => !/^[*?.[\]]*$/.test(name));
  const { cwd, home } = place;
  const isHarmless = (start: string) =>
    names.length > 0 &&
    !isUnknown(start) &&
    command.folders.every((base) => {
      const path = normal(absolute(start, base));
      return !isAbove(path, home) && isAbove(cwd, path) && !mayFindGuard(path, names, place);
    });
  lookAtDeleted(
    startsOf(rest).filter((start) => !isHarmless(start)),
    command,
    place,
    add,
  );
}

function lookAtDeleted(targets: readonly string[], command: SimpleCommand, place: Place, add: Add): void {
  const broad = targets.find((target) => isBroad(target, command, place));
  if (broad === '{}') add('delete-root', 'deletesUnknown');
  else if (broad !== undefined) {
    add('delete-root', 'deletesTree', broad.replaceAll(marks.unknown, '$(…)').slice(0, 200));
  }
}

/** Options before the verb that take the next word. */
const gitValues = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--config-env', '--super-prefix']);

function lookAtGit(words: readonly string[], add: Add): void {
  let at = 0;
  while (words[at]?.startsWith('-')) at += gitValues.has(words[at] as string) ? 2 : 1;
  // `-c alias.x='push -f' x`
  const alias = words.slice(0, at).flatMap((word) => /^alias\.([\w-]+)=([^!].*)$/s.exec(word)?.slice(1) ?? []);
  const isAlias = alias[0] !== undefined && alias[0] === words[at];
  const [verb, ...rest] = isAlias ? [...(alias[1] ?? '').split(/\s+/), ...words.slice(at + 1)] : words.slice(at);
  const has = (pattern: RegExp) => rest.some((word) => pattern.test(word));
  const discards = (why: Reason) => add('discard-work', why);
  if (verb !== undefined && isUnknown(verb)) add('unknown', 'unknownGit');
  // git takes a long option by any beginning that means only it.
  const forced = has(/^--for|^-[a-zA-Z]*f/);
  if (verb === 'push' && has(/^--(for|mi|de|pru)|^-[abceg-z]*[fd][a-z]*$|^\+|^:./)) {
    add('force-push', 'overwritesPushed');
  }
  if (verb === 'filter-branch' || verb === 'filter-repo') add('force-push', 'rewritesHistory');
  if (verb === 'reset' && has(/^--har/)) discards('discardsWork');
  if (verb === 'clean' && forced) discards('deletesUntracked');
  if (verb === 'checkout' && (forced || has(/^(--|\.)$/))) discards('discardsWork');
  if (verb === 'switch' && (forced || has(/^--disc/))) discards('discardsWork');
  if (verb === 'restore' && (!has(/^(--sta|-S)/) || has(/^(--wor|-W)/))) discards('discardsWork');
  if (verb === 'stash' && has(/^(drop|clear)$/)) discards('deletesStash');
  if (verb === 'branch' && (has(/^-[a-zA-Z]*D/) || (forced && has(/^(--de|-d)/)))) discards('deletesUnmerged');
  if (verb === 'worktree' && has(/^remove$/) && forced) discards('deletesWorktree');
  if ((verb === 'update-ref' && has(/^-d$/)) || (verb === 'reflog' && has(/^(expire|delete)$/))) {
    discards('losesCommits');
  }
}

function isBroad(target: string, { folders, lost }: SimpleCommand, place: Place): boolean {
  if (target === '{}') return true;
  if (lost && !target.startsWith('/')) return true;
  // It may be empty.
  if (target.startsWith(marks.unknown)) return true;
  return folders.some((base) => isBroadFrom(target, base, place));
}

function isBroadFrom(target: string, base: string, { cwd, home }: Pick<Place, 'cwd' | 'home'>): boolean {
  if (/(^|\/)\.\*$/.test(target)) return isBroadFrom(`${target.slice(0, -2)}.`, base, { cwd, home });
  let end = target.length;
  // What a folder holds is as much as the folder.
  while (end > 0 && /[/*]/.test(target[end - 1] as string)) end -= 1;
  const bare = target.slice(0, end).replace(/(?<=^|\/)\.$/, '') || (target.startsWith('/') ? '/' : '.');
  if (/[^/]/.test(target.slice(end)) && end > 0 && target[end - 1] !== '/' && target[end] !== '/')
    return isNearRoot(normal(absolute(target, base)));
  const path = normal(absolute(bare, base));
  if (isNearRoot(path) || /\/\.git(\/(objects|refs)(\/|$)|$)/.test(path)) return true;
  return isAbove(path, cwd) || isAbove(path, home);
}

function isNearRoot(path: string): boolean {
  if (path.split('/').filter((part) => part !== '').length <= 1 || /^[a-z]:\/?$/i.test(path)) return true;
  return /^\/(home|users)\/[^/]+$/i.test(path);
}
