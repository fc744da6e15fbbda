// The memory of workerd under a load, measured beside a control: a Worker that only reads the same bodies and answers 200.
// Holds no expectations; the verdict is pure.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Beside the relay itself, in workerd as well: what its memory does is what V8 and workerd do, whatever the Worker is. */
export const controlWorker = `
import { DurableObject } from 'cloudflare:workers';
export class Mailbox extends DurableObject {}
export default {
  async fetch(request) {
    await request.arrayBuffer();
    return new Response('ok');
  },
};
`;

/** Resident memory in MB, sampled at the same moments of one run. */
export interface MemorySamples {
  relay: number[];
  control: number[];
}

export interface MemoryVerdict {
  /** Mean of the last quarter minus mean of the second one, MB: two windows of equal length, after the first has warmed up. */
  relayGrowthMb: number;
  controlGrowthMb: number;
  /** What the relay grew more than the control, in bytes for each webhook between the middles of the two windows. */
  bytesPerWebhook: number;
  isFlat: boolean;
}

/** MB of the processes below this one; 0 = not known here. */
export async function memoryBelow(pid: number): Promise<number> {
  if (process.platform === 'win32') return 0;
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,rss=']).catch(() => ({ stdout: '' }));
  const processes = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const kilobytes = processes.filter(([, parent]) => parent === pid).reduce((sum, [, , rss = 0]) => sum + rss, 0);
  return kilobytes / 1024;
}

/** Half of what Cloudflare gives an isolate. Two processes that do the same differ by less; one that keeps what it is sent does not. */
const allowedMb = 64;

/** `webhooks` = how many each of the two got. */
export function judgeMemory({ relay, control }: MemorySamples, webhooks: number): MemoryVerdict {
  const relayGrowthMb = Math.round(growthMb(relay));
  const controlGrowthMb = Math.round(growthMb(control));
  const beyondMb = relayGrowthMb - Math.max(0, controlGrowthMb);
  return {
    relayGrowthMb,
    controlGrowthMb,
    bytesPerWebhook: Math.max(0, Math.round((beyondMb * 1024 ** 2) / (webhooks / 2))),
    isFlat: beyondMb <= allowedMb,
  };
}

/** Mean of the last quarter minus mean of the second one. */
export function growthMb(samples: readonly number[]): number {
  return mean(windowOf(samples, 3)) - mean(windowOf(samples, 1));
}

function windowOf(samples: readonly number[], quarter: 0 | 1 | 2 | 3): number[] {
  const length = Math.floor(samples.length / 4);
  return samples.slice(quarter * length, (quarter + 1) * length);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
