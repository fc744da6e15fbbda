// Text for a POSIX shell, in commands that a person copies.

/** `NAME=value` pairs, quoted. */
export function variablesText(env: Record<string, string>): string {
  return Object.entries(env)
    .map(([key, value]) => `${key}=${quoted(value)}`)
    .join(' ');
}

/** Quotes a text as one word. */
export function quoted(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
