// The entries of wa-sync in the text of a Gemini CLI settings file or an extension's hooks.json. Pure; changes no other byte.

import { isDeepStrictEqual } from 'node:util';
import { append, type JsonNode, member, parsed, parseNodes, plainJson, remove, replace } from './install-json-text.ts';
import { isObject } from './install-record.ts';
import {
  type HookEntry,
  type HookRow,
  hookEntry,
  hookGroup,
  hookTable,
  type LauncherPlace,
  ownNamePrefix,
} from './install-table.ts';

/** Why a text cannot be edited; undefined = it can. Comments are allowed, as in Gemini CLI, and stay. */
export function settingsProblem(text: string): string | undefined {
  let settings: unknown;
  try {
    settings = JSON.parse(plainJson(text));
    parseNodes(text);
  } catch (error) {
    return error instanceof RangeError ? 'it is nested too deeply' : 'it is not JSON (empty or damaged)';
  }
  if (!isObject(settings)) return 'it is not a JSON object';
  const { hooks } = settings;
  if (hooks === undefined) return undefined;
  if (!isObject(hooks)) return '"hooks" in it is not an object';
  const odd = hookTable.find(({ event }) => hooks[event] !== undefined && !Array.isArray(hooks[event]));
  return odd && `"hooks.${odd.event}" in it is not an array`;
}

/** The text with each row of the table exactly once and up to date. Returns an equal text when nothing has to change. */
export function withHooks(text: string | undefined, place: LauncherPlace): string {
  if (text === undefined) {
    const hooks = Object.fromEntries(hookTable.map((row) => [row.event, [hookGroup(row, place)]]));
    return `${JSON.stringify({ hooks }, null, 2)}\n`;
  }
  let edited = dropUnless(
    text,
    [],
    (own, seen) => hookTable.some((row) => row.event === own.event && hasMatcher(own, row)) && !seen.has(own.event),
  );
  for (const row of hookTable) edited = placeEntry(edited, row, place);
  return edited;
}

/** The text without the entries of wa-sync and without the containers that this empties, except the paths in `emptyBefore`. */
export function withoutHooks(text: string, emptyBefore: readonly string[]): string {
  return dropUnless(text, emptyBefore, () => false);
}

/** Paths of `hooks` and `hooks.<Event>` that are empty. */
export function emptyPaths(text: string): string[] {
  const hooks = member(parseNodes(text), 'hooks');
  if (hooks === undefined) return [];
  if (hooks.items.length === 0) return ['hooks'];
  return hooks.items
    .filter(({ value }) => value.kind === 'array' && value.items.length === 0)
    .map(({ key }) => `hooks.${key}`);
}

export interface OwnEntry {
  event: string;
  entry: Partial<HookEntry>;
  /** Matcher of the group; absent where the row of the table has no matcher, because any is accepted there. */
  matcher?: unknown;
}

/** The entries of wa-sync, in file order. */
export function ownEntries(text: string): OwnEntry[] {
  return locateOwn(text).map(({ event, node, matcher }) => {
    const entry = parsed(text, node) as Partial<HookEntry>;
    return hookTable.some((row) => row.event === event && row.matcher !== undefined)
      ? { event, entry, matcher }
      : { event, entry };
  });
}

interface Located {
  event: string;
  node: JsonNode;
  root: JsonNode;
  hooks: JsonNode;
  list: JsonNode;
  group: JsonNode;
  siblings: JsonNode;
  matcher: unknown;
}

/** A matcher that the user added stays, unless the row of the table has one. */
function hasMatcher({ matcher }: Located, row: HookRow): boolean {
  return row.matcher === undefined || row.matcher === matcher;
}

function locateOwn(text: string): Located[] {
  const root = parseNodes(text);
  const hooks = member(root, 'hooks');
  if (hooks?.kind !== 'object') return [];
  return hooks.items.flatMap(({ key: event = '', value: list }) =>
    list.items.flatMap(({ value: group }) => {
      const siblings = member(group, 'hooks');
      if (list.kind !== 'array' || siblings?.kind !== 'array') return [];
      const given = member(group, 'matcher');
      const matcher = given && parsed(text, given);
      return siblings.items
        .map(({ value: node }) => ({ event, node, root, hooks, list, group, siblings, matcher }))
        .filter(({ node }) => isOwn(parsed(text, node)));
    }),
  );
}

function isOwn(value: unknown): boolean {
  return isObject(value) && typeof value.name === 'string' && value.name.startsWith(ownNamePrefix);
}

function placeEntry(text: string, row: HookRow, place: LauncherPlace): string {
  const { event } = row;
  const entry = hookEntry(row, place);
  const own = locateOwn(text).find((found) => found.event === event);
  if (own !== undefined)
    return isDeepStrictEqual(parsed(text, own.node), entry) ? text : replace(text, own.node, entry);
  const root = parseNodes(text);
  const hooks = member(root, 'hooks');
  if (hooks === undefined) return append(text, root, 'hooks', { [event]: [hookGroup(row, place)] });
  const list = member(hooks, event);
  if (list === undefined) return append(text, hooks, event, [hookGroup(row, place)]);
  return append(text, list, undefined, hookGroup(row, place));
}

// One entry at a time, because every edit moves the offsets of the rest.
function dropUnless(
  text: string,
  emptyBefore: readonly string[],
  keep: (own: Located, seen: ReadonlySet<string>) => boolean,
): string {
  for (let edited = text; ; ) {
    const seen = new Set<string>();
    const surplus = locateOwn(edited).find((own) => {
      const kept = keep(own, seen);
      seen.add(own.event);
      return !kept;
    });
    if (surplus === undefined) return edited;
    edited = dropEntry(edited, surplus, emptyBefore);
  }
}

function dropEntry(
  text: string,
  { event, node, root, hooks, list, group, siblings }: Located,
  emptyBefore: readonly string[],
): string {
  const without = (container: JsonNode, value: JsonNode) =>
    remove(
      text,
      container,
      container.items.findIndex((item) => item.value.start === value.start),
    );
  if (siblings.items.length > 1) return without(siblings, node);
  if (list.items.length > 1 || emptyBefore.includes(`hooks.${event}`)) return without(list, group);
  if (hooks.items.length > 1 || emptyBefore.includes('hooks')) return without(hooks, list);
  return without(root, hooks);
}
