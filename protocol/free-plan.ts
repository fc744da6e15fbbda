// What a day of the relay costs, and how much of Cloudflare's free plan that is. Pure: the time is passed in.

/** What is counted, since midnight UTC. */
export const dayNames = ['workerRequests', 'objectRequests', 'rowsRead', 'rowsWritten', 'activeMs'] as const;
export type DayName = (typeof dayNames)[number];

export type DayCounts = Record<DayName, number>;

export interface DayUse extends DayCounts {
  /** `2026-11-22`, UTC. */
  day: string;
}

/** 128 MB of memory while an object is awake. */
const gigabytes = 0.128;

/**
 * Cloudflare's free plan for one day, which begins at midnight UTC: the pages "Workers pricing" and "Durable Objects pricing" of
 * developers.cloudflare.com, read in October 2026. `activeMs`: 13,000 GB-s.
 */
export const freePlan: Readonly<DayCounts> = {
  workerRequests: 100_000,
  objectRequests: 100_000,
  rowsRead: 5_000_000,
  rowsWritten: 100_000,
  activeMs: (13_000 / gigabytes) * 1000,
};

/** As people read them. */
const titles: Record<DayName, string> = {
  workerRequests: 'Worker requests',
  objectRequests: 'Durable Object requests',
  rowsRead: 'rows read',
  rowsWritten: 'rows written',
  activeMs: 'Durable Object duration',
};

export interface DayShare extends DayUse {
  gigabyteSeconds: number;
  /** The largest share of a limit, 1 = all of it. */
  share: number;
  /** The limit that it is a share of, and as people read it. */
  limit: DayName;
  of: string;
}

export const dayMs = 24 * 3_600_000;

export function utcDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** Milliseconds until the counts begin anew. */
export function restOfDayMs(nowMs: number): number {
  return dayMs - (nowMs % dayMs);
}

export function noUse(day: string): DayUse {
  return { day, workerRequests: 0, objectRequests: 0, rowsRead: 0, rowsWritten: 0, activeMs: 0 };
}

/** Uses of another day count nothing. */
export function sumUses(day: string, uses: readonly DayUse[]): DayUse {
  const sum = noUse(day);
  for (const use of uses) {
    if (use.day === day) for (const name of dayNames) sum[name] += use[name];
  }
  return sum;
}

/** `parts` = so many mailboxes share the plan evenly. */
export function shareOf(use: DayUse, parts = 1): DayShare {
  const shares = dayNames.map((name) => ({ name, share: (use[name] * parts) / freePlan[name] }));
  const { name, share } = shares.reduce((most, each) => (each.share > most.share ? each : most));
  return { ...use, gigabyteSeconds: (use.activeMs / 1000) * gigabytes, share, limit: name, of: titles[name] };
}

/** From this share on polls slow down, when the day would not end below the limit. */
export const nearShare = 0.7;

/** When the limit is reached at the pace of the day so far, epoch milliseconds; null = not today, or not near yet. */
export function runsOutAt({ share }: Pick<DayShare, 'share'>, nowMs: number): number | null {
  const elapsedMs = nowMs % dayMs;
  if (share < nearShare || elapsedMs === 0) return null;
  const atMs = share >= 1 ? nowMs : nowMs - elapsedMs + elapsedMs / share;
  return atMs < nowMs + restOfDayMs(nowMs) ? atMs : null;
}
