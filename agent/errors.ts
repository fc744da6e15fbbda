// How a failure ends the process: the message, and the command that repairs the problem. Only a bug shows a stack.

import { WaError } from '../protocol/errors.ts';

export const exitCodes = { ok: 0, failed: 1, usage: 2, superseded: 3 } as const;

const usageCodes = new Set(['not_configured', 'bad_config', 'bad_arguments', 'not_bound']);

export function exitCodeOf(error: unknown): number {
  if (!(error instanceof WaError)) return exitCodes.failed;
  if (error.code === 'superseded') return exitCodes.superseded;
  return usageCodes.has(error.code) ? exitCodes.usage : exitCodes.failed;
}

/** Lines for stderr. */
export function describeError(error: unknown): string {
  if (!(error instanceof WaError)) {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return `wa-sync: internal error, please report it\n${stack}`;
  }
  const lines = [`wa-sync: ${error.message} (${error.code})`];
  if (error.hint) lines.push(`  ${error.hint}`);
  return lines.join('\n');
}
