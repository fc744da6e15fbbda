// Documents on their way to the phone: the bytes stream through the stateless Worker, the key and its outcome are here.

import { WaError } from '../../../protocol/errors.ts';
import type { KeyEnd } from '../../../protocol/log.ts';
import type { SendOutcome } from '../../platform.ts';
import type { Core } from '../core.ts';
import { tellTopicGone } from '../notices/unbound.ts';
import { insertDocument, markDead, markSent, readOutboxRow, requeue, setRow } from '../tables/outbox.ts';
import { openProject } from '../tables/projects.ts';
import { noteTopicGone } from '../topics.ts';
import { replyTarget } from './calls.ts';
import { followMigration, pauseFor, targetChat } from './platform-state.ts';
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

/** Longer than an upload takes: then the Worker that had it is gone. */
const uploadMaxMs = 11 * 60_000;
const busyRetryMs = 5_000;

export function createDocuments(core: Core, sender: Sender) {
  const { sql, clock, platform } = core;
  /** Uploads under way, in memory: a restart ends them all. */
  const startedAt = new Map<string, number>();
  const uploadOf = (project: number, key: string): string => `${project}:${key}`;

  return {
    /** Raises `bad_request`. */
    begin({ project, key, replyTo }: DocumentRequest): DocumentStart {
      const nowMs = clock();
      const row = readOutboxRow(sql, project, key, 0);
      if (row?.state === 'sent') return { kind: 'known', outcome: { key, state: 'sent' } };
      if (row !== undefined && row.call !== '') throw new WaError('bad_request', `the key ${key} is that of a text`);
      if (nowMs - (startedAt.get(uploadOf(project, key)) ?? 0) < uploadMaxMs) {
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
      startedAt.set(uploadOf(project, key), nowMs);
      core.counters.add('calls');
      const isDisplaced = row?.without === 'topic' || openProject(sql, project).topic_gone_at !== null;
      const topic = platform.capabilities.topics && !isDisplaced ? project : 0;
      return { kind: 'go', chatId: targetChat(core), topic, ...replyTarget(core, project, replyTo) };
    },

    /** Raises the error after which the daemon tries again. */
    end(project: number, key: string, outcome: SendOutcome): KeyEnd {
      startedAt.delete(uploadOf(project, key));
      const row = readOutboxRow(sql, project, key, 0);
      if (row === undefined) throw new WaError('not_found', `the relay has no document ${key}`);
      switch (outcome.kind) {
        case 'sent':
          markSent(sql, row, outcome.ref ?? null, clock());
          core.counters.add('sent');
          return { key, state: 'sent' };
        case 'dead':
          markDead(sql, row, outcome, clock());
          core.counters.add('dead');
          return { key, state: 'dead', error: { code: outcome.code, reason: outcome.reason } };
        case 'pause':
          requeue(sql, row, 0, row.without);
          pauseFor(core, outcome.afterMs, outcome.code);
          throw new WaError('rate_limited', outcome.reason, { retryAfterMs: outcome.afterMs });
        case 'without':
          requeue(sql, row, 0, outcome.what);
          if (outcome.what === 'topic' && noteTopicGone(core, project)) tellTopicGone(core, project);
          throw new WaError('platform_error', outcome.reason, { retryAfterMs: 0 });
        case 'migrate':
          requeue(sql, row, 0, row.without);
          followMigration(core, outcome.chatId);
          throw new WaError('platform_error', 'the chat has a new id', { retryAfterMs: 0 });
        case 'retry': {
          // Without an answer it may be there: the row stays as being sent, and the next call counts as a possible duplicate.
          if (outcome.uncertain !== true) requeue(sql, row, 0, row.without);
          core.counters.add('retried');
          const isSilent = outcome.code === 'platform_unreachable';
          throw new WaError(isSilent ? 'platform_unreachable' : 'platform_error', outcome.reason);
        }
      }
    },
  };
}
