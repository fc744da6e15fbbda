// How a failure ends the process: its exit code, and what it says. Pure.

import { WaError } from '../../protocol/errors.ts';

export const exitCodes = { ok: 0, failed: 1, usage: 2, superseded: 3, needsInput: 4, cancelled: 130 } as const;

const usageCodes = new Set(['not_configured', 'bad_config', 'bad_arguments', 'not_bound']);

function exitCodeOf(error: unknown): number {
  if (!(error instanceof WaError)) return exitCodes.failed;
  if (error.code === 'superseded') return exitCodes.superseded;
  if (error.code === 'needs_input') return exitCodes.needsInput;
  if (error.code === 'cancelled') return exitCodes.cancelled;
  return usageCodes.has(error.code) ? exitCodes.usage : exitCodes.failed;
}

/** launchd starts again whatever does not end with 0, so what no restart mends ends with 0 there. */
export function exitCodeFor(error: unknown, args: readonly string[]): number {
  const code = exitCodeOf(error);
  const isFinal = code === exitCodes.usage || code === exitCodes.superseded;
  return isFinal && args.join(' ').includes('--service launchd') ? exitCodes.ok : code;
}

/** The message, and the command that repairs the problem. Only a bug shows a stack. */
export function describeError(error: unknown): string {
  if (!(error instanceof WaError)) {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return `wa-sync: internal error, please report it\n${stack}`;
  }
  return `wa-sync: ${error.message} (${error.code})${error.hint ? `\n  ${error.hint}` : ''}`;
}
