// What the reader of a failed run gets: the history of one thing, with what happened to all around it.

export interface Happened {
  /** Epoch milliseconds. */
  at: number;
  what: string;
}

const beforeMs = 2_000;
const afterMs = 5_000;

export function storyLines(name: string, history: readonly Happened[], marks: readonly Happened[]): string[] {
  const from = (history[0]?.at ?? 0) - beforeMs;
  const to = (history.at(-1)?.at ?? 0) + afterMs;
  const around = marks.filter(({ at }) => at >= from && at <= to).map(({ at, what }) => ({ at, what: `  ${what}` }));
  return [...history.map(({ at, what }) => ({ at, what: `${name} ${what}` })), ...around]
    .sort((a, b) => a.at - b.at)
    .map(({ at, what }) => `${new Date(at).toISOString().slice(11, 23)} ${what}`);
}
