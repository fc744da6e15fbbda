// The built-in rules: calls that destroy what cannot be brought back, touch secrets, or would loosen wa-sync itself. Pure; what a call
// may be is bounded before it is read, so that no call costs more than its length.

import { ownerSecrets, webhookRoute } from '../../protocol/telegram-settings.ts';
import { lookAtEnded, lookAtProgram, movesAgent } from './builtin-commands.ts';
import { type Touched, touchedBy } from './file-roles.ts';
import { hasGlob } from './glob.ts';
import {
  agentNames,
  belongsToGuard,
  mayFindGuard,
  mayHoldSecrets,
  type Place,
  standsAboveGuard,
  standsAboveHomeGuard,
} from './guarded.ts';
import { absolute, bracesExpanded, normal } from './paths.ts';
import { isUnknown } from './shell-expand.ts';
import { commandsRunBy, stringsIn } from './shell-programs.ts';
import { marks } from './shell-syntax.ts';
import { isFetcher, maxCommandChars, type Reading, readShell, type Shell, type SimpleCommand } from './shell-words.ts';

export interface ToolCall {
  tool: string;
  /** The MCP server that offers the tool. */
  server: string | undefined;
  input: Readonly<Record<string, unknown>>;
}

/** What the rules know of the machine. Paths are absolute. Plain data, but for `secretsIn`. */
export interface Surroundings {
  cwd: string;
  home: string;
  /** Config, state, runtime and data directories of wa-sync. */
  own: readonly string[];
  /** Values of variables that the daemon knows, as `XDG_CONFIG_HOME`. */
  variables?: Readonly<Record<string, readonly string[]>>;
  /** Where a word leads with links followed as far as it exists: by the word from `cwd`, else by its absolute path. */
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
  'unknown',
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

/** Undefined = nests deeper than can be written down. */
export function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    return undefined;
  }
}

/** The command line of a shell tool. */
export function commandOf({ input }: ToolCall): string | undefined {
  return typeof input.command === 'string' ? input.command : undefined;
}

/** What no system takes for a path. */
const maxPathChars = 4096;
/** More than a person reads: where links lead is looked at for so many. */
export const maxPaths = 200;
const maxDepth = 8;
const maxTexts = 2_000;

/** Arguments that name a file or folder. */
function pathArguments({ tool, server, input }: ToolCall): string[] {
  if (server === undefined && readers.has(tool)) return [];
  return textsIn(input).flatMap(([key, value]) => {
    if (value.length >= maxPathChars || value.includes('\n')) return [];
    const isPath = /path|file|dest|target|source|uri|dir/i.test(key) || /^(\/|~|[a-z]:[\\/]|file:\/\/)/i.test(value);
    return isPath ? [value] : [];
  });
}

/** Each text in the arguments with the name that it stands under, also in lists and objects. */
function textsIn(input: unknown): [key: string, value: string][] {
  const texts: [string, string][] = [];
  const visit = (value: unknown, key: string, depth: number) => {
    if (texts.length >= maxTexts) return;
    if (typeof value === 'string') texts.push([key, value]);
    if (typeof value !== 'object' || value === null || depth > maxDepth) return;
    for (const [name, each] of Object.entries(value)) visit(each, Array.isArray(value) ? key : name, depth + 1);
  };
  visit(input, '', 0);
  return texts;
}

/** The command lines of a call. Of an MCP tool also what it takes under another name, and in a list. */
function commandsIn(call: ToolCall): string[] {
  const command = commandOf(call);
  if (call.server === undefined && command !== undefined) return [command];
  if (call.server === undefined && readers.has(call.tool)) return [];
  const { input } = call;
  const lines: string[] = command === undefined ? [] : [command];
  const words = (value: unknown) =>
    Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string')
      ? (value as string[]).map(asWord).join(' ')
      : undefined;
  const visit = (value: Readonly<Record<string, unknown>>, depth: number) => {
    for (const [key, each] of Object.entries(value)) {
      if (lines.length > maxWays) return;
      const inner = Array.isArray(each) ? each : [each];
      for (const one of depth < maxDepth ? inner : []) {
        if (typeof one === 'object' && one !== null) visit(one as Record<string, unknown>, depth + 1);
      }
      const list = words(each);
      if (list !== undefined) lines.push(list);
      if (/^(args|argv|arguments|parameters)$/i.test(key) && list !== undefined) {
        const program = value.command ?? value.cmd ?? value.program ?? value.executable;
        if (typeof program === 'string') lines.push(`${program} ${list}`);
      }
      const texts = Array.isArray(each) ? each.filter((one) => typeof one === 'string' && /\s/.test(one)) : [each];
      if (!commandKey.test(key)) continue;
      for (const text of texts) if (typeof text === 'string' && text !== command) lines.push(text);
    }
  };
  visit(input, 0);
  return [...new Set(lines)];
}

