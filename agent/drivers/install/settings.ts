// The entries of wa-sync in the text of a settings file with hooks, whose shape several coding agents share. Pure; changes no other byte.

import { isDeepStrictEqual } from 'node:util';
import type { Node } from 'jsonc-parser';
import { object } from '../fields.ts';
import type { InstallDirs } from '../workstation.ts';
import { append, itemsOf, member, parsed, parseJson, remove, replace } from './json-text.ts';

/** An item of the list of an event. */
export interface HookGroup {
  matcher?: string;
  hooks: [Readonly<Record<string, unknown>>];
}

/** What an agent's settings get. */
export interface HookTable {
  readonly events: readonly string[];
  groupOf(event: string, dirs: InstallDirs): HookGroup;
  /** Whether an entry of a settings file is one of wa-sync, of whatever version. */
  isOwn(entry: Readonly<Record<string, unknown>>): boolean;
}

/** Why a text cannot be edited; undefined = it can. Comments are allowed, and stay. */
export function settingsProblem(text: string, table: HookTable): string | undefined {
  let root: Node;
  try {
    root = parseJson(text);
  } catch (error) {
    return error instanceof RangeError ? 'it is nested too deeply' : 'it is not JSON (empty or damaged)';
  }
  if (root.type !== 'object') return 'it is not a JSON object';
  const hooks = member(root, 'hooks');
  if (hooks && hooks.type !== 'object') return '"hooks" in it is not an object';
  const odd = table.events.find((event) => (member(hooks, event)?.type ?? 'array') !== 'array');
  return odd && `"hooks.${odd}" in it is not an array`;
}

/** The text with the hook of each event exactly once and up to date. Returns an equal text when nothing has to change. */
export function withHooks(text: string | undefined, dirs: InstallDirs, table: HookTable): string {
  const groups = new Map(table.events.map((event) => [event, table.groupOf(event, dirs)]));
  if (text === undefined) {
    const hooks = Object.fromEntries([...groups].map(([event, group]) => [event, [group]]));
    return `${JSON.stringify({ hooks }, null, 2)}\n`;
  }
  const isInPlace = ({ event, matcher }: Located) => {
    const wanted = groups.get(event);
    // A matcher of the user stays where the installed group has none.
    return wanted !== undefined && (wanted.matcher === undefined || wanted.matcher === matcher);
  };
  let edited = dropWhere(
    text,
    table,
    (own, index, all) =>
      !isInPlace(own) || all.findIndex((each) => each.event === own.event && isInPlace(each)) !== index,
  );
  for (const [event, group] of groups) {
    const own = locateOwn(edited, table).find((found) => found.event === event);
    const root = parseJson(edited);
    const hooks = member(root, 'hooks');
    const list = member(hooks, event);
    if (own && !isDeepStrictEqual(own.entry, group.hooks[0])) edited = replace(edited, own.node, group.hooks[0]);
    if (own) continue;
    if (list) edited = append(edited, list, undefined, group);
    else if (hooks) edited = append(edited, hooks, event, [group]);
    else edited = append(edited, root, 'hooks', { [event]: [group] });
  }
  return edited;
}

/** The text without the entries of wa-sync, and without the containers that this empties and that `before` did not have. */
export function withoutHooks(text: string, before: string | undefined, table: HookTable): string {
  return dropWhere(text, table, () => true, before);
}

/** The command lines of the entries of wa-sync; empty for a text that cannot be edited. */
export function ownCommands(text: string | undefined, table: HookTable): string[] {
  if (text === undefined || settingsProblem(text, table) !== undefined) return [];
  return locateOwn(text, table).map(({ entry }) => String(entry.command));
}

interface Located {
  event: string;
  node: Node;
  entry: { command?: unknown };
  group: Node;
  list: Node;
  hooks: Node;
  matcher: unknown;
}

function locateOwn(text: string, table: HookTable): Located[] {
  const hooks = member(parseJson(text), 'hooks');
  return itemsOf(hooks, 'object').flatMap(({ key: event, value: list }) =>
    itemsOf(list, 'array').flatMap(({ value: group }) => {
      const given = member(group, 'matcher');
      const matcher = given && parsed(text, given);
      return itemsOf(member(group, 'hooks'), 'array').flatMap(({ value: node }) => {
        const entry = object(parsed(text, node));
        if (!hooks || !table.isOwn(entry)) return [];
        return [{ event, node, entry, group, list, hooks, matcher }];
      });
    }),
  );
}

// One entry at a time, because every edit moves the offsets of the rest.
function dropWhere(
  text: string,
  table: HookTable,
  isSurplus: (own: Located, index: number, all: Located[]) => boolean,
  before?: string,
): string {
  const hooksBefore = before === undefined ? undefined : member(parseJson(before), 'hooks');
  for (let edited = text; ; ) {
    const own = locateOwn(edited, table).findLast(isSurplus);
    if (own === undefined) return edited;
    const { event, node, group, list, hooks } = own;
    const isAlone = (item: Node) => item.parent?.children?.length === 1;
    let outermost = isAlone(node) ? group : node;
    if (outermost === group && isAlone(group) && !member(hooksBefore, event)) outermost = list;
    if (outermost === list && hooks.children?.length === 1 && !hooksBefore) outermost = hooks;
    edited = remove(edited, outermost);
  }
}
