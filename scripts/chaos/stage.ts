// The whole path with every part real and every part killable: simulated Telegram, the built Worker in workerd, the built
// daemon as a process, and a faulty network on both sides of the relay.

import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { type EmbeddedRelay, startEmbeddedRelay } from '../../agent/dev/embedded-relay.ts';
import { type ApiFailure, startTelegramSim, type TelegramSim } from '../../agent/dev/telegram-sim/sim.ts';
import { createRelayClient, type RelayClient } from '../../agent/relay-client.ts';
import type { Lab } from '../bench/lab.ts';
import { openSmallDisk, type SmallDisk } from './disk.ts';
import { type Gate, startGate } from './gate.ts';
import { type Line, startLine } from './line.ts';

export interface Stage {
  readonly lab: Lab;
  readonly sim: TelegramSim;
  readonly gate: Gate;
  readonly line: Line;
  readonly disk: SmallDisk;
  readonly client: RelayClient;
  readonly mailbox: string;
  readonly projectDir: string;
  readonly stateDir: string;
  readonly inboxFile: string;
  readonly outboxFile: string;
  /** What a launcher needs to reach this daemon. */
  readonly env: Record<string, string>;
  readonly daemon: Part;
  readonly relay: Part;
  /** When a process of the relay was killed, epoch milliseconds. */
  readonly relayKills: readonly number[];
  /** The next message to the phone fails like this; false = an earlier failure still waits for its call, and one at a time is enough. */
  failSend(failure: ApiFailure): boolean;
  /** Moves the relay's time past what it waits for: only while it is down. Returns how many pauses it ended. */
  endPauses(): number;
  /** Rows of the relay's outbox that wait, as its storage has them. */
  relayRows(): string[];
  /** What the daemon process said before it ended by itself. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

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

export async function openStage(lab: Lab, onEvent: (what: string) => void): Promise<Stage> {
  const undo: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step().catch(() => {});
  };
  try {
    const disk = await openSmallDisk(join(lab.baseDir, 'disk'));
    undo.push(() => disk.close());
    const projectDir = join(disk.dir, 'project');
    const stateDir = join(disk.dir, 'state');
    const configDir = join(lab.baseDir, 'config');
    const relayDir = join(lab.baseDir, 'relay');
    await mkdir(join(projectDir, '.gemini'), { recursive: true, mode: 0o700 });
    await mkdir(configDir, { mode: 0o700 });
    const sim = await startTelegramSim({ retryDelayMs: () => 150 });
    undo.push(() => sim.close());
    const mailbox = String(sim.ownerId);
    const token = randomBytes(32).toString('base64url');
    const secret = randomBytes(24).toString('base64url');
    const relayKills: number[] = [];

    let relayPort = 0;
    const relay = relayPart(
      async () => {
        const started = await startEmbeddedRelay({
          workerScript: join(lab.distDir, 'worker.js'),
          port: relayPort,
          persistDir: relayDir,
          cacheDir: lab.cacheDir,
          say: lab.say,
          vars: {
            TELEGRAM_BOT_TOKEN: sim.token,
            TELEGRAM_API_ROOT: sim.apiRoot,
            TELEGRAM_CHAT_ID: mailbox,
            TELEGRAM_USER_IDS: mailbox,
            TELEGRAM_WEBHOOK_SECRET: secret,
            WA_AGENT_TOKEN_SHA256: createHash('sha256').update(token).digest('hex'),
          },
        });
        relayPort = Number(new URL(started.url).port);
        return started;
      },
      relayKills,
      onEvent,
    );
    undo.push(() => relay.stop());
    await relay.up();
    const line = await startLine(() => relayPort);
    undo.push(() => line.close());
    const gate = await startGate(() => `http://127.0.0.1:${relayPort}`, secret);
    undo.push(() => gate.close());
    sim.setWebhook(gate.url, secret);
    const client = createRelayClient({ url: `http://127.0.0.1:${relayPort}`, token });
    undo.push(() => client.close());

    const bindings = [{ dir: projectDir, mailbox, project: 0 }];
    await writeFile(join(configDir, 'config.json'), JSON.stringify({ bindings }), { mode: 0o600 });
    const env = {
      ...lab.env,
      WA_STATE_DIR: stateDir,
      WA_CONFIG_DIR: configDir,
      WA_RUNTIME_DIR: join(lab.baseDir, 'run'),
    };
    const complaints: string[] = [];
    const daemon = daemonPart(
      () =>
        spawn(process.execPath, [join(lab.distDir, 'wa-sync.js'), 'start', '--quiet'], {
          cwd: projectDir,
          env: { ...env, WA_RELAY_URL: `http://127.0.0.1:${line.port}`, WA_AGENT_TOKEN: token },
          stdio: ['ignore', 'pipe', 'pipe'],
        }),
      (what) => {
        complaints.push(what);
        onEvent(what);
      },
    );
    undo.push(() => daemon.kill9());
    return {
      lab,
      sim,
      gate,
      line,
      disk,
      client,
      mailbox,
      projectDir,
      stateDir,
      inboxFile: join(projectDir, '.gemini', 'wa_inbox.json'),
      outboxFile: join(projectDir, '.gemini', 'wa_outbox.json'),
      env,
      daemon,
      relay,
      relayKills,
      complaints,
      failSend: failOnce(sim),
      endPauses: () => endPauses(relayDir),
      relayRows: () => relayRows(relayDir),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function relayPart(start: () => Promise<EmbeddedRelay>, kills: number[], onEvent: (what: string) => void): Part {
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
      kills.push(Date.now());
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

function daemonPart(start: () => ChildProcess, onComplaint: (what: string) => void): Part {
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
    exited.then(() => {
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
    kill9: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
    freeze: () => void running?.child.kill('SIGSTOP'),
    thaw: () => void running?.child.kill('SIGCONT'),
  };
}

/** Failures that pile up would all hit the one message at the head of the queue. */
function failOnce(sim: TelegramSim): Stage['failSend'] {
  let armedAfter: number | undefined;
  return (failure) => {
    const isWaiting =
      armedAfter !== undefined && !sim.calls.slice(armedAfter).some(({ method }) => method === 'sendMessage');
    if (isWaiting) return false;
    armedAfter = sim.calls.length;
    sim.failNext({ method: 'sendMessage', ...failure });
    return true;
  };
}

/** Hours of a pause and of backing off pass in its storage. */
function endPauses(relayDir: string): number {
  return overMailboxes(relayDir, (database) => {
    database.exec('UPDATE outbox SET next_at = 0 WHERE waiting = 1');
    return Number(database.prepare("DELETE FROM meta WHERE key = 'pause'").run().changes);
  }).reduce((sum, ended) => sum + ended, 0);
}

function relayRows(relayDir: string): string[] {
  const query =
    'SELECT key, part, class, n, state, attempts, next_at, without FROM outbox WHERE waiting = 1 ORDER BY class, n';
  return overMailboxes(relayDir, (database) => database.prepare(query).all())
    .flat()
    .map((row) => `row ${JSON.stringify(row)}`);
}

/** Each object's storage in which a mailbox stands. */
function overMailboxes<T>(relayDir: string, work: (database: DatabaseSync) => T): T[] {
  const results: T[] = [];
  for (const name of readdirSync(relayDir, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.sqlite')) continue;
    const database = new DatabaseSync(join(relayDir, name));
    try {
      const known = database.prepare("SELECT name FROM sqlite_master WHERE name IN ('meta', 'outbox')").all();
      if (known.length === 2) results.push(work(database));
    } finally {
      database.close();
    }
  }
  return results;
}

/** Lines of the daemon's journal; empty while there is none. */
export async function readJournal(stage: Pick<Stage, 'stateDir'>): Promise<string> {
  return readFile(join(stage.stateDir, 'journal.jsonl'), 'utf8').catch(() => '');
}

export async function removeState(stage: Pick<Stage, 'stateDir'>): Promise<void> {
  await rm(stage.stateDir, { recursive: true, force: true, maxRetries: 5 });
}
