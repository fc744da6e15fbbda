// What can go wrong, each as one entry of a table: how often, and how it is done to the stage. The plan that a seed makes
// is a sequence of these.

import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { damageInbox, damageOutbox, isStateExpendable } from './damage.ts';
import type { SmallDisk } from './disk.ts';
import type { Fault, FaultParts } from './fault.ts';
import { agentFaults } from './owned/faults.ts';
import { killFor } from './parts.ts';
import type { Random } from './random.ts';
import { removeState, type Stage } from './stage.ts';

const html = '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>';

const processes: Fault[] = [
  {
    name: 'kill -9 of the daemon',
    weight: 5,
    run: ({ stage, random }) => killFor([stage.daemon], random.int(0, 1_500)),
  },
  {
    name: 'kill -9 of the relay',
    weight: 3,
    run: ({ stage, random }) => killFor([stage.relay], random.int(0, 800)),
  },
  {
    name: 'kill -9 of both',
    weight: 1,
    run: ({ stage, random }) => killFor([stage.daemon, stage.relay], random.int(0, 800)),
  },
  {
    name: 'the daemon is stopped and started',
    weight: 1,
    async run({ stage }) {
      await stage.daemon.stop();
      await stage.daemon.up();
    },
  },
  {
    name: 'the workstation sleeps',
    weight: 2,
    async run({ stage, random }) {
      const ms = random.chance(0.2) ? 13_000 : random.int(500, 4_000);
      await freezeFor(stage.daemon, ms);
    },
  },
  {
    name: 'the relay stands still',
    weight: 1,
    run: ({ stage, random }) => freezeFor(stage.relay, random.int(500, 4_000)),
  },
  {
    name: 'kill -9 of a hook',
    of: 'messages',
    weight: 1,
    async run({ actors, ledger }) {
      const pid = await until(() => launcherOf(process.pid), 3_000);
      if (pid === undefined) return false;
      actors.spoilTurn('a hook of its turn was killed');
      ledger.mark(`killing hook ${pid}`);
      kill(pid);
      return true;
    },
  },
  {
    name: 'a new session of the coding agent',
    of: 'messages',
    weight: 1,
    run: async ({ actors }) => actors.newSession(),
  },
];

const network: Fault[] = [
  { name: 'every connection is cut', weight: 2, run: async ({ stage }) => stage.line.cut() },
  {
    name: 'no network',
    weight: 2,
    async run({ stage, random }) {
      const ms = random.int(300, 3_000);
      stage.line.setDown(true);
      await delay(ms);
      stage.line.setDown(false);
    },
  },
  { name: 'a request is lost', weight: 2, run: async ({ stage }) => stage.line.arm({ kind: 'dropRequest' }) },
  { name: 'an answer is lost', weight: 3, run: async ({ stage }) => stage.line.arm({ kind: 'dropAnswer' }) },
  { name: 'an answer ends early', weight: 3, run: async ({ stage }) => stage.line.arm({ kind: 'truncateAnswer' }) },
  {
    name: 'an answer is late',
    weight: 2,
    run: async ({ stage, random }) => stage.line.arm({ kind: 'delayAnswer', ms: random.int(200, 3_000) }),
  },
  {
    name: 'the webhook’s answer is lost',
    weight: 3,
    run: async ({ stage }) => stage.gate.arm({ kind: 'loseAnswer' }),
  },
  { name: 'a webhook is lost', weight: 1, run: async ({ stage }) => stage.gate.arm({ kind: 'loseRequest' }) },
  { name: 'a webhook comes twice', weight: 2, run: async ({ stage }) => stage.gate.arm({ kind: 'twice' }) },
  {
    name: 'a webhook is late',
    weight: 1,
    run: async ({ stage, random }) => stage.gate.arm({ kind: 'late', ms: random.int(100, 1_500) }),
  },
  {
    name: 'old webhooks come again',
    weight: 2,
    async run({ stage, random }) {
      const backs = [random.int(0, 3), random.int(0, 40), random.int(0, 200)];
      for (const back of backs) await stage.gate.replay(back);
    },
  },
  {
    name: 'webhooks come in the wrong order',
    of: 'messages',
    weight: 2,
    run: ({ actors }) => actors.phone.sayReordered(),
  },
];

