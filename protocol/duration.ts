// How long something took or waits, in the words of the phone. Pure.

const dayMs = 86_400_000;

/** `45 s`, `12 min`, `2.5 h`, `3 days`. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (ms < 2 * dayMs) return `${Math.round(seconds / 360) / 10} h`;
  return `${Math.round(ms / dayMs)} days`;
}
