// The hooks in one settings file of Gemini CLI or of an extension, and what the CLI makes of their shape. Pure.
// Source: measurements on 0.61.0.

import { list, object, text } from '../fields.ts';
import { launcherName } from '../install/command.ts';
import { parsed, parseJson } from '../install/json-text.ts';
import { gemini } from './driver.ts';
import { ownNamePrefix } from './install-table.ts';

export interface HookEntry {
  event: string;
  name: string;
  /** Undefined = not a text, so that the CLI cannot run it. */
  command: string | undefined;
  isOwn: boolean;
}

export interface EntryFault {
  state: 'warn' | 'fail';
  what: string;
  isOwn: boolean;
}

/** Above it a timer fires at once. */
const maxTimeoutMs = 2_147_483_647;

/** Never throws. */
export function readEntries(content: string): { entries: HookEntry[]; faults: EntryFault[] } {
  let root: Record<string, unknown>;
  try {
    root = object(parsed(content, parseJson(content)));
  } catch {
    return { entries: [], faults: [fault('fail', 'is not JSON, so Gemini CLI does not start with it')] };
  }
  if (Array.isArray(root.hooks))
    return { entries: [], faults: [fault('fail', 'has "hooks" as a list, an old shape: no hook of it runs')] };
  const faults: EntryFault[] = [];
  const entries: HookEntry[] = [];
  for (const [event, groups] of Object.entries(object(root.hooks))) {
    if (event === 'enabled' || event === 'disabled') {
      faults.push(fault('warn', `has "hooks.${event}", which does nothing: the switch is "hooksConfig.${event}"`));
      continue;
    }
    for (const group of list(groups)) {
      const { hooks, command } = object(group);
      if (!Array.isArray(hooks)) {
        const isOwn = isOwnEntry(object(group));
        const why = `has a hook for ${event} without its "hooks" list, which the CLI discards`;
        if (command !== undefined || isOwn) faults.push(fault(isOwn ? 'fail' : 'warn', why, isOwn));
        continue;
      }
      for (const each of hooks.map(object)) {
        const isOwn = isOwnEntry(each);
        entries.push({ event, name: text(each.name) ?? '', command: text(each.command), isOwn });
        faults.push(...entryFaults(event, each, isOwn));
      }
    }
  }
  return { entries, faults };
}

function isOwnEntry({ name, command }: Record<string, unknown>): boolean {
  return String(name ?? '').startsWith(ownNamePrefix) || JSON.stringify(command ?? '').includes(launcherName);
}

function entryFaults(event: string, entry: Record<string, unknown>, isOwn: boolean): EntryFault[] {
  const { type, command, timeout } = entry;
  const name = (text(entry.name) ?? event).slice(0, 80);
  if (typeof command !== 'string')
    return [fault(isOwn ? 'fail' : 'warn', `gives ${name} a command that is not a text, so the hook fails`, isOwn)];
  if (type !== 'command')
    return [fault(isOwn ? 'fail' : 'warn', `gives ${name} no "type": "command", so the hook is dropped`, isOwn)];
  if (typeof timeout !== 'number') return [];
  if (timeout > maxTimeoutMs)
    return [
      fault('fail', `gives ${name} a timeout of ${timeout} ms, which overflows: the hook is killed at once`, isOwn),
    ];
  const wantedMs = (gemini.maxSeconds(event) ?? 0) * 1000;
  if (isOwn && timeout * 100 < wantedMs)
    return [
      fault('fail', `gives ${name} a timeout of ${timeout} in the wrong unit: milliseconds, ${wantedMs} here`, isOwn),
    ];
  return [];
}

function fault(state: 'warn' | 'fail', what: string, isOwn = false): EntryFault {
  return { state, what, isOwn };
}
