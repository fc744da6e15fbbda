// The built-in rules for one simple command of a shell. Pure.

import type { Add, Surroundings } from './builtin.ts';
import { absolute, bracesExpanded, normal, withKnownFolders } from './paths.ts';
import type { SimpleCommand } from './shell-words.ts';

const diskDevice = /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|r?disk)/;

export function lookAtProgram({ words, writes }: SimpleCommand, world: Surroundings, add: Add): void {
  const [program = '', ...rest] = words;
  const flags = rest.filter((word) => word.startsWith('-'));
  const targets = rest.filter((word) => !word.startsWith('-'));
  const short = (letters: RegExp) => flags.some((flag) => /^-[A-Za-z]+$/.test(flag) && letters.test(flag));
  const recursive = short(/[rR]/) || flags.includes('--recursive') || /^(rd|rmdir|rimraf)$/i.test(program);
  if (program === 'find') {
    if (rest.includes('-delete') || /-exec\w*\s+(\S*\/)?rm\b/.test(rest.join(' ')))
      lookAtDeleted(startsOf(rest), world, add);
  } else if (
    (/^(rm|rd|rmdir|shred|rimraf)$/i.test(program) && recursive) ||
    (/^remove-item$/i.test(program) && flags.some((flag) => /^-rec/i.test(flag)))
  ) {
    // `xargs rm -r`: the names come when it runs.
    lookAtDeleted(targets.length === 0 ? ['{}'] : targets, world, add);
  } else if (program === 'rsync' && flags.some((flag) => flag.startsWith('--del'))) {
    lookAtDeleted(targets.slice(-1), world, add);
  }
  if (program === 'git') lookAtGit(rest, add);
  if (/^mkfs|^(wipefs|fdisk|parted|diskpart)$/.test(program)) add('disk', 'writes to a disk itself');
  if (program === 'format' && targets.some((target) => /^[a-z]:/i.test(target))) add('disk', 'writes to a disk itself');
  const onto = /^(dd|tee|cp|shred)$/.test(program) ? rest.map((word) => word.replace(/^of=/, '')) : [];
  if ([...onto, ...writes].some((word) => diskDevice.test(word))) add('disk', 'writes to a disk itself');
  if (/^ch(mod|own)$/.test(program) && recursive && targets.some((target) => isBroad(target, world))) {
    add('delete-root', 'changes the rights of a whole tree');
  }
  if (program === 'dropdb' || (program === 'redis-cli' && rest.some((word) => /^flush(all|db)$/i.test(word)))) {
    add('drop-table', 'empties a database');
  }
  const at = words.findIndex((word) => /(^|[/\\])wa-sync(\.c?m?js|\.cmd)?(@[\w.-]+)?$/.test(word));
  if (at >= 0) lookAtOwn(words.slice(at + 1), add);
}

/** What only shows, sends or starts is left alone: the model is told to use some of it. */
function lookAtOwn(words: readonly string[], add: Add): void {
  const has = (pattern: RegExp) => words.some((word) => pattern.test(word));
  if (has(/^(hooks|service|setup|rotate|uninstall)$/)) add('own', 'changes the installation of wa-sync');
  const [verb = ''] = words.filter((word) => !word.startsWith('-'));
  if (/^(down|stop|sprint|away)$/.test(verb)) add('own', 'stops or steers wa-sync');
  if (verb === 'letters' && has(/^(retry|drop)$/)) add('own', 'sends or drops a letter of wa-sync');
}

/** Where `find` begins to look. */
function startsOf(words: readonly string[]): string[] {
  const end = words.findIndex((word) => word.startsWith('-'));
  return words.slice(0, Math.max(1, end));
}

function lookAtDeleted(targets: readonly string[], world: Surroundings, add: Add): void {
  const broad = targets.find((target) => isBroad(target, world));
  if (broad === '{}') add('delete-root', 'deletes what is only known when it runs');
  else if (broad !== undefined) add('delete-root', `deletes ${broad} with all that is in it`);
}

/** Options before the verb that take the next word. */
const gitValues = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--config-env', '--super-prefix']);

function lookAtGit(words: readonly string[], add: Add): void {
  let at = 0;
  while (words[at]?.startsWith('-')) at += gitValues.has(words[at] as string) ? 2 : 1;
  const [verb, ...rest] = words.slice(at);
  const has = (pattern: RegExp) => rest.some((word) => pattern.test(word));
  const discards = (why: string) => add('discard-work', why);
  // git takes a long option by any beginning that means only it.
  const forced = has(/^--for|^-[a-zA-Z]*f/);
  if (verb === 'push' && has(/^--(for|mi|de|pru)|^-[a-z]*[fd][a-z]*$|^\+|^:./)) {
    add('force-push', 'overwrites or removes what others may have pushed');
  }
  if (verb === 'filter-branch' || verb === 'filter-repo') add('force-push', 'rewrites the history');
  if (verb === 'reset' && has(/^--har/)) discards('throws uncommitted work away');
  if (verb === 'clean' && forced) discards('deletes untracked files');
  if (verb === 'checkout' && (forced || has(/^(--|\.)$/))) discards('throws uncommitted work away');
  if (verb === 'switch' && (forced || has(/^--disc/))) discards('throws uncommitted work away');
  if (verb === 'restore' && (!has(/^(--sta|-S)/) || has(/^(--wor|-W)/))) discards('throws uncommitted work away');
  if (verb === 'stash' && has(/^(drop|clear)$/)) discards('deletes what was put aside');
  if (verb === 'branch' && (has(/^-[a-zA-Z]*D/) || (forced && has(/^(--de|-d)/)))) discards('deletes unmerged work');
  if (verb === 'worktree' && has(/^remove$/) && forced) discards('deletes a working tree');
  if ((verb === 'update-ref' && has(/^-d$/)) || (verb === 'reflog' && has(/^(expire|delete)$/))) {
    discards('removes what leads back to lost commits');
  }
}

function isBroad(target: string, world: Surroundings): boolean {
  if (target === '{}') return true;
  const { cwd, home, at = cwd } = world;
  return bracesExpanded(target).some((each) => [cwd, at].some((base) => isBroadFrom(each, base, { cwd, home })));
}

function isBroadFrom(target: string, base: string, { cwd, home }: { cwd: string; home: string }): boolean {
  const known = withKnownFolders(target, { home, cwd: base });
  // A variable may be empty.
  if (/^\$(?!\{?TMPDIR\b)/.test(known)) return true;
  const bare = known.replace(/(\/\.?\*?)+$/, '') || '/';
  if (/^(~\w*|\*|\.\*)$/.test(bare)) return true;
  const path = normal(absolute(bare, base));
  if (path.split('/').filter((part) => part !== '').length <= 1 || /^[a-z]:\/?$/i.test(path)) return true;
  if (/^\/(home|users)\/[^/]+$/i.test(path) || path.endsWith('/.git')) return true;
  const isAbove = (other: string) => `${normal(other)}/`.startsWith(`${path}/`);
  return isAbove(cwd) || isAbove(home);
}
