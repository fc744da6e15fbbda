// The JSON of the two files: parses what any program may have written, salvages the whole entries of a file that is truncated, doubled
// or torn, and serialises what wa-sync writes. Pure; never throws.

import { isoSeconds } from '../../protocol/files.ts';
import { sha256Hex } from '../crypto.ts';
import { type Entry, type MailboxKind, mergeByIdentity } from './merge.ts';

/** Deeper nesting than any entry has. */
const maxDepth = 32;

/** A torn file needs two or three looks at each character and few vain tries; the limit stops a text that is slow by design. */
const looksPerCharacter = 4;
const minLooks = 1_000_000;
/** A failed `JSON.parse` of a short text takes as long as this many looks. */
const vainTryLooks = 200;

const quote = 0x22;
const backslash = 0x5c;
const firstPrintable = 0x20;

export interface ParsedMailbox {
  state: 'missing' | 'empty' | 'ok' | 'malformed';
  /** Complete: each entry has every field that the contract fixes. One entry per identity. */
  entries: Entry[];
  /** True = the file lacks something that `entries` has, and should be written. */
  incomplete: boolean;
  /** Elements of `messages` that are not entries, and unknown top-level fields; kept on every rewrite. */
  rest: { elements: unknown[]; fields: Record<string, unknown> };
}

/** `modifiedAtMs`, the time of the file, completes entries without a time or id: every reader of one state derives the same values. */
export function parseMailbox(bytes: Uint8Array, kind: MailboxKind, modifiedAtMs: number): ParsedMailbox {
  const { text, isUtf8 } = decode(bytes);
  if (isUtf8) {
    if (text.trim() === '') return completed('empty', [], kind, modifiedAtMs);
    try {
      const value: unknown = JSON.parse(text);
      // Two levels are the list and the object around it. Deeper values can be parsed, but serialising them overflows the stack.
      if (isObject(value) && Array.isArray(value.messages) && isWithin(value, maxDepth + 2)) {
        const { messages, ...fields } = value;
        return completed('ok', messages, kind, modifiedAtMs, fields);
      }
    } catch {
      // Not JSON: salvaged below.
    }
  }
  return completed('malformed', salvageEntries(text), kind, modifiedAtMs);
}

/** The contract allows UTF-8 only; other encodings are read for salvage. PowerShell writes UTF-16. */
function decode(bytes: Uint8Array): { text: string; isUtf8: boolean } {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), isUtf8: true };
  } catch {
    const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
    return { text: new TextDecoder(encoding).decode(bytes), isUtf8: false };
  }
}

function completed(
  state: ParsedMailbox['state'],
  elements: readonly unknown[],
  kind: MailboxKind,
  modifiedAtMs: number,
  fields: Record<string, unknown> = {},
): ParsedMailbox {
  const entries: Entry[] = [];
  const others: unknown[] = [];
  let incomplete = false;
  for (const [index, element] of elements.entries()) {
    if (!isEntryLike(element) && !(kind === 'outbox' && asksForNothing(element))) {
      others.push(element);
      continue;
    }
    const entry = complete(element, kind, modifiedAtMs, index);
    if (entry !== element) incomplete = true;
    entries.push(entry as Entry);
  }
  const merged = mergeByIdentity(entries, kind);
  if (merged !== entries) incomplete = true;
  return { state, entries: [...merged], incomplete, rest: { elements: others, fields } };
}

/** An entry to be sent without a text: its writer waits until the entry is settled. */
function asksForNothing(element: unknown): element is Record<string, unknown> {
  return isObject(element) && element.sent === false && (element.text ?? null) === null;
}

