// The built-in rules: calls that destroy what cannot be brought back, touch secrets, or would loosen wa-sync itself. Pure.

import { lookAtProgram } from './builtin-commands.ts';
import { absolute, bracesExpanded, globExpanded, normal, withKnownFolders } from './paths.ts';
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
  /** Where a `cd` in the command led. */
  at?: string;
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
  'too-long',
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

/** What no system takes for a path. */
const maxPathChars = 4096;

/** Arguments that name a file or folder. */
export function pathArguments({ tool, input }: ToolCall): string[] {
  if (readers.has(tool)) return [];
  return textsIn(input).flatMap(([key, value]) =>
    value.length < maxPathChars && /path|file|dest|target|source|uri|dir/i.test(key) ? [value] : [],
  );
}

const maxDepth = 8;

/** Each text in the arguments with the name that it stands under, also in lists and objects. */
function textsIn(value: unknown, key = '', depth = 0): [key: string, value: string][] {
  if (typeof value === 'string') return [[key, value]];
  if (typeof value !== 'object' || value === null || depth > maxDepth) return [];
  if (Array.isArray(value)) return value.flatMap((each) => textsIn(each, key, depth + 1));
  return Object.entries(value).flatMap(([name, each]) => textsIn(each, name, depth + 1));
}

/** The words of a command that may be paths, for `resolved`. */
export function pathWords(command: string): string[] {
  return simpleCommands(command.slice(0, maxCommandChars)).flatMap((each) => namesIn(each));
}

export function findDangers(call: ToolCall, world: Surroundings): Finding[] {
  const findings = new Map<BuiltinRule, string>();
  const add: Add = (rule, why) => void (findings.has(rule) || findings.set(rule, why));
  const command = commandOf(call);
  if (command !== undefined) lookAtCommand(command, world, add);
  for (const path of pathArguments(call)) lookAtPath(path, world, add);
  for (const [key, value] of readers.has(call.tool) ? [] : textsIn(call.input)) {
    if (key !== 'command' && /\bDROP\s+(TABLE|DATABASE|SCHEMA)\b/i.test(value) && /sql|query|statement/i.test(key)) {
      add('drop-table', 'drops a table');
    }
    if (world.secretsIn(value) > 0) add('secret-content', 'holds a secret in its text');
  }
  return [...findings].map(([rule, why]) => ({ rule, why }));
}

export type Add = (rule: BuiltinRule, why: string) => void;

const interpreter = String.raw`(?:[^\s|]*\/)?(?:sh|bash|zsh|dash|ksh|fish|python[\d.]*|node|perl|ruby|php)\b`;
const pipedIntoShell = new RegExp(
  String.raw`\|\s*(?:(?:sudo|doas|env|command|exec|nohup)\s+(?:-\S+\s+)*)?${interpreter}`,
);
const shellOfDownload =
  /(?:\b(?:sh|bash|zsh|dash|ksh|eval|source)|(?:^|[;&|(\s])\.)\s[^|;&]{0,500}(?:[$<]\(|`)\s*(?:curl|wget)\b/;
const database = /\b(psql|mysql|mariadb|sqlite3?|sqlcmd|clickhouse\S*|mongo\w*)\b/;

/** A `cd` further down is not followed: each later name is looked at from there. */
const maxFolderChars = 512;

/** Longer than anybody reads, and judged within the time of a hook. */
const maxCommandChars = 65_536;

function lookAtCommand(whole: string, world: Surroundings, add: Add): void {
  const command = whole.slice(0, maxCommandChars);
  if (command.length < whole.length) add('too-long', 'is too long to be judged');

  let { cwd: at } = world;
  for (const each of simpleCommands(command)) {
    const here = { ...world, at };
    lookAtProgram(each, here, add);
    for (const word of namesIn(each)) lookAtPath(word, here, add);
    const [program = '', target = '~'] = each.words;
    if (program !== 'cd' && program !== 'pushd') continue;
    const moved = normal(absolute(withKnownFolders(target, { ...world, cwd: at }), at));
    if (moved.length < maxFolderChars) at = moved;
  }
  const drops = /\bDROP\s+(TABLE|DATABASE|SCHEMA)\b|\bTRUNCATE\s+TABLE\b/i.test(command);
  const empties = /\bTRUNCATE\s+\w|\bDELETE\s+FROM\s+[^\s;"']+\s*(;|["']|$)|dropDatabase\(/i.test(command);
  if (drops || (empties && database.test(command))) add('drop-table', 'drops or empties a table');
  if (/\b(curl|wget)\b/.test(command) && (pipedIntoShell.test(command) || shellOfDownload.test(command))) {
    add('pipe-to-shell', 'runs what it downloads');
  }
  if (/wa_(inbox|outbox|policy|audit)\.json/i.test(command)) add('own', 'touches a file of wa-sync');
}

/** What of a command may be the name of a file. */
function namesIn({ words: [program = '', ...rest], writes, reads }: SimpleCommand): string[] {
  const words = rest.map(withoutKey);
  // `-d @file`, `-F part=@file`
  const sent = program === 'curl' ? words.flatMap((word) => /@(.+)$/s.exec(word)?.[1] ?? []) : [];
  return [...words, ...sent, ...writes, ...reads];
}

/** `of=x`, `--file=x` */
function withoutKey(word: string): string {
  return /^(?:--?)?[\w-]+=(.+)$/s.exec(word)?.[1] ?? word;
}

const secretFile =
  /(^|\/)(\.env(\.(?!example$|sample$|template$|dist$)[\w.-]+)?|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.git-credentials|id_(rsa|dsa|ecdsa|ed25519)[\w.-]*|authorized_keys|credentials(\.\w+)?|secrets?\.(json|ya?ml|toml|env)|[^/]*\.(pem|key|p12|pfx|keystore|jks))$|(^|\/)\.(ssh|aws|gnupg|kube|docker)(\/|$)/i;

function lookAtPath(word: string, world: Surroundings, add: Add): void {
  if (word === '') return;
  const { cwd, at = cwd, home } = world;
  const given = bracesExpanded(word)
    .flatMap((each) => [cwd, at].map((base) => normal(absolute(withKnownFolders(each, { home, cwd: base }), base))))
    .flatMap(globExpanded);
  for (const path of [...given, ...(world.resolved.get(word) ?? [])].map(normal)) {
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
