// A tool call as the rules see it: its texts, its command lines, and the files that it names. Pure; bounded whatever a call holds.

import { toolsByAgent } from '../../drivers/any-agent.ts';
import type { Tools } from '../../drivers/driver.ts';
import { fromHome, hasNames, namesIn } from './names.ts';
import { absolute, maxPathChars, normal } from './paths.ts';
import type { Surroundings } from './rules.ts';
import { isUnknown } from './shell-expand.ts';
import type { Shell } from './shell-state.ts';
import { readShell } from './shell-words.ts';

export interface ToolCall {
  /** The coding agent that makes it, by the name of its driver. */
  agent: string;
  tool: string;
  /** The MCP server that offers the tool. */
  server: string | undefined;
  input: Readonly<Record<string, unknown>>;
}

/** The words of the coding agent that makes the call. Throws for an unknown one: a gate then denies. */
export function toolsOf(agent: string): Tools {
  const tools = toolsByAgent(agent);
  if (!tools) throw new Error(`no driver for the coding agent ${agent}`);
  return tools;
}

/** Undefined = nests deeper than can be written down. */
export function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    return undefined;
  }
}

/** The command line of a shell tool. */
export function commandOf({ agent, input }: ToolCall): string | undefined {
  return toolsOf(agent).command(input);
}

/** A tool of the agent itself that changes nothing. */
export function isReader({ agent, tool, server }: ToolCall): boolean {
  return server === undefined && toolsOf(agent).readOnly.has(tool);
}

/** More than a person reads: where links lead is looked at for so many. */
export const maxPaths = 200;
const maxDepth = 8;
const maxTexts = 2_000;

/** Arguments that name a file or folder. */
export function pathArguments(call: ToolCall): string[] {
  if (isReader(call)) return [];
  return textsIn(call.input).flatMap(([key, value]) => {
    if (value.length >= maxPathChars || value.includes('\n')) return [];
    const isPath = /path|file|dest|target|source|uri|dir/i.test(key) || /^(\/|~|[a-z]:[\\/]|file:\/\/)/i.test(value);
    return isPath ? [value] : [];
  });
}

/** Each text in the arguments with the name that it stands under, also in lists and objects. */
export function textsIn(input: unknown): [key: string, value: string][] {
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
export function commandsIn(call: ToolCall): string[] {
  const command = commandOf(call);
  if (call.server === undefined && command !== undefined) return [command];
  if (isReader(call)) return [];
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
export function startOf({ agent, input }: ToolCall, world: Shell): Shell {
  const dir = [toolsOf(agent).folder, 'directory', 'cwd', 'workdir', 'working_directory', 'workingDirectory']
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

/** The simple commands of a call as a policy's pattern is compared with them; undefined = beyond the limits of reading. */
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
