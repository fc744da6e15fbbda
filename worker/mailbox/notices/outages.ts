// Notices about an absent workstation: once per outage that messages wait, and on its return how many it took.

import { relayLimits } from '../../../protocol/limits.ts';
import type { Core } from '../core.ts';
import { textsOf } from '../language.ts';
import { tellPhone } from '../outbound/queue.ts';
import type { Waiting } from '../tables/cache.ts';
import { countTaken, countWaitingMessages } from '../tables/log.ts';
import { zoneOf } from '../tables/projects.ts';
import type { ProjectRow } from '../tables/rows.ts';
import { boundText, unboundCursor } from './unbound.ts';
import { clockText } from './words.ts';

/** Into a known outage people often write more than one message; the notice waits for the rest. */
const gatherMs = 10_000;

/** When the phone must hear that the workstation is away. */
export function outageNoticeAt(project: ProjectRow, presentAt: number | null, oldest: Waiting): number | null {
  if (project.away_told_at !== null || presentAt === Number.POSITIVE_INFINITY) return null;
  if (presentAt === null) return oldest.stored_at + relayLimits.offlineAfterMs;
  return Math.max(presentAt + relayLimits.offlineAfterMs, oldest.stored_at + gatherMs);
}

/** Tells the phone and returns the row that the caller saves. */
export function tellOutage(core: Core, project: ProjectRow, oldest: Waiting): ProjectRow {
  const nowMs = core.clock();
  const messages = countWaitingMessages(core.sql, project);
  const seenAt = project.last_seen_at;
  const zone = zoneOf(core.sql, project);
  const { relay, words } = textsOf(core);
  const seen =
    seenAt === null
      ? relay.neverConnected
      : relay.lastSeen(clockText(seenAt, nowMs, zone), words.duration(nowMs - seenAt));
  const left = words.duration(oldest.expires_at - nowMs);
  const waits = relay.waits(messages, clockText(oldest.expires_at, nowMs, zone), left);
  tellPhone(core, project.project, `${seen} ${waits}`);
  return { ...project, away_told_at: nowMs, away_cursor: project.cursor };
}

/** Ends an outage once everything is taken; `waiting` = rows above the cursor. The caller saves the row. */
export function endOutage(core: Core, project: ProjectRow, waiting: number): ProjectRow {
  if (project.away_told_at === null || waiting > 0) return project;
  const messages = countTaken(core.sql, project, Math.max(0, project.away_cursor ?? 0));
  const isBound = project.away_cursor === unboundCursor;
  tellPhone(core, project.project, isBound ? boundText(core, project, messages) : textsOf(core).relay.back(messages));
  return { ...project, away_told_at: null, away_cursor: null };
}
