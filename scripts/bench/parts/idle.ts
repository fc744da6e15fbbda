// What the daemon costs while nothing happens: parked in its long poll, looking at its two files every two seconds.

import { setTimeout as delay } from 'node:timers/promises';
import { usageOf } from '../processes.ts';
import type { Part } from '../result.ts';
import { withStage } from '../stage.ts';
import { round } from '../stats.ts';

const settleMs = 3_000;
const forMs = 15_000;

export const idle: Part = {
  name: 'idle',
  run: (lab) =>
    withStage(lab, async (stage) => {
      const { pid } = await stage.startDaemon();
      await delay(settleMs);
      const before = usageOf(pid);
      const startedAt = performance.now();
      await delay(forMs);
      const after = usageOf(pid);
      const tookMs = performance.now() - startedAt;
      if (!before || !after) {
        lab.say('idle: not measured, this system has no /proc');
        return {};
      }
      const cpuPercent = round(((after.cpuMs - before.cpuMs) / tookMs) * 100);
      return { idle: { cpuPercent, rssMb: round(after.rssMb), ownMb: round(after.ownMb) } };
    }),
};
