// Programs whose arguments are a command or a script: what they would run. Pure.

import type { SimpleCommand } from './shell-words.ts';

/** Run the command that begins at one of their words; which one depends on their options, so each is tried. */
const runners = new Set([
  ...['sudo', 'doas', 'env', 'command', 'exec', 'builtin', 'nohup', 'time', 'nice', 'ionice', 'stdbuf', 'setsid'],
  ...['timeout', 'xargs', 'parallel', 'watch', 'flock', 'strace', 'unshare', 'chroot', 'busybox', 'ssh', 'docker'],
  ...['podman', 'kubectl', 'npx', 'bunx', 'pnpm', 'npm', 'yarn', 'dlx'],
]);

/** Take a script as one of their words. */
const shells = new Set([
  ...['sh', 'bash', 'zsh', 'dash', 'ksh', 'fish', 'ash', 'su', 'powershell', 'pwsh', 'cmd'],
  ...['ssh', 'watch', 'parallel', 'script', 'trap', 'env'],
]);
const stdinShells = /^(ba|z|da|k|a|fi)?sh$/;
const interpreters = /^(python[\d.]*|node|nodejs|deno|bun|perl|ruby|php|[gmn]?awk|lua|osascript)$/;
const removesTree = /rmtree|rm_r|remove_tree|rmSync|rmdirSync|removeSync|RemoveAll|rimraf|\brm\(/;

const maxTried = 16;

/** The program's name without its folder. */
export function programOf(word: string): string {
  return word.replace(/^.*[/\\]/, '').replace(/\.exe$/i, '');
}

/** Each is a program with its arguments. */
export function commandsRunBy([program = '', ...rest]: readonly string[]): string[][] {
  if (interpreters.test(program)) return rest.filter(isCode).flatMap(callsIn);
  if (!runners.has(program)) return [];
  // Behind what is written stand the names that xargs reads.
  const added = program === 'xargs' ? ['{}'] : [];
  return rest
    .slice(0, maxTried)
    .flatMap((word, at) => (word.startsWith('-') ? [] : [[programOf(word), ...rest.slice(at + 1), ...added]]));
}

/** Scripts in the words of a command, in the language of the shell. */
export function scriptsOf([program = '', ...rest]: readonly string[]): string[] {
  if (program === 'eval') return [rest.join(' ')];
  if (interpreters.test(program)) return rest.filter(isCode).flatMap(stringsIn);
  if (!shells.has(program)) return [];
  // Those that are commands already take words; only a word with a space in it is a script of theirs.
  return rest.filter((word) => !word.startsWith('-') && (!runners.has(program) || /\s/.test(word)));
}

/** A shell that runs what it is sent. */
export function readsStdin({ words: [program = '', ...rest] }: SimpleCommand): boolean {
  return stdinShells.test(program) && rest.every((word) => word.startsWith('-'));
}

/** `-c 'print(1)'`, and not the name of a script. */
function isCode(word: string): boolean {
  return /["'`(]/.test(word);
}

/** What the code names may be files; where it removes trees, they are what it removes. */
function callsIn(code: string): string[][] {
  const strings = stringsIn(code);
  return [['open', ...strings], ...(removesTree.test(code) ? [['rm', '-r', ...strings]] : [])];
}

function stringsIn(code: string): string[] {
  return [...code.matchAll(/(["'`])((?:\\.|(?!\1).)*)\1/gs)].map(([, , text = '']) => text);
}
