// The built-in rules: calls that destroy what cannot be brought back, touch secrets, or would loosen wa-sync itself. Pure; what a call
// may be is bounded before it is read, so that no call costs more than its length.

import {
  commandOf,
  commandsIn,
  isReader,
  maxPaths,
  pathArguments,
  pathsOf,
  startOf,
  type ToolCall,
  textsIn,
} from './call.ts';
import { lookAtProgram } from './commands.ts';
import { touchedBy } from './file-roles.ts';
import { placeOf } from './guarded.ts';
import { foldersOf, hasNames, namesIn } from './names.ts';
import { lookAtEnded, lookAtMoved, lookAtNaming } from './own-commands.ts';
import { nameOf } from './paths.ts';
import type { Add, BuiltinRule, Finding, Surroundings } from './rules.ts';
import { commandsRunBy, stringsIn } from './shell-programs.ts';
import { isFetcher, maxCommandChars, type Reading, readShell, type SimpleCommand } from './shell-words.ts';
import { type Looked, lookAtName, lookAtTouched } from './touched.ts';

export function findDangers(call: ToolCall, world: Surroundings): Finding[] {
  const findings = new Map<BuiltinRule, Finding>();
  const add: Add = (rule, reason, of) =>
    void (findings.has(rule) || findings.set(rule, { rule, reason, ...(of === undefined ? {} : { of }) }));
  const looked: Looked = { place: placeOf(world), world, start: startOf(call, world), add, seen: new Set() };
  const command = commandOf(call);
  for (const line of commandsIn(call)) {
    // Only under `command` it is sure to be the language of a shell.
    const lookAs: Looked = line === command ? looked : { ...looked, add: withoutDoubt(add) };
    lookAtCommand(line, lookAs);
    if (line !== command) lookAtCode(line, lookAs);
  }
  if (pathsOf(call, world).size > maxPaths) add('too-long', 'tooManyFiles');
  const changes = /delete|remove|move|rename|write|unlink|trash|chmod|replace|edit|create|copy|link|put|save/i.test(
    call.tool,
  );
  for (const path of pathArguments(call)) {
    lookAtName(path, [world.cwd], looked);
    if (changes) lookAtTouched({ role: 'change', word: path }, [world.cwd], looked);
  }
  for (const [key, value] of textsIn(call.input)) {
    if (value !== command && !isReader(call) && isSql(key, value, call)) {
      add('drop-table', 'dropsTable');
    }
    if (world.secretsIn(value) > 0) add('secret-content', 'holdsSecret');
  }
  return [...findings.values()];
}

/** For what may be no command at all. */
function withoutDoubt(add: Add): Add {
  return (rule, reason, of) => rule !== 'unknown' && add(rule, reason, of);
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

function lookAtCommand(line: string, looked: Looked): void {
  const { add } = looked;
  const { commands, tooMuch }: Reading = readShell(line, looked.start);
  if (tooMuch) add('too-long', 'tooLong');
  lookAtNaming(line, commands, add);
  const fetched = new Set<string>();
  for (const each of commands) {
    const one = each.isGuess ? { ...looked, add: withoutDoubt(add) } : looked;
    lookAtProgram(each, one.place, one.add);
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
    add('drop-table', 'dropsTable');
  }
}

/** The text of a program in another language. */
function lookAtCode(code: string, looked: Looked): void {
  const [text, folders] = [code.slice(0, maxCommandChars), [looked.world.cwd]];
  for (const words of commandsRunBy(['python', text])) {
    const command = { ...noCommand, words, folders };
    lookAtProgram(command, looked.place, looked.add);
    for (const touched of touchedBy(command)) lookAtTouched(touched, folders, looked);
  }
  for (const each of stringsIn(text)) lookAtName(each, folders, looked);
}

const noCommand: SimpleCommand = {
  ...{ words: [], writes: [], reads: [], texts: [], assigned: [], folders: [], from: undefined, source: '' },
  ...{ lost: false, fetches: false, isGuess: true, isInner: true },
};

const runsCode = /^((ba|z|da|k|a|fi)?sh|eval|source|\.|python[\d.]*|node|deno|bun|perl|ruby|php|pwsh|powershell)$/;

function lookAtFetched({ words, fetches, from, writes }: SimpleCommand, files: Set<string>, add: Add): void {
  const [program = '', ...rest] = words;
  const runs = () => add('pipe-to-shell', 'runsDownloaded');
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
