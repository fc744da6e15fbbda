// The shortest journal of a state: what is still needed of the state, as it stands. Reading such a journal gives the same state.

import { relayLimits } from '../../protocol/limits.ts';
import { decidedKeptMs } from './approvals.ts';
import { list } from './messages.ts';
import { type JournalRecord, journalVersion, type ProjectRecord } from './records.ts';
import type { HeldMessage, JournalState, OutboxKey, ProjectState } from './state.ts';

/** Twice the relay's own memory, so that a row that the relay may still send is known. */
const knownKeptMs = 2 * relayLimits.logKeptMs;

/** The records of a compacted journal. Forgets in `state` what ended; an ended message after `endedKeptMs`. */
export function compact(state: JournalState, now: number, endedKeptMs = 0): JournalRecord[] {
  const records: JournalRecord[] = [{ t: 'journal', version: journalVersion }];
  for (const project of state.values()) {
    forget(project, now, endedKeptMs);
    records.push(...recordsOf(project, now));
  }
  return records;
}

function forget(project: ProjectState, now: number, endedKeptMs: number): void {
  const { messages, receipts, replaced, known, controls, outbox, ended, approvals } = project;
  for (const [id, { phase, endedAt = now }] of messages) {
    if (phase !== 'ended' || receipts.has(id) || Math.max(0, now - endedAt) < endedKeptMs) continue;
    messages.delete(id);
    replaced.delete(id);
    known.set(id, endedAt);
  }
  for (const [id, at] of known) if (now - at >= knownKeptMs && !controls.has(id)) known.delete(id);
  for (const [key, { end, at }] of outbox) if (end && now - at > knownKeptMs) outbox.delete(key);
  for (const key of ended.keys()) if (!outbox.has(key)) ended.delete(key);
  for (const [id, { at }] of approvals.decided) if (now - at >= decidedKeptMs) approvals.decided.delete(id);
}

function recordsOf(project: ProjectState, at: number): ProjectRecord[] {
  const { key: p, epoch, cursor, turn, phone, sprint, follow, withheld, approvals, dialog, owned } = project;
  const records: ProjectRecord[] = [];
  if (epoch !== null) records.push({ t: 'epoch', p, at, epoch, cursor });
  if (turn) records.push({ t: 'turn', p, at, turn });
  if (phone) records.push({ t: 'phone', p, at, phone });
  if (sprint) records.push({ t: 'sprint', p, at, sprint });
  if (follow) records.push({ t: 'follow', p, at, follow });
  if (withheld) records.push({ t: 'withheld', p, at, withheld });
  if (owned) records.push({ t: 'owned', p, at, owned });
  if (dialog) records.push({ t: 'dialog', p, at, dialog });
  records.push({ t: 'approvals', p, at, mode: approvals.mode });
  if (approvals.usage) records.push({ t: 'usage', p, at, usage: approvals.usage });
  for (const [of, map] of Object.entries(mapsOf(project))) {
    for (const [key, value] of map) records.push({ t: 'kept', p, at, of, key, value });
  }
  return records;
}

/** Adds an entry of a map again, and to the lists that follow from the map. */
export function restore(project: ProjectState, of: string, key: string, value: unknown): void {
  mapsOf(project)[of]?.set(key, value);
  if (of === 'messages') list(project, value as HeldMessage);
  if (of === 'outbox' && !(value as OutboxKey).end) project.openKeys.add(key);
}

function mapsOf(project: ProjectState): Record<string, Map<string, unknown>> {
  const { messages, replaced, controls, known, receipts, outbox, ended, settings, approvals } = project;
  const { open: asked, decided } = approvals;
  return { messages, replaced, controls, known, receipts, outbox, ended, settings, asked, decided };
}