/** Returns the same object when nothing is missing. A fixed field of a wrong type counts as missing. */
function complete(
  element: Record<string, unknown>,
  kind: MailboxKind,
  modifiedAtMs: number,
  index: number,
): Record<string, unknown> {
  const flag = kind === 'inbox' ? 'read' : 'sent';
  const missing: Record<string, unknown> = {};
  if (typeof element.id !== 'string' || element.id === '') {
    missing.id = typeof element.id === 'number' ? String(element.id) : madeId();
  }
  if (typeof element.timestamp !== 'string' || Number.isNaN(Date.parse(element.timestamp))) {
    missing.timestamp = isoSeconds(rareIsoForm(element.timestamp) ?? modifiedAtMs);
  }
  if (typeof element.text !== 'string') missing.text = '';
  if (typeof element.from !== 'string') missing.from = kind === 'inbox' ? 'user' : 'agent';
  if (typeof element[flag] !== 'boolean') missing[flag] = false;
  if ('attempt' in element && !Number.isSafeInteger(element.attempt)) missing.attempt = 0;
  return Object.keys(missing).length === 0 ? element : { ...element, ...missing };

  /** Derived, not random: a reader without the lock and the later writer must get the same id. */
  function madeId(): string {
    const digest = sha256Hex(JSON.stringify([modifiedAtMs, index, element.timestamp, element.text])).slice(0, 16);
    return `${kind === 'inbox' ? 'in' : 'resp'}_${digest}`;
  }
}

const basicOrComma =
  /^(\d{4})-?(\d\d)-?(\d\d)[T ](\d\d):?(\d\d)(?::?(\d\d)(?:[.,](\d{1,3})\d*)?)? ?(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/** ISO forms that `Date.parse` does not read: without separators, a comma before the fraction, an offset of whole hours. */
function rareIsoForm(timestamp: unknown): number | undefined {
  const match = typeof timestamp === 'string' ? basicOrComma.exec(timestamp.trim()) : null;
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second = '00', fraction = '0', zone = ''] = match;
  const offset = zone.replace(/^([+-]\d\d):?(\d\d)?$/, (_all, hours, minutes = '00') => `${hours}:${minutes}`);
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction}${offset.toUpperCase()}`);
  return Number.isNaN(at) ? undefined : at;
}

export function serialiseMailbox(entries: readonly Entry[], rest: ParsedMailbox['rest']): string {
  return `${JSON.stringify({ ...rest.fields, messages: [...entries, ...rest.elements] }, null, 2)}\n`;
}

function isEntryLike(value: unknown): value is Record<string, unknown> {
  return isObject(value) && typeof value.text === 'string';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether objects and lists are nested at most so deep. */
function isWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  for (const key in value) if (!isWithin((value as Record<string, unknown>)[key], depth - 1)) return false;
  return true;
}

/** In the order of the text. Each try starts outside strings again, so a torn string cannot hide the entries after it. */
function salvageEntries(content: string): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = [];
  let looksLeft = Math.max(minLooks, content.length * looksPerCharacter);
  let at = content.indexOf('{');
  while (at !== -1 && looksLeft > 0) {
    if (isValue(content, at)) {
      at = content.indexOf('{', at + 1);
      continue;
    }
    const { end, isWhole } = scanObject(content, at, maxDepth);
    const entries = isWhole ? entriesIn(content.slice(at, end)) : undefined;
    looksLeft -= end - at + (isWhole && !entries ? vainTryLooks : 0);
    for (const entry of entries ?? []) found.push(entry);
    at = content.indexOf('{', entries ? end : at + 1);
  }
  return found;
}

/** Undefined = neither an entry nor a mailbox: the caller looks inside. */
function entriesIn(text: string): Record<string, unknown>[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (isEntryLike(value)) return [value];
    if (isObject(value) && Array.isArray(value.messages)) return value.messages.filter(isEntryLike);
  } catch {
    // Balanced braces, but not JSON.
  }
  return undefined;
}

/** An object after a colon is part of an entry, perhaps a torn one, and not an entry itself: a quote has a `text` too. */
function isValue(content: string, at: number): boolean {
  let before = at - 1;
  while (before >= 0 && content.charCodeAt(before) <= 0x20) before -= 1;
  return content[before] === ':';
}

/** `end` = index after the brace that closes the one at `start`, or where the scan gave up: torn, or deeper than `limit`. */
function scanObject(content: string, start: number, limit: number): { end: number; isWhole: boolean } {
  let depth = 0;
  let inString = false;
  let at = start;
  for (; at < content.length; at += 1) {
    const code = content.charCodeAt(at);
    if (inString) {
      if (code === backslash) at += 1;
      else if (code === quote) inString = false;
      else if (code < firstPrintable) break;
      continue;
    }
    if (code === quote) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > limit) break;
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
      if (depth === 0) return { end: at + 1, isWhole: true };
    } else if (code === 0) break;
  }
  return { end: at, isWhole: false };
}
