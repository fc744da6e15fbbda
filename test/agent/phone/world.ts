// What the message of a running turn meets: a phone, the real typesetter, and a clock that only the test moves. Holds no expectations.

import { afterEach, beforeEach, vi } from 'vitest';
import { createRedactor } from '../../../agent/format/redact.ts';
import { createProgress } from '../../../agent/phone/progress.ts';
import { type Typesetter, typesetHere } from '../../../agent/relay/render.ts';
import type { Phone } from '../../../protocol/phone.ts';
import type { OutboxItem } from '../../../protocol/relay-api.ts';
import { privatePhone } from '../../helpers/private-phone.ts';

const redactor = createRedactor({
  own: ['own-token-of-wa-sync-12345'],
  kinds: { secrets: true, cards: true, iban: true, ssn: true },
  patterns: [],
});
/** With every detector. */
export const redact = (text: string) => redactor(text).text;

interface World {
  phone: Phone;
  muted: boolean;
  waits: 'question' | 'dialog' | undefined;
  /** How often the phone was told that the agent types. */
  typed: number;
}

/** A world of its own for each test; `hide` takes the place of `redact`. */
export function eachTurn(hide = redact) {
  const world = {} as World;
  const sent: OutboxItem[] = [];
  const kept: OutboxItem[] = [];
  beforeEach(() => {
    vi.useFakeTimers({ now: 1_790_000_000_000 });
    sent.length = 0;
    kept.length = 0;
    Object.assign(world, { phone: privatePhone, muted: false, waits: undefined, typed: 0 } satisfies World);
  });
  afterEach(() => vi.useRealTimers());

  /** Work of the typesetter that is not done yet. */
  const work = new Set<Promise<unknown>>();
  function noted<T>(made: Promise<T>): Promise<T> {
    work.add(made);
    void made.finally(() => work.delete(made));
    return made;
  }
  const real = typesetHere(hide, 4096);
  const typesetter: Typesetter = {
    texts: real.texts,
    parts: (text, mode) => noted(real.parts(text, mode)),
    clean: (text) => noted(real.clean(text)),
  };

  return {
    world,
    sent,
    /** Those of `sent` that the journal has. */
    kept,
    texts: () => sent.map(({ parts }) => parts[0]?.text ?? ''),
    /** As a daemon does that has just started. */
    create: () =>
      createProgress({
        send: async (item) => void sent.push(item),
        async keep(item) {
          sent.push(item);
          kept.push(item);
        },
        keys: () => kept.map(({ key }) => key),
        offers: () => [],
        async typing() {
          world.typed += 1;
        },
        muted: () => world.muted,
        waitsFor: () => world.waits,
        redact: hide,
        typesetter,
        phone: () => world.phone,
        clock: Date.now,
        log: () => {},
      }),
    /** Second by second, each with the work of the typesetter that it began. */
    async pass(ms: number): Promise<void> {
      for (let left = ms; left >= 0; left -= 1_000) {
        await vi.advanceTimersByTimeAsync(Math.min(left, 1_000));
        while (work.size > 0) {
          await Promise.all(work);
          await vi.advanceTimersByTimeAsync(0);
        }
      }
    },
  };
}
