// A bound on every answer of an agent: the phone's controls are answered one after the other, and an answer that never comes must not
// hold up the next.

import type { WaError } from '../../../protocol/errors.ts';
import type { AcpRow } from './agents.ts';
import { failed } from './failures.ts';
import type { Wire } from './wire.ts';

/** Milliseconds. */
export interface AnswerLimits {
  /** A session is made or opened: the agent starts its MCP servers, and reads a long conversation. */
  openMs: number;
  /** Everything else. */
  answerMs: number;
}

const opens = /^session\/(?:new|load|resume)$/;
/** A prompt takes as long as its work, and the handshake as a whole has a bound of its own. */
const unbound = /^(?:session\/prompt|initialize|authenticate)$/;

/** Errors of `request`: also `child_failed`, for an answer that does not come. */
export function withDeadline(wire: Wire, row: AcpRow, { openMs, answerMs }: AnswerLimits): Wire {
  return {
    ...wire,
    async request(method, params) {
      if (unbound.test(method)) return wire.request(method, params);
      const ms = opens.test(method) ? openMs : answerMs;
      return within(ms, wire.request(method, params), () =>
        failed(row, (texts) => texts.noAnswer(row.title, method, ms / 1000)),
      );
    },
  };
}

/** Rejects with `error` when `work` takes longer. */
export async function within<T>(ms: number, work: Promise<T>, error: () => WaError): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(error()), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
