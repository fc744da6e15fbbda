// What one piece of work costs for each of many inputs: processor time and memory, of this process. Holds no expectations.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { growthMb } from './memory.ts';

export interface Costed<Input> {
  input: fc.Arbitrary<Input>;
  /** Characters of an input. */
  charsOf(input: Input): number;
  /** What was wrong with what came of it; undefined = nothing. */
  work(input: Input): Promise<string | undefined>;
  /** Generous: what grows no faster than its input stays far below. */
  allowed: { ms: number; msPerKb: number; mb: number };
}

/** `--seed` with `--runs 1` brings the input of one case again. */
interface Case {
  seed: number;
  chars: number;
  cpuMs: number;
}

export interface CostResult {
  runs: number;
  /** That needed most of the time that it is allowed. */
  slowest: (Case & { percentOfAllowed: number }) | null;
  /** At most ten. */
  wrong: { seed: number; what: string; input: string }[];
  /** What is still held after the garbage collection, mean of the last quarter minus that of the second one. */
  heldMb: number;
  /** The most by which one case raised the highest memory of the process. */
  raisedMb: number;
}

const looks = 3;
const maxSamples = 40;
/** What is held at the end and not in the middle: a journal of all inputs would be more. */
const allowedHeldMb = 16;

export async function fuzzCosts<Input>(
  { input, charsOf, work, allowed }: Costed<Input>,
  runs: number,
  seed: number,
): Promise<CostResult> {
  const result: CostResult = { runs, slowest: null, wrong: [], heldMb: 0, raisedMb: 0 };
  const held: number[] = [];
  const samples = Math.min(maxSamples, Math.ceil(runs / 10));
  const collect = garbageCollection();

  async function one(number: number): Promise<void> {
    const [sample] = fc.sample(input, { numRuns: 1, seed: seed + number }) as [Input];
    const tell = (what: string) => {
      const shown = JSON.stringify(sample).slice(0, 500);
      if (result.wrong.length < 10) result.wrong.push({ seed: seed + number, what, input: shown });
    };
    const chars = charsOf(sample);
    const allowedMs = allowed.ms + (allowed.msPerKb * chars) / 1024;
    const before = highestMb();
    let cpuMs = Number.POSITIVE_INFINITY;
    const slowestMs = ((result.slowest?.percentOfAllowed ?? 0) * allowedMs) / 100;
    // The shortest of some looks: a compiler or a collector beside the work only ever adds.
    for (let look = 0; look === 0 || (look < looks && cpuMs > slowestMs); look += 1) {
      const startedAt = process.cpuUsage();
      const what = await work(sample).catch((cause: Error) => `${cause.name}: ${cause.message}`);
      const { user, system } = process.cpuUsage(startedAt);
      cpuMs = Math.min(cpuMs, (user + system) / 1_000);
      if (what !== undefined && look === 0) tell(what);
    }
    const raisedMb = Math.round(highestMb() - before);
    result.raisedMb = Math.max(result.raisedMb, raisedMb);
    const percentOfAllowed = Math.round((100 * cpuMs) / allowedMs);
    if (percentOfAllowed > (result.slowest?.percentOfAllowed ?? -1)) {
      result.slowest = { seed: seed + number, chars, cpuMs: Math.round(cpuMs), percentOfAllowed };
    }
    if (cpuMs > allowedMs) tell(`${Math.round(cpuMs)} ms for ${chars} characters, of ${Math.round(allowedMs)} allowed`);
    if (raisedMb > allowed.mb) tell(`${raisedMb} MB for ${chars} characters, of ${allowed.mb} allowed`);
  }

  for (let number = 0; number < runs; number += 1) {
    await one(number);
    const passed = Math.floor((number * samples) / runs) < Math.floor(((number + 1) * samples) / runs);
    if (!passed) continue;
    collect();
    held.push(process.memoryUsage().heapUsed / 1024 ** 2);
  }
  result.heldMb = Math.round(growthMb(held));
  if (result.heldMb > allowedHeldMb) {
    result.wrong.push({ seed, what: `${result.heldMb} MB more are held at the end`, input: '' });
  }
  return result;
}

/** Resident, since the process began. */
function highestMb(): number {
  return process.resourceUsage().maxRSS / 1024;
}

function garbageCollection(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
