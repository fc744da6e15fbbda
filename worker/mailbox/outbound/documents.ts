// Documents on their way to the phone: the bytes stream through the stateless Worker, the key and its outcome are here.

import { WaError } from '../../../protocol/errors.ts';
import type { KeyEnd } from '../../../protocol/log.ts';
import { outboxClasses } from '../../../protocol/relay-api.ts';
import type { SendOutcome } from '../../platform.ts';
import type { Core } from '../core.ts';
import { markDead, markSent, readOutboxRow, requeue, setRow } from '../tables/outbox.ts';
import { openProject } from '../tables/projects.ts';
import { insert, type Sql } from '../tables/sql.ts';
import { refOf } from './calls.ts';
import { followMigration, pauseUntil, targetChat } from './platform-state.ts';
import type { Sender } from './sender.ts';

export interface DocumentRequest {
  project: number;
  key: string;
  replyTo: string | undefined;
}

export type DocumentStart =
  /** Nothing to send. */
  | { kind: 'known'; outcome: KeyEnd }
  /** Its turn comes later. */
  | { kind: 'wait'; afterMs: number; reason: string }
  | { kind: 'go'; chatId: string; topic: number; replyToRef?: string };

export interface Documents {
  /** Raises `bad_request`. */
  begin(request: DocumentRequest): DocumentStart;
  /** Raises the error after which the daemon tries again. */
  end(key: string, outcome: SendOutcome): KeyEnd;
}

/** Longer than an upload takes: then the Worker that had it is gone. */
const uploadMaxMs = 11 * 60_000;
const busyRetryMs = 5_000;

export function createDocuments(core: Core, sender: Sender): Documents {
  const { sql, clock, platform } = core;
  /** Uploads under way, in memory: a restart ends them all. */
  const startedAt = new Map<string, number>();

  return {
    begin({ project, key, replyTo }) {
      const nowMs = clock();
      const row = readOutboxRow(sql, key, 0);
      if (row?.state === 'sent') return { kind: 'known', outcome: { key, state: 'sent' } };
      if (row !== undefined && row.call !== '') throw new WaError('bad_request', `the key ${key} is that of a text`);
      if (nowMs - (startedAt.get(key) ?? 0) < uploadMaxMs) {
        return { kind: 'wait', afterMs: busyRetryMs, reason: 'it is being sent already' };
      }
      const waitMs = sender.takeTurn();
      if (waitMs > 0) return { kind: 'wait', afterMs: waitMs, reason: 'the chat has had its share' };
      sql.transaction(() => {
        openProject(sql, project);
        if (row?.state === 'sending') core.counters.add('possible_duplicates');
        if (row === undefined) insertDocument(sql, project, key, nowMs);
        else {
          const attempts = row.attempts + 1;
          setRow(sql, row, { state: 'sending', attempts, settled_at: nowMs, error_code: null, error_reason: null });
        }
      });
      startedAt.set(key, nowMs);
      core.counters.add('calls');
      const topic = platform.capabilities.topics && row?.without !== 'topic' ? project : 0;
      const replyToRef = refOf(core, replyTo);
      return { kind: 'go', chatId: targetChat(core), topic, ...(replyToRef === undefined ? {} : { replyToRef }) };
    },

    end(key, outcome) {
      startedAt.delete(key);
      const row = readOutboxRow(sql, key, 0);
      if (row === undefined) throw new WaError('not_found', `the relay has no document ${key}`);
      const nowMs = clock();
      switch (outcome.kind) {
        case 'sent':
          markSent(sql, row, outcome.ref ?? null, nowMs);
          core.counters.add('sent');
          return { key, state: 'sent' };
        case 'dead':
          markDead(sql, row, outcome.code, outcome.reason, nowMs);
          core.counters.add('dead');
          return { key, state: 'dead', error: { code: outcome.code, reason: outcome.reason } };
        case 'pause':
          requeue(sql, row, 0, row.without);
          pauseUntil(core, nowMs + outcome.afterMs, outcome.code);
          throw new WaError('rate_limited', outcome.reason, { retryAfterMs: outcome.afterMs });
        case 'without':
          requeue(sql, row, 0, outcome.what);
          throw new WaError('platform_error', outcome.reason, { retryAfterMs: 0 });
        case 'migrate':
          requeue(sql, row, 0, row.without);
          followMigration(core, outcome.chatId, nowMs);
          throw new WaError('platform_error', 'the chat has a new id', { retryAfterMs: 0 });
        case 'retry':
          // Without an answer it may be there: the row stays as being sent, and the next call counts as a possible duplicate.
          if (outcome.uncertain !== true) requeue(sql, row, 0, row.without);
          core.counters.add('retried');
          throw new WaError(
            outcome.code === 'platform_unreachable' ? 'platform_unreachable' : 'platform_error',
            outcome.reason,
          );
      }
    },
  };
}

/** A document's row holds no call: its bytes pass through and are not kept. */
function insertDocument(sql: Sql, project: number, key: string, nowMs: number): void {
  const lane = outboxClasses.indexOf('answer');
  const times = { accepted_at: nowMs, expires_at: nowMs, settled_at: nowMs };
  const state = { waiting: 0, state: 'sending', call: '', attempts: 1 };
  insert(sql, 'outbox', { key, part: 0, project, class: lane, n: 0, ...state, ...times });
}
