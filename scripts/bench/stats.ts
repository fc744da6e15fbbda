// Sorted samples to the two numbers that are reported. Pure.

export interface Spread {
  p50Ms: number;
  p95Ms: number;
}

/** Nearest rank, so that each number is one that was measured. `samples` must not be empty. */
export function spread(samples: readonly number[]): Spread {
  return { p50Ms: round(percentile(samples, 0.5)), p95Ms: round(percentile(samples, 0.95)) };
}

export function median(samples: readonly number[]): number {
  return percentile(samples, 0.5);
}

function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Three significant digits below 100, whole numbers above: more would be noise. */
export function round(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}
