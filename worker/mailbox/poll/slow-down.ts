// Slower idle polls while the day's share of the free plan runs out, and one word to the phone about that. A person's message costs
// what it always does.

import { type DayName, freePlan, restOfDayMs, runsOutAt, shareOf } from '../../../protocol/free-plan.ts';
import { relayLimits } from '../../../protocol/limits.ts';
import type { SlowDown } from '../../../protocol/relay-api.ts';
import type { Core } from '../core.ts';
import { textsOf } from '../language.ts';
import { clockText } from '../notices/words.ts';
import { tellPhone } from '../outbound/queue.ts';
import { openProject, readProjects, readToday, zoneOf } from '../tables/projects.ts';
import { getMeta, setMeta } from '../tables/schema.ts';

/** What one idle poll costs: the row of its project, and now and then an alarm. */
const idlePoll: Partial<Record<DayName, number>> = { workerRequests: 1, objectRequests: 1, rowsWritten: 2 };
/** The part of what is left that idle polls may use; the rest is for messages. */
const idlePart = 0.5;
/** Shorter than the silence after which a workstation counts as away. */
const pauseMaxMs = relayLimits.offlineAfterMs - 30_000;
/** A project whose daemon was seen within this time takes part. */
const activeMs = 3_600_000;

/** Null = polls go on as usual. */
export function slowDownOf(core: Core): SlowDown | null {
  const nowMs = core.clock();
  const parts = core.platform.chatIds.length;
  const use = readToday(core);
  if (runsOutAt(shareOf(use, parts), nowMs) === null) return null;
  const polling = readProjects(core.sql).filter((row) => nowMs - (row.last_seen_at ?? 0) < activeMs).length;
  const cycles = Object.entries(idlePoll).map(([name, cost]) => {
    const left = freePlan[name as DayName] / parts - use[name as DayName];
    return (Math.max(0, left) * idlePart) / (cost * Math.max(1, polling));
  });
  const everyMs = restOfDayMs(nowMs) / Math.max(1, Math.min(...cycles));
  const holdMs = relayLimits.holdQuietMs;
  return { holdMs, pollAfterMs: Math.round(Math.min(pauseMaxMs, Math.max(0, everyMs - holdMs))) };
}

/** Tells the phone once a day that polls have become slower. True = it is told now. */
export function tellSlowDown(core: Core): boolean {
  const nowMs = core.clock();
  const use = readToday(core);
  const share = shareOf(use, core.platform.chatIds.length);
  const outAt = runsOutAt(share, nowMs);
  if (outAt === null || getMeta(core.sql, 'cost_told') === use.day) return false;
  setMeta(core.sql, 'cost_told', use.day);
  const zone = zoneOf(core.sql, openProject(core.sql, 0));
  const restMs = restOfDayMs(nowMs);
  const { relay, status, words } = textsOf(core);
  const [out, midnight] = [outAt, nowMs + restMs].map((at) => clockText(at, nowMs, zone)) as [string, string];
  const limit = status.limits[share.limit];
  const text = relay.runsOut(words.share(share.share), limit, out, midnight, words.duration(restMs));
  tellPhone(core, 0, text, {}, 'cost:');
  return true;
}
