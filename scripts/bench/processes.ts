// Whole processes as the coding agent pays for them: from the start to the last byte of the answer. And what a running one uses.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Command {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
  stdin: string;
}

export interface Runner {
  /** Throws when it exits with anything but 0. */
  run(command: Command): Promise<{ tookMs: number; stdout: string }>;
  stop(): void;
}

/** One command at a time. */
export function startRunner(): Runner {
  const child = fork(fileURLToPath(new URL('./runner.cjs', import.meta.url)), [], { execArgv: [] });
  return {
    async run(command) {
      const answer = once(child, 'message');
      child.send(command);
      const [{ tookMs, stdout, failed }] = (await answer) as [{ tookMs: number; stdout: string; failed?: string }];
      if (failed !== undefined) throw new Error(`${command.file} ${command.args.join(' ')}: ${failed}`);
      return { tookMs, stdout };
    },
    stop: () => child.disconnect(),
  };
}

/** USER_HZ, which Linux fixes for programs. */
const ticksPerSecond = 100;

export interface Usage {
  cpuMs: number;
  /** Pages of the Node binary, which every Node process shares, are the greater part. */
  rssMb: number;
  /** Of it the memory that is its own. */
  ownMb: number;
}

/** From /proc, so on Linux only; undefined elsewhere. */
export function usageOf(pid: number): Usage | undefined {
  if (process.platform !== 'linux') return undefined;
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const megabytes = (key: string) => Number(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
  return { cpuMs: (ticks / ticksPerSecond) * 1000, rssMb: megabytes('VmRSS'), ownMb: megabytes('RssAnon') };
}

/** The most memory that it ever had; undefined where there is no /proc. */
export function peakRssMb(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined;
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1024;
}
