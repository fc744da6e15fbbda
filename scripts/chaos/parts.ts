// The two processes that can die: the relay with its workerd, and the daemon. Knows how they end and start, not why.

import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { EmbeddedRelay } from '../../agent/dev/embedded-relay.ts';

/** A process that can die. */
export interface Part {
  isUp(): boolean;
  /** Resolves when it runs; tries again when the start fails. */
  up(): Promise<void>;
  kill9(): Promise<void>;
  /** It ends in its own way. */
  stop(): Promise<void>;
  /** As a machine that sleeps. */
  freeze(): void;
  thaw(): void;
}

const startTries = 40;
const startTimeoutMs = 30_000;

export function relayPart(
  start: () => Promise<EmbeddedRelay>,
  onKill: () => void,
  onEvent: (what: string) => void,
): Part {
  let running: EmbeddedRelay | undefined;
  const signal = (name: NodeJS.Signals) => {
    try {
      if (running) process.kill(-running.pid, name);
    } catch {
      // It is gone.
    }
  };
  return {
    isUp: () => running !== undefined,
    async up() {
      for (let tries = 1; !running; tries += 1) {
        try {
          running = await start();
        } catch (error) {
          // Its port is free again a moment after the old process is gone.
          if (tries >= startTries) throw error;
          onEvent(`relay does not start yet: ${(error as Error).message}`);
          await delay(250);
        }
      }
    },
    async kill9() {
      const dying = running;
      if (!dying) return;
      onKill();
      signal('SIGKILL');
      running = undefined;
      await dying.exited;
    },
    async stop() {
      const stopping = running;
      running = undefined;
      await stopping?.stop();
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
  };
}

export function daemonPart(start: () => ChildProcess, onKill: () => void, onComplaint: (what: string) => void): Part {
  let running: { child: ChildProcess; exited: Promise<void> } | undefined;
  let wanted = false;

  /** True when it runs, false when it ended before. */
  async function tryStart(): Promise<boolean> {
    const child = start();
    let stderr = '';
    let says: () => void = () => {};
    const ready = new Promise<boolean>((resolve) => {
      says = () => resolve(true);
    });
    child.stdout?.setEncoding('utf8').on('data', (text: string) => text.includes('is running') && says());
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-400);
    });
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    const mine = { child, exited };
    running = mine;
    void exited.then(() => {
      if (wanted && running === mine)
        onComplaint(`the daemon ended with ${child.exitCode ?? child.signalCode}: ${stderr}`);
      if (running === mine) running = undefined;
    });
    const timeout = delay(startTimeoutMs, false, { ref: false });
    return Promise.race([ready, timeout, exited.then(() => false)]);
  }

  const end = async (name: NodeJS.Signals) => {
    wanted = false;
    const dying = running;
    if (!dying) return;
    dying.child.kill('SIGCONT');
    dying.child.kill(name);
    await dying.exited;
  };
  return {
    isUp: () => running !== undefined,
    async up() {
      wanted = true;
      for (let tries = 1; !running; tries += 1) {
        if (await tryStart()) return;
        if (tries >= startTries) throw new Error('the daemon does not start');
        await delay(250);
      }
    },
    async kill9() {
      if (running) onKill();
      await end('SIGKILL');
    },
    stop: () => end('SIGTERM'),
    freeze: () => void running?.child.kill('SIGSTOP'),
    thaw: () => void running?.child.kill('SIGCONT'),
  };
}

/** Down for so long. */
export async function killFor(parts: readonly Part[], downMs: number): Promise<void> {
  await Promise.all(parts.map((part) => part.kill9()));
  await delay(downMs);
  await Promise.all(parts.map((part) => part.up()));
}
