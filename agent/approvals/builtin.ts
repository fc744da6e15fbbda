// The built-in rules: calls that destroy what cannot be brought back, touch secrets, or would loosen wa-sync itself. Pure.

import { type SimpleCommand, simpleCommands } from './shell-words.ts';

export interface ToolCall {
  tool: string;
  /** The MCP server that offers the tool. */
  server: string | undefined;
  input: Readonly<Record<string, unknown>>;
}

/** What the rules know of the machine. Paths are absolute. */
export interface Surroundings {
  cwd: string;
  home: string;
  /** Config, state, runtime and data directories of wa-sync. */
  own: readonly string[];
  /** Absolute form of a path argument with links followed as far as it exists, and the form without. */
  resolved: ReadonlyMap<string, readonly string[]>;
  /** How many secrets a text holds. */
  secretsIn(text: string): number;
}

export interface Finding {
  rule: BuiltinRule;
  why: string;
}

export const builtinRules = [
  'delete-root',
  'force-push',
  'discard-work',
  'drop-table',
  'disk',
  'pipe-to-shell',
  'secret-file',
  'secret-content',
  'own',
] as const;

export type BuiltinRule = (typeof builtinRules)[number];

/** No policy opens it: it guards the guard. */
export const neverAllowed: BuiltinRule = 'own';

/** Tools that only look. Their paths are not writes. */
const readers = new Set([
  ...['read_file', 'read_many_files', 'list_directory', 'glob', 'search_file_content', 'grep_search'],
  ...['google_web_search', 'web_fetch', 'save_memory', 'ask_user', 'get_internal_docs', 'activate_skill'],
]);

/** The command line of a shell tool. */
export function commandOf({ input }: ToolCall): string | undefined {
  return typeof input.command === 'string' ? input.command : undefined;
}

/** Arguments that name a file or folder. */
export function pathArguments({ tool, input }: ToolCall): string[] {
  if (readers.has(tool)) return [];
  return Object.entries(input).flatMap(([key, value]) =>
    typeof value === 'string' && value.length < 4096 && /path|file|dest|target|source|uri|dir/i.test(key)
      ? [value]
      : [],
  );
}

/** The words of a command that may be paths, for `resolved`. */
export function pathWords(command: string): string[] {
  return simpleCommands(command).flatMap(({ words, writes }) => [...words.slice(1).map(withoutKey), ...writes]);
}

