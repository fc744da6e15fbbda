// The entries of wa-sync in the text of a file with hooks, whose shape the hosts share. Pure; changes no other byte.

import { isDeepStrictEqual } from 'node:util';
import type { Node } from 'jsonc-parser';
import { append, itemsOf, member, parsed, parseJson, remove, replace } from './json-text.ts';

/** An item of the list of an event. */
export interface HookGroup {
  matcher?: string;
  hooks: readonly [object];
}

/** What of such a file belongs to wa-sync. */
export interface OwnHooks {
  readonly events: readonly string[];
  /** The name or the command of a hook, of whatever version. */
  isOwn(hook: { name?: unknown; command?: unknown }): boolean;
  /** A text of the own hooks, of whatever version, for a file that cannot be read as JSON. */
  readonly mark: string;
}

/** Why a text cannot be edited; undefined = it can. Comments are allowed, and stay. */
export function settingsProblem(text: string, { events }: OwnHooks): string | undefined {
  let root: Node;
  try {
    root = parseJson(text);
  } catch (error) {
    return error instanceof RangeError ? 'it is nested too deeply' : 'it is not JSON (empty or damaged)';
  }
  if (root.type !== 'object') return 'it is not a JSON object';
  const hooks = member(root, 'hooks');
  if (hooks && hooks.type !== 'object') return '"hooks" in it is not an object';
  const odd = events.find((event) => (member(hooks, event)?.type ?? 'array') !== 'array');
  return odd && `"hooks.${odd}" in it is not an array`;
}

/** The text with the hook of each event exactly once and up to date. Returns an equal text when nothing has to change. */
export function withHooks(
  text: string | undefined,
  own: OwnHooks,
  group: (event: string) => HookGroup,
): string {
  const groups = new Map(own.events.map((event) => [event, group(event)]));
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
    own,
    (found, index, all) =>
      !isInPlace(found) || all.findIndex((each) => each.event === found.event && isInPlace(each)) !== index,
  );
  for (const [event, group] of groups) {
    const there = locateOwn(edited, own).find((found) => found.event === event);
    const root = parseJson(edited);
    const hooks = member(root, 'hooks');
    const list = member(hooks, event);
    if (there && !isDeepStrictEqual(there.entry, group.hooks[0])) edited = replace(edited, there.node, group.hooks[0]);
    if (there) continue;
    if (list) edited = append(edited, list, undefined, group);
    else if (hooks) edited = append(edited, hooks, event, [group]);
    else edited = append(edited, root, 'hooks', { [event]: [group] });
  }
  return edited;
}

/** The text without the entries of wa-sync, and without the containers that this empties and that `before` did not have. */
export function withoutHooks(text: string, own: OwnHooks, before: string | undefined): string {
  return dropWhere(text, own, () => true, before);
}

/** The command lines of the entries of wa-sync; empty for a text that cannot be edited. */
export function ownCommands(text: string | undefined, own: OwnHooks): string[] {
  if (text === undefined || settingsProblem(text, own) !== undefined) return [];
  return locateOwn(text, own).map(({ entry }) => String(entry.command));
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

function locateOwn(text: string, own: OwnHooks): Located[] {
  const hooks = member(parseJson(text), 'hooks');
  return itemsOf(hooks, 'object').flatMap(({ key: event, value: list }) =>
    itemsOf(list, 'array').flatMap(({ value: group }) => {
      const given = member(group, 'matcher');
      const matcher = given && parsed(text, given);
      return itemsOf(member(group, 'hooks'), 'array').flatMap(({ value: node }) => {
        const hook = { name: member(node, 'name')?.value, command: member(node, 'command')?.value };
        if (!hooks || !own.isOwn(hook)) return [];
        return [{ event, node, entry: parsed(text, node) as Located['entry'], group, list, hooks, matcher }];
      });
    }),
  );
}

// One entry at a time, because every edit moves the offsets of the rest.
function dropWhere(
  text: string,
  own: OwnHooks,
  isSurplus: (found: Located, index: number, all: Located[]) => boolean,
  before?: string,
): string {
  const hooksBefore = before === undefined ? undefined : member(parseJson(before), 'hooks');
  for (let edited = text; ; ) {
    const found = locateOwn(edited, own).findLast(isSurplus);
    if (found === undefined) return edited;
    const { event, node, group, list, hooks } = found;
    const isAlone = (item: Node) => item.parent?.children?.length === 1;
    let outermost = isAlone(node) ? group : node;
    if (outermost === group && isAlone(group) && !member(hooksBefore, event)) outermost = list;
    if (outermost === list && hooks.children?.length === 1 && !hooksBefore) outermost = hooks;
    edited = remove(edited, outermost);
  }
}
