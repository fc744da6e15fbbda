// What tells the end of one turn from every other of its session. Pure; the hook fallback bundles it.

/**
 * The time at which the CLI made the payload, in milliseconds: between two ends of a session lies a request to the model, and daemon
 * and fallback get the same bytes. Undefined = the payload does not say.
 */
export function runOf(payload: Record<string, unknown>): string | undefined {
  const { timestamp } = payload;
  return typeof timestamp === 'string' && timestamp !== '' ? timestamp : undefined;
}
