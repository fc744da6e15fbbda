// Numbers that look random and are the same for the same seed, so that a plan can be run again. Not for secrets.

export interface Random {
  /** From 0 to below 1. */
  next(): number;
  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** One of them, each as often as its weight says. */
  weighted<T extends { weight: number }>(items: readonly T[]): T;
  /** A stream of its own, so that one actor's pace does not change what another one does. */
  fork(): Random;
}

/** Mulberry32. `seed` is a whole number. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const random: Random = {
    next,
    int: (min, max) => min + Math.floor(next() * (max - min + 1)),
    chance: (probability) => next() < probability,
    pick: (items) => items[Math.floor(next() * items.length)] as (typeof items)[number],
    weighted(items) {
      const at = next() * items.reduce((sum, { weight }) => sum + weight, 0);
      let passed = 0;
      for (const item of items) {
        passed += item.weight;
        if (at < passed) return item;
      }
      return items[0] as (typeof items)[number];
    },
    fork: () => createRandom(Math.floor(next() * 2 ** 32)),
  };
  return random;
}
