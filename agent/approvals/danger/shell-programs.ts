// Programs whose arguments are a command or a script: what they would run. Pure.

import { agentOf } from './guarded.ts';
import { unescaped } from './shell-marks.ts';

function named(words: string): ReadonlySet<string> {
  return new Set(words.trim().split(/\s+/));
}

/** Run the command that begins at one of their words; which one depends on their options, so each is tried. */
const runners = named(`
  sudo doas env command exec builtin nohup time nice ionice stdbuf setsid chrt timeout xargs parallel watch flock
  strace ltrace unshare chroot busybox toybox ssh docker podman kubectl npx bunx pnpm npm yarn dlx pnpx find fd
  faketime systemd-run proot fakeroot unbuffer entr taskset runuser setpriv pkexec caffeinate nsenter firejail bwrap
  dbus-run-session xvfb-run catchsegv chronic gtimeout screen poetry uv pipenv bundle direnv nix conda mamba asdf
  mise dotenv cross-env aws-vault op doppler
`);

/** Take a script as one of their words. */
const shells = named('sh bash zsh dash ksh fish ash su powershell pwsh cmd');
/** Of these only a word with a space in it may be a script. */
const maybeShells = named(`
  ssh watch parallel script env tmux screen npx npm pnpm yarn flock runuser vim vi nvim ed ex entr expect at
  concurrently hyperfine rsync tar gdb nodemon scp sftp zip less man sort nix-shell
`);
const databases = /^(psql|mysql|mariadb|sqlite3)$/;
/** What of their words is given to a shell. */
const shellEscape = /^\s{0,9}(?:\.shell|\.system|\\!|system)\s(.+)$/s;
const stdinShells = /^((ba|z|da|k|a|fi)?sh|at|batch|pwsh|powershell)$/;
const interpreters = /^(python[\d.]*|pypy3?|node|nodejs|deno|bun|tsx|perl|ruby|php|[gmn]?awk|lua|osascript|Rscript)$/;
const removesTree = /rmtree|rm_r|remove_tree|rmSync|rmdirSync|removeSync|RemoveAll|rimraf|\brm\(/;
const changesFiles =
  /\b(os\.(remove|unlink|rename|replace|chmod)|unlink\w*|rename\w*|chmod\w*|chown\w*|shutil\.move|move|File\.delete)\b/;

const maxTried = 16;

/** The program's name without its folder, and without the version of a package. */
export function programOf(word: string): string {
  const name = word.slice(Math.max(word.lastIndexOf('/'), word.lastIndexOf('\\')) + 1).replace(/\.(exe|cmd)$/i, '');
  return name.replace(/(?<=.)@[\w.-]*$/, '');
}

/** Each is a program with its arguments. */
export function commandsRunBy([program = '', ...rest]: readonly string[]): string[][] {
  if (interpreters.test(program)) return rest.filter(isCode).flatMap(callsIn);
  if (!runners.has(program)) return [];
  if (program === 'find' || program === 'fd') return executed(rest);
  // Behind what is written stand the names that xargs reads.
  const added = program === 'xargs' ? ['{}'] : [];
  return rest
    .slice(0, maxTried)
    .flatMap((word, at) => (/^-|^\w+=/.test(word) ? [] : [[programOf(word), ...rest.slice(at + 1), ...added]]));
}

/** Behind it stands what `find` runs. */
export const runsFound = /^(-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/;

/** `find … -exec rm {} ;`; of a `find` that runs another one, both. What `find` finds is judged where it is said. */
function executed(words: readonly string[]): string[][] {
  const marks = words.flatMap((word, at) => (runsFound.test(word) ? at : []));
  const found: string[][] = [];
  for (const [index, at] of marks.entries()) {
    const [name = ''] = words.slice(at + 1, at + 2);
    const inner = /^(find|fd)$/.test(programOf(name)) ? marks[index + 1] : undefined;
    const end = inner ?? words.findIndex((word, place) => place > at && (word === ';' || word === '+'));
    const rest = words.slice(at + 2, end < 0 ? undefined : end).filter((word) => word !== '{}');
    found.push([programOf(name), ...rest]);
    if (inner === undefined) break;
  }
  return found;
}

export interface Script {
  text: string;
  /** It may be something else. */
  isGuess: boolean;
  /** It runs in the shell that reads it. */
  isSame: boolean;
}

/** Scripts in the words of a command, in the language of the shell. */
export function scriptsOf([program = '', ...rest]: readonly string[]): Script[] {
  const script = (text: string): Script => ({ text, isGuess: false, isSame: false });
  const guess = (text: string): Script => ({ text, isGuess: true, isSame: false });
  if (program === 'eval') return [{ text: rest.join(' '), isGuess: false, isSame: true }];
  if (program === 'trap') return rest.slice(0, 1).map(script);
  if (program === 'alias') return rest.flatMap((word) => /^[^=]+=(.+)$/s.exec(word)?.[1] ?? []).map(script);
  if (interpreters.test(program)) return rest.filter(isCode).flatMap(stringsIn).map(guess);
  if (program === 'git') return gitScripts(rest).map(guess);
  if (program === 'sed') return rest.flatMap((word) => /^(?:\d+|\$)?e\s+(.+)$/s.exec(word)?.[1] ?? []).map(guess);
  if (program === 'find' || program === 'fd') return executed(rest).flatMap(scriptsOf);
  if (shells.has(program)) {
    const at = rest.findIndex((word) => /^(-\w*c|\/c|-command)$/i.test(word));
    const text = rest.slice(at + 1).find((word) => !word.startsWith('-'));
    // Words of a script that is a file are no scripts, but may be to `cmd` and `su`.
    if (at < 0 || text === undefined) return rest.filter((word) => /\s/.test(word)).map(guess);
    return /^(cmd|powershell|pwsh)$/.test(program) ? [script(rest.slice(at + 1).join(' '))] : [script(text)];
  }
  if (databases.test(program)) return rest.flatMap((word) => shellEscape.exec(word)?.[1] ?? []).map(guess);
  if (!maybeShells.has(program)) return [];
  return rest
    .filter((word) => /\s/.test(word))
    .map((word) => guess(word.replace(/^(--?[\w-]+=)?(exec=|\w{0,40}Command=|shell\s)?[+:!]*/, '')));
}

const runSettings = /pager|editor|sshcommand|askpass|fsmonitor|external|textconv|helper|cmd/i;

/** Values of git's settings that it runs, and what `rebase -x` and its kin are given. */
function gitScripts(words: readonly string[]): string[] {
  return words.flatMap((word, at) => {
    const before = words[at - 1] ?? '';
    const alias = /^(?:--exec=|[\w.-]+=!)(.+)$/s.exec(word)?.[1] ?? (word.startsWith('!') ? word.slice(1) : undefined);
    if (alias !== undefined) return [alias];
    const [, name = '', value] = /^([\w.]*)=!?(.+)$/s.exec(word) ?? [];
    if (value !== undefined && runSettings.test(name)) return [value];
    if (/^(-x|--exec|--tree-filter|--index-filter|--upload-pack|--receive-pack|--extcmd)$/.test(before)) return [word];
    // `git config core.pager COMMAND`
    if (before.includes('.') && runSettings.test(before.slice(before.lastIndexOf('.')))) return [word];
    const joined = /^(?:--extcmd=|--upload-pack=|--receive-pack=|-O)(.+)$/s.exec(word)?.[1];
    if (joined !== undefined) return [joined];
    return before === 'foreach' || (before === 'run' && words[at - 2] === 'bisect') ? [words.slice(at).join(' ')] : [];
  });
}

/** A shell that runs what it is sent. */
export function readsStdin([program = '', ...rest]: readonly string[]): boolean {
  if (!stdinShells.test(program)) return /^(source|\.)$/.test(program) && rest[0] === '/dev/stdin';
  const names = rest.filter((word) => !word.startsWith('-') && word !== '/dev/stdin');
  return !rest.some((word) => /^-\w*c$/.test(word)) && (names.length === 0 || rest.includes('-s') || program === 'at');
}

/** An interpreter that does. */
export function takesStdinCode([program = '', ...rest]: readonly string[]): boolean {
  return (
    interpreters.test(program) &&
    !/awk$/.test(program) &&
    rest.every((word) => /^(-[a-zA-Z]?|\/dev\/stdin)$/.test(word))
  );
}

/** What a command prints, as far as it is written in it. */
export function printed([program = '', ...rest]: readonly string[], texts: readonly string[]): string[] {
  if (program === 'cat' || program === 'tee') return [...texts];
  if (program !== 'echo' && program !== 'printf') return [];
  return [unescaped(rest.filter((word) => !/^-[neE]+$/.test(word)).join(' '))];
}

/** `-c 'print(1)'`, and not the name of a script. */
function isCode(word: string): boolean {
  return /["'`(]/.test(word);
}

/** What the code names may be files; where it removes or moves some, they are what it removes or moves. */
function callsIn(code: string): string[][] {
  const home = namesHome.test(code) ? ['~'] : [];
  const strings = [...stringsIn(code), ...home];
  // `run(['rm', '-rf', '/'])`
  const lists = strings.flatMap((word, at) =>
    listed.test(word) || agentOf(word) !== undefined ? [strings.slice(at, at + maxListed)] : [],
  );
  return [
    ['open', ...strings],
    ...lists.slice(0, maxTried),
    ...(removesTree.test(code) ? [['rm', '-r', ...strings]] : []),
    ...(changesFiles.test(code) ? [['unlink', ...strings]] : []),
  ];
}

/** What a program calls the home. */
const namesHome = /\bhomedir\(|\bPath\.home\(|\bDir\.home\b|\benv(?:iron)?\W{1,3}HOME\b|\bENV\W{1,3}HOME\b/;
/** Programs whose arguments may follow them, each as a string of its own. */
const listed = /^(?:rm|shred|unlink|mv|cp|chmod|chown|git|find|dd|kill|pkill|killall|wa-sync)$/;
const maxListed = 12;
const maxStrings = 200;
/** `qw(rm -rf x)`, `%x(rm -rf x)` */
const bracketed = /(?:\bq[qwx]?|%[xwQ])\s?[({[]([^)}\]]{0,400})/g;

/** The string literals of a program, whatever its language. One look at each character. */
export function stringsIn(code: string): string[] {
  const strings: string[] = [];
  const unclosed = new Set<string>();
  for (let at = 0; at < code.length && strings.length < maxStrings; at += 1) {
    const mark = code[at] as string;
    if ((mark !== '"' && mark !== "'" && mark !== '`') || unclosed.has(mark)) continue;
    let end = at + 1;
    while (end < code.length && code[end] !== mark) end += code[end] === '\\' ? 2 : 1;
    // Without its end it is an apostrophe.
    if (end >= code.length) {
      unclosed.add(mark);
      continue;
    }
    strings.push(code.slice(at + 1, end));
    at = end;
  }
  for (const [, inner = ''] of code.matchAll(bracketed)) if (strings.length < maxStrings) strings.push(inner);
  return strings;
}
