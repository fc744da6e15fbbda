// Keeps a process small that runs for weeks and mostly waits: it holds neither garbage of work that is over nor a compiler for its start.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const lookMs = 5_000;
/** Of one look to the next. An idle daemon takes a fifth of this. */
const busyMs = 100;

/** Until `optimise` V8 optimises nothing: what a start makes hot is never run again, and the compiler for it takes 6 MB. */
export function startPlainly(): void {
  setFlagsFromString('--no-opt');
}

/** From now on V8 optimises as always. */
export function optimise(): void {
  setFlagsFromString('--opt');
}

/** Collects all garbage once after each piece of work, as soon as the process is quiet again. Returns its end. */
export function collectWhenQuiet(collect = collectNow, usedMs = cpuMs): () => void {
  let wasBusy = true;
  let before = usedMs();
  const timer = setInterval(() => {
    const isBusy = usedMs() - before >= busyMs;
    if (wasBusy && !isBusy) collect();
    wasBusy = isBusy;
    // Behind the collection, which is no work.
    before = usedMs();
  }, lookMs);
  timer.unref();
  return () => clearInterval(timer);
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** V8 collects by itself only when it needs room. Takes some 30 ms. */
function collectNow(): void {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as (options: object) => void;
  setFlagsFromString('--no-expose-gc');
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
