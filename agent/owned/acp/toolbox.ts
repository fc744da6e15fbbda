// The tools that a session has open, and their outputs so far. An agent may name a tool first by its change, never close it, or
// change one of an earlier turn.

import type { OwnedTool } from '../owned.ts';
import { type Reading, tailOf } from './updates.ts';

const maxOpen = 1_000;
const maxEarlier = 2_000;

/** `onFull` is called once for each time that it is full. */
export function createToolbox(onFull: () => void) {
  const open = new Map<string, { tool: OwnedTool; output: string }>();
  /** Ids of tools that are closed, oldest first. */
  const earlier = new Set<string>();
  let isFull = false;

  function close(id: string): void {
    open.delete(id);
    earlier.add(id);
    if (earlier.size > maxEarlier) earlier.delete(earlier.values().next().value as string);
  }

  return {
    /** `isLate` = of a tool that was closed before; `tool` is undefined for one too many. */
    take({ tool, more }: Extract<Reading, { type: 'tool' }>): { isLate: boolean; tool: OwnedTool | undefined } {
      const { id, state } = tool;
      const known = open.get(id);
      const isLate = !known && earlier.has(id);
      if (!known && !isLate && open.size >= maxOpen) {
        if (!isFull) onFull();
        isFull = true;
        return { isLate, tool: undefined };
      }
      const output = tailOf((known?.output ?? '') + more);
      if (!isLate) open.set(id, { tool: { ...known?.tool, ...tool }, output });
      if (state === 'done' || state === 'failed') close(id);
      return { isLate, tool: output !== '' && tool.output === undefined ? { ...tool, output } : tool };
    },
    /** All that was said of an open tool: a request may name no more than its id. */
    whole: (tool: OwnedTool): OwnedTool => ({ ...open.get(tool.id)?.tool, ...tool }),
    /** Closes those that the agent has left open, and returns them in this state. */
    closeAll(state: 'done' | 'failed'): OwnedTool[] {
      const left = [...open.values()].map(({ tool: { id, title } }) => ({
        ...{ id, state },
        ...(title === undefined ? {} : { title }),
      }));
      for (const { id } of left) close(id);
      isFull = false;
      return left;
    },
  };
}
