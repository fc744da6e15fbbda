// The shortest list of records that gives the same state, less what nobody can ask for again. Pure.

import { fileLimits, relayLimits } from '../../protocol/limits.ts';
import { compactApprovals, decidedKeptMs } from './approvals.ts';
import type { JournalRecord, ProjectRecord } from './records.ts';
import { journalVersion } from './records.ts';
import type { HeldMessage, JournalState, OutboxKey, ProjectState } from './state.ts';

/** Twice the relay's own memory, so that nothing it may still send is unknown here. */
const knownKeptMs = 2 * relayLimits.logKeptMs;

/** Takes out of `state`, while it is in use, what a compaction leaves out; an ended message not before everybody is done with it. */
export function forget(state: JournalState, now: number): void {
  for (const { messages, receipts, replaced, known, controls, outbox, approvals } of state.values()) {
    for (const [id, { phase, endedAt = now }] of messages) {
      if (phase !== 'ended' || receipts.has(id) || now - endedAt < fileLimits.settledKeptMs) continue;
      messages.delete(id);
      replaced.delete(id);
      known.set(id, endedAt);
    }
    for (const [id, at] of known) if (now - at >= knownKeptMs && !controls.has(id)) known.delete(id);
    for (const [key, { end, at }] of outbox) if (end && now - at > knownKeptMs) outbox.delete(key);
    for (const [id, { at }] of approvals.decided) if (now - at >= decidedKeptMs) approvals.decided.delete(id);
  }
}

export function compact(state: JournalState, now: number): JournalRecord[] {
  const records: JournalRecord[] = [{ t: 'journal', version: journalVersion }];
  for (const project of state.values()) records.push(...compactProject(project, now));
  return records;
}

function compactProject(project: ProjectState, now: number): ProjectRecord[] {
  const p = project.key;
  const records: ProjectRecord[] = [];
  // First, as it makes posted keys open ones; the rows behind it do not move the cursor.
  if (project.epoch !== null) {
    records.push({ t: 'epoch', p, at: now, epoch: project.epoch, cursor: project.cursor });
  }
  const known = new Map([...project.known].filter(([, at]) => now - at < knownKeptMs));
  const kept: HeldMessage[] = [];
  for (const message of project.messages.values()) {
    if (message.phase !== 'ended' || project.receipts.has(message.row.id)) kept.push(message);
    else if (now - (message.endedAt ?? 0) < knownKeptMs) known.set(message.row.id, message.endedAt ?? now);
  }
  kept.sort((a, b) => a.row.seq - b.row.seq);
  for (const message of kept) records.push(...messageRecords(p, message, project, now));
  for (const control of project.controls.values()) {
    known.delete(control.id);
    records.push({ t: 'row', p, at: now, row: control, ahead: true });
  }
  for (const [id, at] of known) records.push({ t: 'known', p, at, ids: [id] });
  if (project.turn) records.push({ t: 'turn', p, at: now, turn: project.turn });
  if (project.phone) records.push({ t: 'phone', p, at: now, phone: project.phone });
  if (project.sprint) records.push({ t: 'sprint', p, at: now, sprint: project.sprint });
  for (const [name, value] of project.settings) records.push({ t: 'setting', p, at: now, name, value });
  for (const { at, record } of compactApprovals(project.approvals, now)) records.push({ p, at, ...record });
  for (const key of project.outbox.values()) records.push(...keyRecords(p, key, project.epoch, now));
  return records;
}

function messageRecords(p: string, message: HeldMessage, project: ProjectState, now: number): ProjectRecord[] {
  const ids = [message.row.id];
  const records: ProjectRecord[] = [];
  // An edited message: its first text, then the edits, so that the dead identities stay known.
  const { id: editOf, text: newest } = message.row;
  const replaced = project.replaced.get(editOf) ?? [];
  records.push({ t: 'row', p, at: now, row: { ...message.row, text: replaced[0]?.text ?? newest }, ahead: true });
  for (const [index, { by }] of replaced.entries()) {
    const row = { ...by, kind: 'edit', editOf, text: replaced[index + 1]?.text ?? newest } as const;
    records.push({ t: 'row', p, at: now, row, ahead: true });
  }
  if (message.row.files?.length && message.phase !== 'fetching') {
    records.push({ t: 'fetched', p, at: now, id: message.row.id, lines: message.fileLines });
  }
  if (message.later) records.push({ t: 'later', p, at: now, id: message.row.id });
  if (message.parked !== 'no') records.push({ t: 'parked', p, at: now, ids });
  if (message.parked === 'released') records.push({ t: 'unparked', p, at: now, ids });
  for (let attempt = 0; attempt < message.attempt; attempt += 1) records.push({ t: 'returned', p, at: now, ids });
  if (message.filedAt !== undefined) records.push({ t: 'filed', p, at: message.filedAt, ids });
  if (message.hand) {
    const { at, ...hand } = message.hand;
    records.push({ t: 'handed', p, at, ids, ...hand });
  }
  const injected = message.phase === 'injected' || project.receipts.get(message.row.id)?.state === 'injected';
  if (injected) records.push({ t: 'proved', p, at: project.receipts.get(message.row.id)?.at ?? now, ids });
  if (message.phase === 'injected' && !project.receipts.has(message.row.id)) {
    records.push({
      t: 'receipted',
      p,
      at: now,
      receipts: [{ id: message.row.id, attempt: message.attempt, state: 'injected', at: now }],
    });
  }
  if (message.lease) {
    const { holder, at, untilAt, replied } = message.lease;
    records.push({ t: 'leased', p, at, ids, holder, untilAt });
    if (replied) records.push({ t: 'replied', p, at, ids });
  }
  if (message.ended) records.push({ t: 'ended', p, at: message.endedAt ?? now, ids, state: message.ended });
  return records;
}

function keyRecords(p: string, key: OutboxKey, epoch: string | null, now: number): ProjectRecord[] {
  if (key.end && now - key.at > knownKeptMs) return [];
  const { at } = key;
  const records: ProjectRecord[] = [];
  if (key.source.kind === 'file') {
    const { answer, replyTo } = key.source;
    records.push({ t: 'entry', p, at, key: key.key, answer, ...(replyTo === undefined ? {} : { replyTo }) });
  } else if (key.source.kind === 'item') {
    records.push({ t: 'item', p, at, key: key.key, item: key.source.item });
  } else {
    records.push({ t: 'document', p, at, key: key.key, document: key.source.document });
  }
  if (key.end) records.push({ t: 'key', p, at, ...key.end });
  if (key.state === 'posted' && epoch !== null) records.push({ t: 'posted', p, at, keys: [key.key], epoch });
  return records;
}
