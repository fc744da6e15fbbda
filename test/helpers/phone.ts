// What the owner's phone shows, and what the relay says of its messages. Holds no expectations.

import type { ReceiptState } from '../../protocol/receipts.ts';
import { until } from './daemon.ts';
import type { Chat } from './stack.ts';

export interface Phone {
  /** The texts that the bot wrote, oldest first. */
  phone(): string[];
  /** The first of them that matches, as soon as there is one. */
  told(match: RegExp): Promise<string>;
  /** Until exactly `count` messages are in this state. */
  ladder(state: ReceiptState, count?: number): Promise<unknown>;
}

/** `chat` is asked anew each time, as every test has its own. */
export function phoneOf(chat: () => Chat): Phone {
  const phone = () =>
    chat()
      .fromBot()
      .map(({ text }) => text);
  return {
    phone,
    told: (match) => until(`the phone shows ${match}`, () => phone().find((text) => match.test(text))),
    ladder: (state, count = 1) => until(`${count} ${state}`, async () => (await chat().ladder())[state] === count),
  };
}
