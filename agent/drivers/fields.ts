// Reads fields of a JSON value of unknown form. Pure; the hook fallback bundles it.

/** An empty object for every other value. */
export function object(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** An empty list for every other value. */
export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** What a table has under a foreign word; undefined for what each object inherits, `constructor` for instance. */
export function entryOf<T>(table: Readonly<Record<string, T>>, word: unknown): T | undefined {
  return typeof word === 'string' && Object.hasOwn(table, word) ? table[word] : undefined;
}

/** A line of JSON; an empty object for garbage and every other value. */
export function parsed(line: string): Record<string, unknown> {
  try {
    return object(JSON.parse(line));
  } catch {
    return {};
  }
}

/** Epoch milliseconds of an ISO time. */
export function timeOf(value: unknown): number | undefined {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}
