// Which hooks Codex would run, by its config.toml: those that a person has trusted, while the feature is on. Pure; grants nothing.

import { parse } from 'smol-toml';
import { object } from '../fields.ts';
import { itemsOf, member, parseJson } from '../install/json-text.ts';
import { isOwnCommand } from './install-table.ts';

export interface HookTrust {
  /** Whether a person has trusted a hook, and not switched it off. Whether it is still the same hook, only Codex knows. */
  has(file: string, hook: OwnHook): boolean;
  /** `[features] hooks = false` */
  isOff: boolean;
  /** The folders whose own settings Codex reads. */
  folders: ReadonlySet<string>;
}

export interface OwnHook {
  event: string;
  group: number;
  index: number;
  command: string;
}

/** A text that is not TOML trusts nothing: Codex does not start with it. */
export function readTrust(text: string): HookTrust {
  let root: Record<string, unknown> = {};
  try {
    root = object(parse(text));
  } catch {
    // Codex says so itself.
  }
  const state = object(object(root.hooks).state);
  const projects = Object.entries(object(root.projects));
  return {
    has(file, hook) {
      const { trusted_hash, enabled } = object(state[trustKey(file, hook)]);
      return typeof trusted_hash === 'string' && enabled !== false;
    },
    isOff: object(root.features).hooks === false,
    folders: new Set(projects.flatMap(([path, of]) => (object(of).trust_level === 'trusted' ? path : []))),
  };
}

/** The hooks of wa-sync in a text of hooks; empty for a text that is not JSON. */
export function ownHooks(text: string): OwnHook[] {
  try {
    return itemsOf(member(parseJson(text), 'hooks'), 'object').flatMap(({ key: event, value: groups }) =>
      itemsOf(groups, 'array').flatMap(({ value: group }, at) =>
        itemsOf(member(group, 'hooks'), 'array').flatMap(({ value: hook }, index) => {
          const command: unknown = member(hook, 'command')?.value;
          return typeof command === 'string' && isOwnCommand(command) ? [{ event, group: at, index, command }] : [];
        }),
      ),
    );
  } catch {
    return [];
  }
}

/** Without the tables about the hooks of a file; every other line stays. */
export function withoutTrust(text: string, file: string): string {
  const lines = text.split('\n');
  const isHeader = (line: string) => line.startsWith('[');
  const isOwn = (line: string) => line.startsWith(`[hooks.state.${JSON.stringify(file).slice(0, -1)}:`);
  let drops = false;
  return lines
    .filter((line) => {
      if (isHeader(line)) drops = isOwn(line);
      return !drops;
    })
    .join('\n');
}

/** By which Codex knows a hook: the file's path, the event and its place there. */
export function trustKey(file: string, { event, group, index }: OwnHook): string {
  return `${file}:${snake(event)}:${group}:${index}`;
}

/** `PreToolUse` -> `pre_tool_use` */
function snake(event: string): string {
  return event.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}
