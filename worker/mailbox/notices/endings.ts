// Notices to the phone when a message ends without an answer: one line with the reason, and Retry where that helps.

import { messageId } from '../../../protocol/ids.ts';
import type { ReceiptState } from '../../../protocol/receipts.ts';
import type { Core } from '../core.ts';
import { textsOf } from '../language.ts';
import { enqueueOwn, tellPhone } from '../outbound/queue.ts';
import { cacheOf } from '../tables/cache.ts';
import { addButtons, readOutboxRow } from '../tables/outbox.ts';
import type { LogRow, ProjectRow } from '../tables/rows.ts';
import { retryButton } from './retry-button.ts';

export interface Ending {
  row: LogRow;
  state: ReceiptState;
}

/** The ends that the relay tells; another try may help. The daemon tells a failed turn with its error, and why it refused a message. */
const told = ['expired', 'lost'] as const;

type ToldState = (typeof told)[number];

/** Tells the endings that the daemon has just reported. True = a notice waits to be sent. */
export function tellEndings(core: Core, project: number, endings: readonly Ending[]): boolean {
  const failed = endings.filter(({ state }) => state === 'failed');
  const offered = failed.map(({ row }) => offerRetry(core, row)).includes(true);
  let sends = offered;
  for (const state of told) {
    const rows = endings.filter((ending) => ending.state === state).map(({ row }) => row);
    if (rows.length === 0) continue;
    tellEnd(core, project, state, rows.length, rows[0]);
    sends = true;
  }
  return sends;
}

/** `row` is named when it is the only one. */
function tellEnd(core: Core, project: number, state: ToldState, count: number, row: LogRow | undefined): void {
  const { relay } = textsOf(core);
  if (count > 1 || row === undefined) {
    tellPhone(core, project, relay[state](count));
    return;
  }
  const id = messageId(core.epoch, row.project, row.seq);
  tellPhone(core, project, relay[`${state}One`], { buttons: retryButton(core, project, id), replyTo: id });
}

/** A slow stream of expiries is told once an hour. */
const expiryNoticeEveryMs = 3_600_000;

/** Counts the messages that have expired in the mailbox and tells the phone, at most once an hour. The caller saves the row. */
export function countExpired(core: Core, project: ProjectRow, rows: readonly LogRow[]): ProjectRow {
  const nowMs = core.clock();
  const untold = project.expired_untold + rows.length;
  if (untold === 0 || nowMs < (expiryNoticeAt({ ...project, expired_untold: untold }) ?? 0)) {
    return { ...project, expired_untold: untold };
  }
  tellEnd(core, project.project, 'expired', untold, rows[0]);
  return { ...project, expired_untold: 0, expired_told_at: nowMs };
}

/** When the phone is told of expired messages; null = no message has expired since the last notice. */
export function expiryNoticeAt(project: ProjectRow): number | null {
  if (project.expired_untold === 0) return null;
  return (project.expired_told_at ?? 0) + expiryNoticeEveryMs;
}

/** Adds a Retry button below the daemon's text about a failed turn, when that text is already here. */
function offerRetry(core: Core, { project, seq }: LogRow): boolean {
  const id = messageId(core.epoch, project, seq);
  const answer = cacheOf(core.sql).answers.get(id);
  const text = answer === undefined ? undefined : readOutboxRow(core.sql, project, answer.key, answer.part);
  if (text === undefined || text.state === 'dead') return false;
  const buttons = retryButton(core, project, id);
  if (buttons.length === 0) return false;
  if (text.state !== 'sent') addButtons(core.sql, text, buttons);
  // A text that is on its way without them gets them when it is there; sent again, it has them.
  if (text.state !== 'queued') enqueueOwn(core, project, { kind: 'buttons', key: text.key, part: text.part, buttons });
  return true;
}
