// What a hook costs the coding agent, beside what people use without us. Every turn runs each command once, in an order that
// moves on by one, so that none always has the warmest cache. An answer without the message is no fast hook: it is counted.

import { setTimeout as delay } from 'node:timers/promises';
import { type Contestant, contestants, type HookScene, setHookScene, settleMs } from '../hook-scene.ts';
import { startRunner } from '../processes.ts';
import type { BenchResult, Part } from '../result.ts';
import { withStage } from '../stage.ts';
import { type Spread, spread } from '../stats.ts';

const turns = 40;
/** On a machine that is too busy for the deadline of a hook nothing can be measured. */
const mostLate = turns / 4;

interface Samples {
  full: Record<Contestant, number[]>;
  empty: Record<Contestant, number[]>;
  /** Answers at the deadline, without the message; it is given again, and both runs are paid for. */
  late: number;
}

export const hook: Part = {
  name: 'hook',
  run: (lab) =>
    withStage(lab, async (stage) => {
      await stage.startDaemon();
      const runner = startRunner();
      const scene = await setHookScene(lab, stage, runner);
      const samples: Samples = { full: noTimes(), empty: noTimes(), late: 0 };
      for (let turn = 0; turn < turns; turn += 1) {
        const text = `Turn ${turn}: please look into the failing login test and tell me what you find.`;
        const order = contestants.map((_, index) => contestants[(index + turn) % contestants.length] as Contestant);
        await scene.arrive(text);
        for (const name of order) await withMessage(scene, name, text, samples);
        await scene.finishTurn(text);
        for (const name of order) await withoutMessage(scene, name, samples);
        await scene.cancelTurn();
      }
      runner.stop();
      return toResult(samples);
    }),
};

function noTimes(): Record<Contestant, number[]> {
  return { daemon: [], fallback: [], bashJq: [], sh: [], node: [] };
}

async function withMessage(scene: HookScene, name: Contestant, text: string, samples: Samples): Promise<void> {
  for (;;) {
    const { tookMs, stdout } = await scene.run(name);
    samples.full[name].push(tookMs);
    await delay(settleMs / 3);
    if (!readsInbox(name) || contextOf(stdout)?.includes(text)) return;
    samples.late += 1;
    if (samples.late > mostLate) {
      throw new Error(
        `hook: ${samples.late} answers without the message, the last (${name}) after ${tookMs.toFixed()} ms`,
      );
    }
    await scene.again(name);
  }
}

async function withoutMessage(scene: HookScene, name: Contestant, samples: Samples): Promise<void> {
  const { tookMs, stdout } = await scene.run(name);
  samples.empty[name].push(tookMs);
  await delay(settleMs / 3);
  if (readsInbox(name) && contextOf(stdout) !== undefined) {
    throw new Error(`hook: ${name} had nothing to give and answered ${stdout.trim().slice(0, 200)}`);
  }
}

function readsInbox(name: Contestant): boolean {
  return name !== 'sh' && name !== 'node';
}

function contextOf(stdout: string): string | undefined {
  const answer = JSON.parse(stdout) as { hookSpecificOutput?: { additionalContext?: string } };
  return answer.hookSpecificOutput?.additionalContext;
}

function toResult({ full, empty, late }: Samples): BenchResult {
  const both = (name: Contestant): Spread => spread([...full[name], ...empty[name]]);
  return {
    hook: {
      message: spread(full.daemon),
      empty: spread(empty.daemon),
      fallback: spread(full.fallback),
      fallbackEmpty: spread(empty.fallback),
      late,
    },
    baseline: {
      bashJqMessage: spread(full.bashJq),
      bashJqEmpty: spread(empty.bashJq),
      sh: both('sh'),
      node: both('node'),
    },
  };
}