const commandKey = /^(cmd|script|code|args?|command|commands|shell|bash|exec|command_?line|cmdline|run)$/i;
const maxWays = 32;

function asWord(text: string): string {
  return /^[\w./:=@%+,~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}

/** A shell tool may be told to run its command in another folder. */
function startOf({ input }: ToolCall, world: Shell): Shell {
  const dir = ['dir_path', 'directory', 'cwd', 'workdir', 'working_directory', 'workingDirectory']
    .map((key) => input[key])
    .find((value) => typeof value === 'string' && value !== '' && value.length < maxPathChars);
  if (typeof dir !== 'string') return world;
  return { ...world, cwd: normal(absolute(fromHome(dir, world.home), world.cwd)) };
}

/** Each name of a file in a call with the folders that it may be meant from, for `resolved`. */
export function pathsOf(call: ToolCall, world: Omit<Surroundings, 'resolved'>): Map<string, string> {
  const paths = new Map<string, string>();
  const note = (word: string, folders: readonly string[]) => {
    for (const base of folders) {
      if (isUnknown(word) || word === '' || word.length >= maxPathChars || paths.size > maxPaths) continue;
      const path = absolute(fromHome(word, world.home), base);
      paths.set(base === world.cwd ? word : normal(path), path);
    }
  };
  for (const word of pathArguments(call)) note(word, [world.cwd]);
  for (const line of commandsIn(call)) {
    for (const each of readShell(line, startOf(call, world)).commands) {
      if (hasNames(each)) for (const word of namesIn(each)) note(word, each.folders);
    }
  }
  return paths;
}

/** The simple commands of a call as a policy's pattern is compared with them; undefined = nobody can read them. */
export function commandTexts(
  call: ToolCall,
  world: Pick<Surroundings, 'cwd' | 'home' | 'variables'>,
): string[] | undefined {
  const command = commandOf(call);
  if (command === undefined) return [];
  const { commands, tooMuch } = readShell(command, startOf(call, world));
  if (tooMuch) return undefined;
  const texts = commands.flatMap(({ words, source }) => [source, words.join(' ')]);
  return [...new Set([command.trim(), ...texts])].filter((text) => text !== '');
}

export type Add = (rule: BuiltinRule, why: string) => void;

export function findDangers(call: ToolCall, world: Surroundings): Finding[] {
  const findings = new Map<BuiltinRule, string>();
  const add: Add = (rule, why) => void (findings.has(rule) || findings.set(rule, why));
  const looked: Looked = { place: world, world, start: startOf(call, world), add, seen: new Set() };
  const command = commandOf(call);
  for (const line of commandsIn(call)) {
    // Only under `command` it is sure to be the language of a shell.
    const lookAs: Looked = line === command ? looked : { ...looked, add: withoutDoubt(add) };
    lookAtCommand(line, lookAs);
    if (line !== command) lookAtCode(line, lookAs);
  }
  if (pathsOf(call, world).size > maxPaths) add('too-long', 'names more files than can be looked at');
  const changes = /delete|remove|move|rename|write|unlink|trash|chmod|replace|edit|create|copy|link|put|save/i.test(
    call.tool,
  );
  for (const path of pathArguments(call)) {
    lookAtName(path, [world.cwd], looked);
    if (changes) lookAtTouched({ role: 'change', word: path }, [world.cwd], looked);
  }
  for (const [key, value] of textsIn(call.input)) {
    if (key !== 'command' && (!readers.has(call.tool) || call.server !== undefined) && isSql(key, value, call)) {
      add('drop-table', 'drops or empties a table');
    }
    if (world.secretsIn(value) > 0) add('secret-content', 'holds a secret in its text');
  }
  return [...findings].map(([rule, why]) => ({ rule, why }));
}

/** For what may be no command at all. */
function withoutDoubt(add: Add): Add {
  return (rule, why) => rule !== 'unknown' && add(rule, why);
}

/** Words for people. */
const prose = /^(title|body|description|message|subject|summary|comment|caption)$/i;

function isSql(key: string, value: string, { server }: ToolCall): boolean {
  const text = value.slice(0, maxCommandChars);
  if (/sql|query|statement/i.test(key)) return drops.test(text);
  if (server === undefined || prose.test(key)) return false;
  return /(?:^|;)[ \t\n]{0,20}(?:DROP\s+(?:TABLE|DATABASE|SCHEMA)\s|TRUNCATE\s|DELETE\s+FROM\s+[^\s;]{1,200}\s{0,20}(?:;|$))/im.test(
    text,
  );
}

const drops = /\bDROP\s{1,9}(TABLE|DATABASE|SCHEMA)\b|\bTRUNCATE\s{1,9}TABLE\b/i;
const empties = /\bTRUNCATE\s{1,9}\w|\bDELETE\s{1,9}FROM\s{1,9}[^\s;"']{1,200}\s{0,9}(;|["']|$)|dropDatabase\(/i;
const database = /\b(psql|mysql|mariadb|sqlite3?|sqlcmd|clickhouse[\w-]{0,20}|mongo\w{0,9}|duckdb|cqlsh|bq)\b/;
/** Programs that only print, look for or keep what they are given. */
const inert = /^(git|echo|printf|grep|rg|ag|cat|sed|awk|gh|glab|less|head|tail|wa-sync|hub|ack|tee)$/;

interface Looked {
  place: Place;
  world: Surroundings;
  start: Shell;
  add: Add;
  /** What was looked at. */
  seen: Set<string>;
}

function lookAtCommand(line: string, looked: Looked): void {
  const { world, add } = looked;
  const { commands, tooMuch }: Reading = readShell(line, looked.start);
  if (tooMuch) add('too-long', 'is too long to be judged');
  lookAtNaming(line, commands, add);
  const fetched = new Set<string>();
  for (const each of commands) {
    const one = each.isGuess ? { ...looked, add: withoutDoubt(add) } : looked;
    lookAtProgram(each, world, one.add);
    lookAtFetched(each, fetched, one.add);
    const folders = foldersOf(each);
    for (const touched of touchedBy(each)) lookAtTouched(touched, folders, one, each.lost);
    if (hasNames(each)) for (const word of namesIn(each)) lookAtName(word, folders, one);
  }
  lookAtEnded(commands, add);
  lookAtMoved(commands, add);
  const text = line.slice(0, maxCommandChars);
  const isDatabase = database.test(text);
  const said = (pattern: RegExp) =>
    commands.some(({ words: [name = '', ...rest], texts, from }) => {
      if (inert.test(name) && !(isDatabase && !/^(git|grep|rg)$/.test(name))) return false;
      return [...rest, ...texts, ...(from?.texts ?? [])].some((each) => pattern.test(each));
    });
  if ((drops.test(text) && said(drops)) || (isDatabase && empties.test(text) && said(empties))) {
    add('drop-table', 'drops or empties a table');
  }
}

/** `export HOME=x; gemini`, `env HOME=x gemini`: elsewhere an agent finds no hooks. Also settings named in the words of an editor. */
function lookAtMoved(commands: readonly SimpleCommand[], add: Add): void {
  const startsAgent = commands.some(({ words: [name = ''] }) => agentNames.some((agent) => name === agent));
  const moves = commands.some(({ words, assigned }) => [...words, ...assigned].some((word) => movesAgent.test(word)));
  if (startsAgent && moves) add('own', 'starts a coding agent where it finds no hooks');
  const edits = commands.some(
    ({ words: [name = '', ...rest], texts }) =>
      writesByScript.test(name) && [...rest, ...texts].some((word) => agentSettings.test(word)),
  );
  if (edits) add('own', 'names the settings of a coding agent');
}

/** Programs that write files which their script names. */
const writesByScript = /^(g?sed|ed|ex|vim?|nvim|[gmn]?awk|sqlite3|psql|duckdb|emacs)$/;
const agentSettings =
  /\.(?:gemini\/(?:settings\.json|extensions|hooks|policies|trusted\w{1,20}\.json)|claude\/(?:settings|hooks|plugins)|codex\/(?:config\.toml|hooks|rules))/i;

/** The text of a program in another language. */
function lookAtCode(code: string, looked: Looked): void {
  const [text, folders] = [code.slice(0, maxCommandChars), [looked.world.cwd]];
  for (const words of commandsRunBy(['python', text])) {
    const command = { ...noCommand, words, folders };
    lookAtProgram(command, looked.world, looked.add);
    for (const touched of touchedBy(command)) lookAtTouched(touched, folders, looked);
  }
  for (const each of stringsIn(text)) lookAtName(each, folders, looked);
}

const noCommand: SimpleCommand = {
  ...{ words: [], writes: [], reads: [], texts: [], assigned: [], folders: [], from: undefined, source: '' },
  ...{ lost: false, fetches: false, isGuess: true, isInner: true },
};

/** What belongs to wa-sync is known by its name wherever it stands, also quoted in parts. */
const ownPath =
  /(?:^|[^\w.@/-]|(?<!\/\/[\w.-]{1,80}(?:\/[\w.-]{1,80})?)\/)wa-sync[/\\]|(?:\.config|state|share|run\/\d{0,9}|user\/\d{1,9}|run|Local|Roaming|Support|_(?:HOME|DIR))[}"']{0,3}[/\\]["']?wa-sync(?![\w.-])/i;
const ownName =
  /\bwa-hook(?!s)|\bhook\.sock\b|\bWA_(?:CONFIG|STATE|RUNTIME)_DIR\b|\bphone-key\b|\bWA_AGENT_TOKEN\b|\bwa_(?:inbox|outbox|policy|audit)\.json/i;

/** What lets one speak as the owner: the secrets of the relay, and where its platforms call it. */
function namesRelay(text: string): boolean {
  const lower = text.toLowerCase();
  return ownerNames.some((name) => lower.includes(name));
}

const ownerNames = [...ownerSecrets, webhookRoute].map((name) => name.toLowerCase());

function lookAtNaming(line: string, commands: readonly SimpleCommand[], add: Add): void {
  const words = commands.flatMap((each) => [...each.words, ...each.writes, ...each.reads, ...each.assigned]);
  for (const text of [line.slice(0, maxCommandChars), ...words]) {
    if (ownPath.test(text) || ownName.test(text) || namesRelay(text))
      add('own', 'names what belongs to the guard itself');
  }
}

const runsCode = /^((ba|z|da|k|a|fi)?sh|eval|source|\.|python[\d.]*|node|deno|bun|perl|ruby|php|pwsh|powershell)$/;

function lookAtFetched({ words, fetches, from, writes }: SimpleCommand, files: Set<string>, add: Add): void {
  const [program = '', ...rest] = words;
  const runs = () => add('pipe-to-shell', 'runs what it downloads');
  const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);
  if (runsCode.test(program)) {
    if (fetches) runs();
    const isScript = rest.some((word) => !word.startsWith('-'));
    let source = from;
    for (let steps = 0; source !== undefined && steps < 16; steps += 1, source = source.from) {
      if (isFetcher(source.words[0] ?? '') && (!isScript || rest.includes('-s') || rest.includes('-'))) runs();
    }
  }
  const script = runsCode.test(program) ? rest.find((word) => !word.startsWith('-')) : program;
  if (script !== undefined && files.has(nameOf(script))) runs();
  if (!isFetcher(program)) return;
  const named = rest.flatMap((word, at) =>
    /^(-\w*[oO]|--output|--output-document)$/.test(word) ? [rest[at + 1] ?? ''] : [],
  );
  const remote = rest.filter(
    (word) => /^https?:/.test(word) && (program === 'wget' || rest.some((flag) => /^-\w*O/.test(flag))),
  );
  for (const file of [...named, ...remote, ...writes])
    if (nameOf(file) !== '' && files.size < maxPaths) files.add(nameOf(file));
}

/** With `-C` and its kin the program goes elsewhere first. */
function foldersOf({ words, folders }: SimpleCommand): readonly string[] {
  const at = words.findIndex((word) => /^(-C|--chdir|--directory|--prefix|--cwd|-D)$/.test(word));
  const joined = /^--(?:chdir|directory|prefix|cwd)=(.+)$/s.exec(
    words.find((word) => word.startsWith('--')) ?? '',
  )?.[1];
  const to = at > 0 ? words[at + 1] : joined;
  if (to === undefined || to.length > maxPathChars || isUnknown(to)) return folders;
  return [...new Set([...folders.map((base) => normal(absolute(to, base))), ...folders])];
}

/** Those of what it runs are its own, but for the strings in a program's text. */
function hasNames({ isInner, words: [program] }: SimpleCommand): boolean {
  return !isInner || program === 'open';
}

/** What of a command may be the name of a file. */
function namesIn({ words: [program = '', ...rest], writes, reads }: SimpleCommand): string[] {
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
function fromHome(word: string, home: string): string {
  return word.replace(/^~(?=\/|$)/, home).replace(/^(\$HOME|\$\{HOME\})(?=\/|$)/, home);
}

function placesOf(word: string, folders: readonly string[], { world }: Looked): string[] {
  const given = bracesExpanded(fromHome(word, world.home)).flatMap((each) =>
    folders.map((base) => normal(absolute(each, base))),
  );
  const known = [word, ...given].flatMap((each) => world.resolved.get(each) ?? []);
  return [...new Set([...given, ...known.map(normal)])];
}

function lookAtName(word: string, folders: readonly string[], looked: Looked): void {
  // No path is so long, but what a shell makes of it may be one.
  if (word.length >= maxPathChars && /^[^\s"]*[*?][^\s"]*$/.test(word))
    looked.add('too-long', 'holds a pattern that nobody can read');
  if (word === '' || word.length >= maxPathChars || looked.seen.has(word + folders)) return;
  looked.seen.add(word + folders);
  const shown = shownWord(word);
  for (const path of placesOf(word, folders, looked)) {
    if (mayHoldSecrets(path)) looked.add('secret-file', `touches ${shown}, which may hold secrets`);
    if (belongsToGuard(path, looked.place)) {
      looked.add('own', `touches ${shown}, which belongs to the guard itself`);
    }
  }
}

function lookAtTouched(touched: Touched, folders: readonly string[], looked: Looked, isLost = false): void {
  const { word, role } = touched;
  const { add, place } = looked;
  const key = `${role} ${word} ${folders} ${touched.arriving} ${touched.named}`;
  if (word === '' || word.length >= maxPathChars || looked.seen.has(key)) return;
  looked.seen.add(key);
  const shown = shownWord(word);
  if (isUnknown(word) || (isLost && !/^(\/|~|[a-z]:)/i.test(word))) {
    add('unknown', `writes or removes ${shown}, which only the shell knows`);
    if (isUnknown(word)) return;
  }
  const own = () => add('own', `touches ${shown}, which what guards wa-sync lies in`);
  for (const path of placesOf(word, folders, looked)) {
    if (role === 'into') {
      if (comesUponGuard(path, touched.arriving, place)) own();
    } else if (touched.named !== undefined) {
      if (mayFindGuard(path, touched.named, place)) own();
    } else if (path.includes('**')) {
      const at = path.indexOf('/**');
      if (mayFindGuard(path.slice(0, at) || '/', [path.slice(path.lastIndexOf('/') + 1)], place)) own();
    } else if (standsAboveGuard(path, place) || (!hasGlob(path) && role === 'remove' && standsAboveGuard(path, place)))
      own();
  }
}

/** What comes into a folder is known by its name, or may be anything; of a project's own folder that is usual. */
function comesUponGuard(folder: string, arriving: readonly string[] | undefined, place: Place): boolean {
  if (arriving === undefined) return standsAboveHomeGuard(folder, place) || /\/\.(gemini|claude|codex)$/i.test(folder);
  return arriving.some((name) => {
    const path = normal(`${folder}/${name}`);
    return belongsToGuard(path, place) || standsAboveGuard(path, place);
  });
}

function shownWord(word: string): string {
  return word.replaceAll(marks.unknown, '$(…)').slice(0, 200);
}