export function findDangers(call: ToolCall, world: Surroundings): Finding[] {
  const findings = new Map<BuiltinRule, string>();
  const add = (rule: BuiltinRule, why: string) => void (findings.has(rule) || findings.set(rule, why));
  const command = commandOf(call);
  if (command !== undefined) {
    for (const each of simpleCommands(command)) lookAtCommand(each, world, add);
    if (/\bDROP\s+(TABLE|DATABASE|SCHEMA)\b|\bTRUNCATE\s+TABLE\b/i.test(command)) add('drop-table', 'drops a table');
    if (
      /\|\s*(?:sudo\s+)?(?:\S*\/)?(?:sh|bash|zsh|dash|python3?|node)\b/.test(command) &&
      /\b(curl|wget)\b/.test(command)
    ) {
      add('pipe-to-shell', 'runs what it downloads');
    }
    if (/wa_(inbox|outbox|policy|audit)\.json/i.test(command)) add('own', 'touches a file of wa-sync');
    if (/\bwa-sync(?:\.js)?['"]?\s+(?:\S+\s+)*?(hooks|service|setup|rotate|uninstall)\b/.test(command)) {
      add('own', 'changes the installation of wa-sync');
    }
  }
  for (const path of pathArguments(call)) lookAtPath(path, world, add);
  for (const [key, value] of Object.entries(call.input)) {
    if (typeof value !== 'string' || readers.has(call.tool)) continue;
    if (key !== 'command' && /\bDROP\s+(TABLE|DATABASE|SCHEMA)\b/i.test(value) && /sql|query|statement/i.test(key)) {
      add('drop-table', 'drops a table');
    }
    if (world.secretsIn(value) > 0) add('secret-content', 'holds a secret in its text');
  }
  return [...findings].map(([rule, why]) => ({ rule, why }));
}

type Add = (rule: BuiltinRule, why: string) => void;

function lookAtCommand({ words, writes }: SimpleCommand, world: Surroundings, add: Add): void {
  const [program = '', ...rest] = words;
  const flags = rest.filter((word) => word.startsWith('-'));
  const targets = rest.filter((word) => !word.startsWith('-'));
  const short = (letters: RegExp) => flags.some((flag) => /^-[A-Za-z]+$/.test(flag) && letters.test(flag));
  const recursive = short(/[rR]/) || flags.includes('--recursive') || /^(rd|rmdir)$/i.test(program);
  const deletes =
    (/^(rm|rd|rmdir|shred)$/i.test(program) && recursive) ||
    (/^remove-item$/i.test(program) && flags.some((flag) => /^-rec/i.test(flag))) ||
    (program === 'find' && (rest.includes('-delete') || /-exec\w*\s+(\S*\/)?rm\b/.test(rest.join(' '))));
  if (deletes) {
    const from =
      program === 'find'
        ? rest.slice(
            0,
            Math.max(
              1,
              rest.findIndex((word) => word.startsWith('-')),
            ),
          )
        : targets;
    const broad = from.find((target) => isBroad(target, world));
    if (broad !== undefined) add('delete-root', `deletes ${broad} with all that is in it`);
  }
  if (program === 'git') lookAtGit(rest, add);
  if (/^mkfs|^(wipefs|fdisk|parted|diskpart|format)$/.test(program)) add('disk', 'writes to a disk itself');
  if (program === 'dd' && rest.some((word) => word.startsWith('of=/dev/'))) add('disk', 'writes to a disk itself');
  if (/^ch(mod|own)$/.test(program) && recursive && targets.some((target) => isBroad(target, world))) {
    add('delete-root', 'changes the rights of a whole tree');
  }
  for (const word of [...rest.map(withoutKey), ...writes]) lookAtPath(word, world, add);
}

/** `of=x`, `--file=x` */
function withoutKey(word: string): string {
  return /^(?:--?)?[\w-]+=(.+)$/s.exec(word)?.[1] ?? word;
}

function lookAtGit(words: string[], add: Add): void {
  const [verb, ...rest] = words.filter(
    (word, index) => !(word.startsWith('-') && index < 1) && words[index - 1] !== '-C',
  );
  const has = (...flags: string[]) =>
    rest.some((word) => flags.some((flag) => word === flag || word.startsWith(`${flag}=`)));
  if (words.includes('push')) {
    const forced = words.some((word) => /^--(force\S*|mirror|delete|prune)$|^-[a-z]*[fd][a-z]*$|^\+|^:./.test(word));
    if (forced) add('force-push', 'overwrites or removes what others may have pushed');
  }
  if (verb === 'reset' && has('--hard')) add('discard-work', 'throws uncommitted work away');
  if (verb === 'clean' && rest.some((word) => /^-[a-z]*f|^--force/.test(word)))
    add('discard-work', 'deletes untracked files');
  if (verb === 'filter-branch' || verb === 'filter-repo') add('force-push', 'rewrites the history');
}

function isBroad(target: string, { cwd, home }: Surroundings): boolean {
  // A variable may be empty.
  if (/^["']?\$(?!\{?(PWD|TMPDIR)\b)/.test(target)) return true;
  const bare = target.replace(/^~(?=\/|$)/, home).replace(/(\/\.?\*?)+$/, '') || '/';
  if (/^(~\w*|\*|\.\*)$/.test(bare)) return true;
  const path = normal(absolute(bare, cwd));
  if (path.split('/').filter((part) => part !== '').length <= 1 || /^[a-z]:\/?$/i.test(path))
    return !/^\/(tmp)\/./.test(path);
  if (/^\/(home|users)\/[^/]+$/i.test(path) || path.endsWith('/.git')) return true;
  const isAbove = (other: string) => `${normal(other)}/`.startsWith(`${path}/`);
  return isAbove(cwd) || isAbove(home);
}

const secretFile =
  /(^|\/)(\.env(\.(?!example$|sample$|template$|dist$)[\w.-]+)?|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.git-credentials|id_(rsa|dsa|ecdsa|ed25519)[\w.-]*|authorized_keys|credentials(\.\w+)?|secrets?\.(json|ya?ml|toml|env)|[^/]*\.(pem|key|p12|pfx|keystore|jks))$|(^|\/)\.(ssh|aws|gnupg|kube|docker)(\/|$)/i;

function lookAtPath(word: string, world: Surroundings, add: Add): void {
  if (word === '') return;
  const given = normal(absolute(word.replace(/^~(?=\/|$)/, world.home), world.cwd));
  for (const path of [given, ...(world.resolved.get(word) ?? []).map(normal)]) {
    const lower = path.toLowerCase();
    if (secretFile.test(path)) add('secret-file', `touches ${word.slice(0, 200)}, which may hold secrets`);
    const isOwn = world.own.some((dir) => `${lower}/`.startsWith(`${normal(dir).toLowerCase()}/`));
    // `cd .gemini` makes every later name in it a name of ours.
    const inGemini = /(^|\/)\.gemini(\/(wa_[^/]*|\.wa-tmp-[^/]*|settings\.json|extensions(\/.*)?|hooks(\/.*)?))?$/.test(
      lower,
    );
    if (isOwn || inGemini) add('own', `touches ${word.slice(0, 200)}, which belongs to the guard itself`);
  }
}

function absolute(path: string, cwd: string): string {
  const slashed = path.replaceAll('\\', '/').replace(/^file:\/\//, '');
  return slashed.startsWith('/') || /^[a-z]:\//i.test(slashed) ? slashed : `${cwd}/${slashed}`;
}

/** Without `.`, `..` and doubled slashes. */
function normal(path: string): string {
  const parts: string[] = [];
  for (const part of path.replaceAll('\\', '/').split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}
