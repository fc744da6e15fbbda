// The numbered events of the phone: a page that lost its connection can ask for the events that it missed.

import { randomUUID } from 'node:crypto';
import type { SimMessage } from './types.ts';

export type PhoneEvent =
  | { type: 'message'; message: SimMessage }
  | { type: 'deleted'; chatId: number; messageId: number }
  | { type: 'typing'; chatId: number; action: string }
  | { type: 'answered'; queryId: string; text: string; alert: boolean }
  | { type: 'link'; state: LinkState };

/** State of the delivery to the bot: no webhook or poller yet, delivered, or being retried. */
export type LinkState = { kind: 'none' } | { kind: 'ok' } | { kind: 'failing'; reason: string };

export interface NumberedEvent {
  /** `<run>-<number>`: an id of another run is never mistaken for one of this run. */
  id: string;
  event: PhoneEvent;
}

export interface EventLog {
  publish(event: PhoneEvent): void;
  /** Events after `id`; undefined when some are not kept (unknown id, another run), and the page must load everything again. */
  since(id: string): NumberedEvent[] | undefined;
  lastId(): string;
  /** Returns the function that ends the subscription. */
  subscribe(listener: (event: NumberedEvent) => void): () => void;
}

export function createEventLog(keptEvents = 1000): EventLog {
  const run = randomUUID().slice(0, 8);
  const kept: NumberedEvent[] = [];
  const listeners = new Set<(event: NumberedEvent) => void>();
  let last = 0;
  return {
    publish(event) {
      last += 1;
      const numbered = { id: `${run}-${last}`, event };
      kept.push(numbered);
      if (kept.length > keptEvents) kept.shift();
      for (const listener of listeners) listener(numbered);
    },
    since(id) {
      const [ofRun, number] = id.split('-');
      const missed = last - Number(number);
      if (ofRun !== run || !(missed >= 0 && missed <= kept.length)) return undefined;
      return missed === 0 ? [] : kept.slice(-missed);
    },
    lastId: () => `${run}-${last}`,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
