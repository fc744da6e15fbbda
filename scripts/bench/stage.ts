// One world for one measurement: simulated Telegram here, the real Worker in workerd, the real daemon as a process of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { startTelegramSim, type TelegramSim } from '../../agent/dev/telegram-sim/sim.ts';
import { askDaemon } from '../../agent/local-client.ts';
import { createRelayClient, type RelayClient } from '../../agent/relay/client.ts';
import type { Lab } from '../lab/lab.ts';
import { builtRelay } from '../lab/relay.ts';
import { makeWorkstation, type WorkstationFolders } from '../lab/workstation.ts';

export interface DaemonProcess {
  readonly pid: number;
  /** Messages that the journal holds for the coding agent. */
  waiting(): Promise<number>;
  /** Resolves when it is gone. */
  stop(): Promise<void>;
}

export interface Stage extends WorkstationFolders {
  readonly sim: TelegramSim;
  readonly dir: string;
  readonly relayDir: string;
  /** One webhook POST of a message with this text; throws unless the relay has committed it. */
  post(text: string): Promise<void>;
  /** `count` messages over `webhookConnections` connections; stops early at `untilMs`. Returns how many and how long. */
  flood(count: number, untilMs?: number): Promise<{ accepted: number; tookMs: number }>;
  metrics(): Promise<Record<string, number>>;
  /** Another way to the relay than the daemon's. */
  readonly client: RelayClient;
  /** Where a program finds the relay on this port, which may be that of a line in between. */
  relayAt(port: number): { url: string; token: string };
  readonly relayPort: number;
  /** Resolves when it runs, and polls unless `awaitPoll` is false. `port`: see `relayAt`. */
  startDaemon(options?: { awaitPoll?: boolean; port?: number }): Promise<DaemonProcess>;
  stopRelay(): Promise<void>;
  startRelay(): Promise<void>;
}

export interface StageOptions {
  /** Ids of chats beside the owner's own. */
  groups?: readonly number[];
}

const webhookConnections = 16;
const deadlineMs = 20_000;

/** Everything is stopped when `work` ends, however it ends. */
export async function withStage<T>(
  lab: Lab,
  work: (stage: Stage) => Promise<T>,
  options: StageOptions = {},
): Promise<T> {
  const undo: (() => Promise<unknown>)[] = [];
  try {
    return await work(await openStage(lab, undo, options));
  } finally {
    for (const step of undo.reverse()) await step().catch(() => {});
  }
}

async function openStage(lab: Lab, undo: (() => Promise<unknown>)[], { groups = [] }: StageOptions): Promise<Stage> {
  const dir = await mkdtemp(join(lab.baseDir, 's-'));
  const relayDir = join(dir, 'relay');
  const sim = await startTelegramSim({ groups: groups.map((id) => ({ id })) });
  undo.push(() => sim.close());
  const mailbox = String(sim.ownerId);
  const station = await makeWorkstation({ dir, mailbox, env: lab.env });
  const built = builtRelay({
    workerScript: join(lab.distDir, 'worker.js'),
    persistDir: relayDir,
    cacheDir: lab.cacheDir,
    bot: sim,
    chats: [mailbox, ...groups.map(String)],
    owner: mailbox,
    say: lab.say,
  });
  const { token, secret } = built;
  let relay: Awaited<ReturnType<typeof built.start>> | undefined;
  const startRelay = async () => {
    relay = await built.start();
  };
  const stopRelay = async () => {
    await relay?.stop();
    relay = undefined;
  };
  await startRelay();
  undo.push(stopRelay);
  const url = built.url();
  sim.setWebhook(`${url}/telegram/webhook`, secret);
  const relayAt = (port: number) => ({ url: `http://127.0.0.1:${port}`, token });
  const client = createRelayClient(relayAt(built.port()));
  undo.push(() => client.close());
  const http = new Agent({ connections: webhookConnections, pipelining: 1 });
  undo.push(() => http.destroy());

  let lastId = 1000;
  async function post(text: string): Promise<void> {
    lastId += 1;
    const chat = { id: sim.ownerId, type: 'private', first_name: 'Owner' };
    const from = { id: sim.ownerId, is_bot: false, first_name: 'Owner', language_code: 'en' };
    const date = Math.floor(Date.now() / 1000);
    const response = await request(`${url}/telegram/webhook`, {
      method: 'POST',
      dispatcher: http,
      headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': secret },
      body: JSON.stringify({ update_id: lastId, message: { message_id: lastId, from, chat, date, text } }),
    });
    await response.body.dump();
    if (response.statusCode !== 200) throw new Error(`the webhook answered ${response.statusCode}`);
  }

  async function metrics(): Promise<Record<string, number>> {
    const response = await request(`${url}/v1/metrics`, {
      dispatcher: http,
      headers: { authorization: `Bearer ${token}` },
    });
    const lines = (await response.body.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return Object.fromEntries(
      lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
    );
  }

  return {
    sim,
    dir,
    ...station,
    relayDir,
    post,
    metrics,
    startRelay,
    stopRelay,
    async flood(count, untilMs = Number.POSITIVE_INFINITY) {
      let started = 0;
      let accepted = 0;
      const startedAt = performance.now();
      const one = async () => {
        while (started < count && performance.now() - startedAt < untilMs) {
          started += 1;
          await post(`Please look at failing test number ${started} and tell me what you find.`);
          accepted += 1;
        }
      };
      await Promise.all(Array.from({ length: webhookConnections }, one));
      return { accepted, tookMs: performance.now() - startedAt };
    },
    client,
    relayAt,
    relayPort: built.port(),
    async startDaemon({ awaitPoll = true, port = built.port() } = {}) {
      const at = relayAt(port);
      const polls = awaitPoll ? ((await metrics()).wa_polls_total ?? 0) : 0;
      const child = spawn(process.execPath, [join(lab.distDir, 'wa-sync.js'), 'start', '--quiet'], {
        cwd: station.projectDir,
        env: { ...station.env, WA_RELAY_URL: at.url, WA_AGENT_TOKEN: at.token },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const daemon = daemonProcess(child, station.env.WA_RUNTIME_DIR as string);
      undo.push(daemon.stop);
      if (awaitPoll) {
        await until('the daemon polls', async () => ((await metrics()).wa_polls_total ?? 0) > polls, daemon.failed);
      }
      return daemon;
    },
  };
}

function daemonProcess(child: ChildProcess, runtimeDir: string): DaemonProcess & { failed: () => string | undefined } {
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-500);
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const isGone = () => child.exitCode !== null || child.signalCode !== null;
  return {
    pid: child.pid as number,
    failed: () => (isGone() ? `the daemon ended with ${child.exitCode ?? child.signalCode}: ${complaint}` : undefined),
    async waiting() {
      const { projects } = (await askDaemon({ runtime: runtimeDir }, 'GET', '/status')) as {
        projects: { waiting: number }[];
      };
      return projects[0]?.waiting ?? 0;
    },
    async stop() {
      if (isGone()) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** Asks every few milliseconds until it holds. Not for what is timed: there a change of the file is awaited. */
export async function until(
  what: string,
  holds: () => Promise<boolean>,
  failed: () => string | undefined = () => undefined,
  withinMs = deadlineMs,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    if (await holds().catch(() => false)) return;
    const why = failed() ?? (performance.now() > deadline ? `not within ${withinMs / 1000} s: ${what}` : undefined);
    if (why) throw new Error(why);
    await delay(5);
  }
}
