// The tries to open a session: which failure is final, how long until the next try, and what the phone reads of it. Pure.

import { WaError } from '../../protocol/errors.ts';
import type { Texts } from '../../protocol/texts.ts';
import { errorIn } from './agent-error.ts';

export interface Beginning {
  /** Tells the phone when the session is there. */
  isTold: boolean;
  /** Of a turn that is still open: what became of it. */
  why: string | undefined;
}

/** What became of the first try. `again`: wa-sync goes on trying. */
export type Opened = { session: string } | { cause: WaError; again: boolean } | 'replaced';

/** Between two tries, in milliseconds. */
const pausesMs = [1_000, 5_000, 20_000, 60_000] as const;
/** Nothing but a person mends these. */
const finalCodes = new Set(['not_found', 'agent_login', 'folder_untrusted', 'bad_config', 'needs_node_22']);

/** After so many failures in a row; undefined = there is no further try. */
export const pauseAfter = (failures: number): number | undefined => pausesMs[failures - 1];

export function isFinal(cause: unknown, failures: number): boolean {
  return (cause instanceof WaError && finalCodes.has(cause.code)) || failures > pausesMs.length;
}

/** For the phone. */
export function notOpenedText(
  title: string,
  cause: unknown,
  final: boolean,
  texts: Texts['owned']['sessions'],
): string {
  const { message, hint } = errorIn(cause, texts.failures);
  const why = hint === undefined ? message : `${message}. ${hint.replace(/\.$/, '')}`;
  return texts[final ? 'notOpened' : 'notOpenedYet'](title, why);
}