const platform: Fault[] = [
  api('429 for a second', 2, { status: 429, headers: { 'Retry-After': '1' } }),
  {
    name: '429 for 13,938 seconds, which pass',
    weight: 1,
    run: (parts) => pauseAndPass(parts, { status: 429, headers: { 'Retry-After': '13938' } }),
  },
  { name: '409, and its pause passes', weight: 1, run: (parts) => pauseAndPass(parts, { status: 409 }) },
  api('400 on the entities', 1, { status: 400, body: badRequest("can't parse entities: Unsupported start tag") }),
  api('400 for good', 1, { status: 400, body: badRequest('message text is empty') }),
  api('403', 1, { status: 403 }),
  api('500 with HTML', 2, { status: 500, body: html }),
  api('the Bot API cuts the connection', 1, { reset: true }),
  api('the Bot API takes it and cuts the connection', 1, { reset: true, afterEffect: true }),
  api('the Bot API hangs', 1, { hang: true }),
  {
    name: 'the relay is killed while the Bot API hangs',
    weight: 1,
    async run({ stage, random }) {
      const before = stage.sim.calls.length;
      const downMs = random.int(0, 500);
      if (!stage.failSend({ hang: true })) return;
      await until(() => stage.sim.calls.slice(before).some((call) => call.answer.status === 0) || undefined, 4_000);
      await killFor([stage.relay], downMs);
    },
  },
];

const disk: Fault[] = [
  { name: 'the inbox file is damaged', of: 'messages', weight: 3, run: damageInbox },
  { name: 'the outbox file is damaged', of: 'messages', weight: 1, run: damageOutbox },
  {
    name: 'the state directory is deleted',
    weight: 1,
    async run({ stage, ledger, actors, random }) {
      const whileItRuns = random.chance(0.4);
      const goesOnMs = random.int(0, 1_000);
      await actors.withFiles(async () => {
        if (!(await isStateExpendable(stage, ledger)))
          return ledger.mark('not deleted: it has the only copy of something');
        ledger.stateLost();
        if (whileItRuns) {
          await removeState(stage);
          await delay(goesOnMs);
        }
        await stage.daemon.kill9();
        await removeState(stage);
        ledger.stateLost();
        await stage.daemon.up();
      });
    },
  },
  {
    name: 'the disk is full',
    weight: 2,
    run: (parts) => fillAndNote(parts, [parts.stage.disk]),
  },
  {
    name: 'every disk is full',
    weight: 1,
    run: (parts) => fillAndNote(parts, [parts.stage.disk, parts.stage.runDisk]),
  },
];

export const faults: readonly Fault[] = [...processes, ...agentFaults, ...network, ...platform, ...disk];

/** Files and journal lie on the one disk: nothing has a place meanwhile. */
async function fillAndNote({ stage, ledger, random }: FaultParts, disks: SmallDisk[]): Promise<void> {
  const fromAt = Date.now();
  await fillFor(stage, disks, random);
  if (stage.disk.small) ledger.noPlace({ fromAt, toAt: Date.now() });
}

function api(name: string, weight: number, failure: Parameters<Stage['sim']['failNext']>[0]): Fault {
  return { name, weight, run: async ({ stage }) => void stage.failSend(failure) };
}

function badRequest(description: string): object {
  return { ok: false, error_code: 400, description: `Bad Request: ${description}` };
}

/** The relay obeys a pause of hours; the lab lets them pass in its storage while it is down. */
async function pauseAndPass({ stage, ledger }: FaultParts, failure: Parameters<Stage['sim']['failNext']>[0]) {
  const before = stage.sim.calls.length;
  if (!stage.failSend(failure)) return;
  const hit = () => stage.sim.calls.slice(before).some(({ answer }) => answer.status === failure.status);
  if (!(await until(() => hit() || undefined, 4_000))) return;
  await delay(500);
  const during = stage.sim.calls.length;
  await stage.relay.kill9();
  ledger.mark(`${stage.sim.calls.length - during} calls in the pause; pauses that passed: ${stage.endPauses()}`);
  await stage.relay.up();
}

/** The daemon dies at the beginning, in the middle or not at all. */
async function fillFor(stage: Stage, disks: readonly SmallDisk[], random: Random): Promise<void> {
  const ms = random.int(300, 2_500);
  const killAtMs = random.chance(0.4) ? random.pick([0, Math.floor(ms / 2)]) : undefined;
  for (const disk of disks) await disk.fill();
  await delay(killAtMs ?? ms);
  if (killAtMs !== undefined) {
    await stage.daemon.kill9();
    await delay(ms - killAtMs);
  }
  for (const disk of disks) await disk.free();
  await stage.daemon.up();
}

async function freezeFor(part: Stage['daemon'], ms: number): Promise<void> {
  part.freeze();
  await delay(ms);
  part.thaw();
}

/** A launcher that this process started as the coding agent. */
function launcherOf(parent: number): number | undefined {
  for (const task of readdirSync(`/proc/${parent}/task`)) {
    const children = read(`/proc/${parent}/task/${task}/children`).trim().split(' ').filter(Boolean);
    const found = children.find((pid) => read(`/proc/${pid}/cmdline`).includes('wa-hook\0gemini\0'));
    if (found) return Number(found);
  }
  return undefined;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was quicker.
  }
}

async function until<T>(probe: () => T | undefined, withinMs: number): Promise<T | undefined> {
  for (const deadline = Date.now() + withinMs; Date.now() < deadline; await delay(5)) {
    const found = probe();
    if (found !== undefined) return found;
  }
  return undefined;
}
