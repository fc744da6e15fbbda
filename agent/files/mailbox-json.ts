// The JSON of the two files: parse what anybody may have written, serialise what we write. Pure.

import { isoSeconds } from '../../protocol/files.ts';
import { sha256Hex } from '../crypto.ts';
import type { Entry, MailboxKind } from './entry.ts';
import { mergeByIdentity } from './merge.ts';
import { isEntryLike, isObject, maxDepth, nestsDeeper, salvageEntries } from './salvage.ts';

export interface ParsedMailbox {
  state: 'ok' | 'empty' | 'malformed';
  /** Completed, every field that the contract fixes is there, and one per identity. */
  entries: Entry[];
  /** True when the file lacks what `entries` has, so that it should be written. */
  incomplete: boolean;
  /** Elements of `messages` that are no entries, and top-level fields of others; kept on every rewrite. */
  rest: { elements: unknown[]; fields: Record<string, unknown> };
}

/** `modifiedAtMs`, the file's own time, completes what lacks a time or id: every reader of one state makes the same ones. */
export function parseMailbox(bytes: Uint8Array, kind: MailboxKind, modifiedAtMs: number): ParsedMailbox {
  const { text, isUtf8 } = decode(bytes);
  if (isUtf8) {
    if (text.trim() === '') return completed('empty', [], kind, modifiedAtMs);
    try {
      // The list and the object around it are no part of an entry.
      const value: unknown = nestsDeeper(text, maxDepth + 2) ? undefined : JSON.parse(text);
      if (isObject(value) && Array.isArray(value.messages)) {
        const { messages, ...fields } = value;
        return completed('ok', messages, kind, modifiedAtMs, fields);
      }
    } catch {
      // Not JSON: what can be read of it is below.
    }
  }
  return completed('malformed', salvageEntries(text), kind, modifiedAtMs);
}

/** Other encodings are not the contract's; they are read only to salvage from them. PowerShell writes UTF-16. */
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
    const entry = complete(element, { kind, modifiedAtMs, index });
    if (entry !== element) incomplete = true;
    entries.push(entry as Entry);
  }
  const merged = mergeByIdentity(entries, kind);
  if (merged !== entries) incomplete = true;
  return { state, entries: [...merged], incomplete, rest: { elements: others, fields } };
}

/** It stands there to be sent, and has no text: whoever wrote it waits to see it settled. */
function asksForNothing(element: unknown): element is Record<string, unknown> {
  return isObject(element) && element.sent === false && (element.text ?? null) === null;
}

interface Completion {
  kind: MailboxKind;
  modifiedAtMs: number;
  /** Place in `messages`. */
  index: number;
}

/** The same object when nothing was missing. Wrong types of the fixed fields are completed like missing ones. */
function complete(element: Record<string, unknown>, completion: Completion): Record<string, unknown> {
  const { kind, modifiedAtMs } = completion;
  const flag = kind === 'inbox' ? 'read' : 'sent';
  const missing: Record<string, unknown> = {};
  if (typeof element.id !== 'string' || element.id === '') {
    missing.id = typeof element.id === 'number' ? String(element.id) : madeId(element, completion);
  }
  if (typeof element.timestamp !== 'string' || Number.isNaN(Date.parse(element.timestamp))) {
    missing.timestamp = isoSeconds(rareIsoForm(element.timestamp) ?? modifiedAtMs);
  }
  if (typeof element.text !== 'string') missing.text = '';
  if (typeof element.from !== 'string') missing.from = kind === 'inbox' ? 'user' : 'agent';
  if (typeof element[flag] !== 'boolean') missing[flag] = false;
  if ('attempt' in element && !Number.isSafeInteger(element.attempt)) missing.attempt = 0;
  return Object.keys(missing).length === 0 ? element : { ...element, ...missing };
}

/** Derived, not random: a reader without the lock and the writer after it must mean the same entry. */
function madeId(element: Record<string, unknown>, { kind, modifiedAtMs, index }: Completion): string {
  const seen = JSON.stringify([modifiedAtMs, index, element.timestamp, element.text]);
  const digest = sha256Hex(seen).slice(0, 16);
  return `${kind === 'inbox' ? 'in' : 'resp'}_${digest}`;
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
