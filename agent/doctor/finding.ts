// What a check finds: state, evidence, and the command or the step that repairs it. Pure.

import { span } from '../../protocol/span.ts';

export type State = 'ok' | 'warn' | 'fail' | 'skipped';

export interface Finding {
  /** The name of the check. */
  check: string;
  state: State;
  /** What was seen, in one line: never a token, never the text of a message. */
  evidence: string;
  /** The step that repairs it; undefined = nothing to do. */
  repair?: string;
  /** Repairs it, where that is safe: only what wa-sync made, and never a file of another user. Returns what was done. */
  fix?(): Promise<string>;
}

export const ok = (check: string, evidence: string): Finding => ({ check, state: 'ok', evidence });

export const skipped = (check: string, evidence: string): Finding => ({ check, state: 'skipped', evidence });

export function warn(check: string, evidence: string, repair: string, fix?: () => Promise<string>): Finding {
  return { check, state: 'warn', evidence, repair, ...(fix ? { fix } : {}) };
}

export function fail(check: string, evidence: string, repair: string, fix?: () => Promise<string>): Finding {
  return { check, state: 'fail', evidence, repair, ...(fix ? { fix } : {}) };
}

/** Time since an event, for people. */
export function ago(at: number | null | undefined, now: number): string {
  if (at === null || at === undefined) return 'not yet';
  return `${span(now - at)} ago`;
}
