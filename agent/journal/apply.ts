// One line of the journal, applied to the state: the only writer of that state. Pure bookkeeping, without I/O or clock.

import type { KeyEnd } from '../../protocol/log.ts';
import { supersedes } from '../../protocol/receipts.ts';
import { applyApproval } from './approvals.ts';
import { restore } from './compact.ts';
import { addRow, addStopWord, becomeMessage, correctStale, held, keepForLater, move, report } from './messages.ts';
import type { JournalRecord, ProjectRecord, StoredTurn } from './records.ts';
import { type JournalState, knowsEnd, type OutboxKey, type ProjectState, projectOf } from './state.ts';

/** Changes `state` in place. A line about an unknown message or key changes nothing. */
export function apply(state: JournalState, record: JournalRecord): void {
  if (record.t === 'journal') return;
  applyToProject(projectOf(state, record.p), record);
}

function applyToProject(project: ProjectState, record: ProjectRecord): void {
  switch (record.t) {
    case 'epoch':
      project.epoch = record.epoch;
      project.cursor = record.cursor;
      // The new storage may lack these keys, or another daemon has acknowledged their outcomes.
      for (const key of project.openKeys) setState(project, key, 'open');
      return;
    case 'phone':
      project.phone = record.phone;
      return;
    case 'row':
      if (record.row.kind !== 'outcome') addRow(project, record.row, record.at);
      else if (record.row.seq > project.cursor) endKey(project, record.row.outcome);
      if (!record.ahead && record.row.seq > project.cursor) project.cursor = record.row.seq;
      return;
    case 'filed':
      for (const message of held(project, record.ids)) message.filedAt = record.at;
      return;
    case 'handed':
      for (const message of held(project, record.ids)) {
        const { tool, session, transcript, offset, at, starts } = record;
        move(project, message, 'handed');
        message.hand = { tool, session, transcript, offset, at, ...(starts ? { starts } : {}) };
        correctStale(project, message, record);
      }
      return;
    case 'proved':
      for (const message of held(project, record.ids)) {
        move(project, message, 'injected');
        report(project, message, 'injected', record.at);
      }
      return;
    case 'returned':
      for (const message of held(project, record.ids)) {
        message.attempt += 1;
        message.hand = undefined;
        message.filedAt = undefined;
        move(project, message, 'waiting');
      }
      return;
    case 'ended':
      for (const message of held(project, record.ids)) {
        move(project, message, 'ended');
        message.ended = record.state;
        message.endedAt = record.at;
        report(project, message, record.state, record.at);
      }
      return;
    case 'leased':
      for (const message of held(project, record.ids)) {
        const { holder, untilAt, at } = record;
        move(project, message, 'leased');
        message.lease = { holder, at, untilAt, replied: false };
        correctStale(project, message, record);
      }
      return;
    case 'replied':
      for (const { lease } of held(project, record.ids)) if (lease) lease.replied = true;
      return;
    case 'unleased':
      // A message that a hook has handed over meanwhile, or that ended, stays as it is.
      for (const message of held(project, record.ids)) {
        if (message.phase !== 'leased') continue;
        if (!record.ungiven) {
          message.attempt += 1;
          message.filedAt = undefined;
        }
        move(project, message, 'waiting');
      }
      return;
    case 'receipted':
      for (const receipt of record.receipts) {
        const pending = project.receipts.get(receipt.id);
        if (pending && !supersedes(pending, receipt)) project.receipts.delete(receipt.id);
      }
      return;
    case 'fetched':
      for (const message of held(project, [record.id])) {
        if (message.phase !== 'fetching') continue;
        message.fileLines = record.lines;
        project.fetching.delete(record.id);
        move(project, message, 'waiting');
      }
      return;
    case 'later':
      keepForLater(project, record.id);
      return;
    case 'prompted':
      becomeMessage(project, record.id, record.text);
      return;
    case 'owned':
      project.owned = record.owned;
      return;
    case 'stopWord':
      addStopWord(project, record.id, record.at);
      return;
    case 'parked':
      for (const message of held(project, record.ids)) message.parked = record.why === 'question' ? 'asked' : 'parked';
      return;
    case 'unparked':
      for (const message of held(project, record.ids)) message.parked = message.parked === 'asked' ? 'no' : 'released';
      return;
    case 'dialog':
      project.dialog = record.dialog ?? undefined;
      return;
    case 'sprint':
      project.sprint = record.sprint ?? undefined;
      return;
    case 'turn':
      setTurn(project, record.turn);
      return;
    case 'setting':
      project.settings.set(record.name, record.value);
      return;
    case 'follow':
      project.follow = record.follow;
      return;
    case 'withheld':
      project.withheld = record.withheld ?? undefined;
      return;
    case 'spent':
      for (const id of record.ids) project.controls.delete(id);
      return;
    case 'entry':
      if (record.ended && !project.outbox.has(record.key)) project.ended.set(record.key, record.ended);
      addKey(project, record.key, record.at, { kind: 'file', answer: record.answer, replyTo: record.replyTo });
      if (record.turn) setTurn(project, record.turn);
      return;
    case 'item':
      addKey(project, record.key, record.at, { kind: 'item', item: record.item });
      return;
    case 'document':
      addKey(project, record.key, record.at, { kind: 'document', document: record.document });
      return;
    case 'posted':
      // The answer of an earlier storage is void.
      if (record.epoch !== project.epoch) return;
      for (const key of record.keys) if (project.openKeys.has(key)) setState(project, key, 'posted');
      return;
    case 'key': {
      // An outcome row that came meanwhile is newer.
      const { t, p, at, ...end } = record;
      if (project.openKeys.has(end.key)) endKey(project, end);
      return;
    }
    case 'kept':
      restore(project, record.of, record.key, record.value);
      return;
    case 'approvals':
    case 'asked':
    case 'decided':
    case 'usage':
      applyApproval(project.approvals, record, record.at);
      return;
    default:
      // A kind of a newer minor version: the version line protects kinds that must not be skipped.
      record satisfies never;
  }
}

function setTurn(project: ProjectState, turn: StoredTurn): void {
  project.turn = turn;
  for (const [key, end] of project.ended) if (knowsEnd(turn, key, end)) project.ended.delete(key);
}

function addKey(project: ProjectState, key: string, at: number, source: OutboxKey['source']): void {
  if (project.outbox.has(key)) return;
  project.outbox.set(key, { key, at, state: 'open', source });
  project.openKeys.add(key);
}

function setState(project: ProjectState, key: string, state: OutboxKey['state']): void {
  const known = project.outbox.get(key);
  if (known) known.state = state;
}

/** The later end counts: a dead letter may have been sent again. */
function endKey(project: ProjectState, end: KeyEnd): void {
  const known = project.outbox.get(end.key);
  if (!known) return;
  known.state = 'ended';
  known.end = end;
  project.openKeys.delete(end.key);
}
