// The footprints of all coding agents, with or without a driver, because the running agent must not open the gate of another. Pure.

import { footprint as claude } from './claude/footprint.ts';
import { footprint as codex } from './codex/footprint.ts';
import type { Footprint } from './footprint.ts';
import { footprint as gemini } from './gemini/footprint.ts';

let all: readonly Footprint[] = [gemini, claude, codex];

/** For tests: adds a footprint, and returns the function that removes it. */
export function addFootprint(footprint: Footprint): () => void {
  all = [...all, footprint];
  return () => {
    all = all.filter((each) => each !== footprint);
  };
}

/** Computes a value from all footprints once, and again when a footprint is added or removed. */
export function ofFootprints<T>(make: (footprints: readonly Footprint[]) => T): () => T {
  let made: { value: T; of: readonly Footprint[] } | undefined;
  return () => {
    if (made?.of !== all) made = { value: make(all), of: all };
    return made.value;
  };
}
