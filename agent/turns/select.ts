// How much one turn receives. Pure.

import { hookLimits } from '../../protocol/limits.ts';
import type { WaitingMessage } from './view.ts';

/** Oldest first, at least one, within the limits of a turn. */
export function selectForTurn(waiting: readonly WaitingMessage[]): WaitingMessage[] {
  const selected: WaitingMessage[] = [];
  let bytes = 0;
  for (const message of waiting) {
    bytes += byteLength(message.expansion?.text ?? '') + byteLength(message.entry.text);
    if (selected.length > 0 && (selected.length >= hookLimits.turnMessages || bytes > hookLimits.turnBytes)) break;
    selected.push(message);
  }
  return selected;
}

/** UTF-8 bytes, without Buffer: this module is pure. */
function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
