// The built product around one home of a coding agent, as its user has it: simulated Telegram, relay in workerd, the daemon and the
// command line out of dist/. Must never use a state, config or runtime folder outside that home.

import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { inject } from 'vitest';
import { startEmbeddedRelay } from '../../agent/dev/embedded-relay.ts';
import { type SimMessage, startTelegramSim, type TelegramSim } from '../../agent/dev/telegram-sim/sim.ts';
import { createRelayClient } from '../../agent/relay/client.ts';
import type { InboxEntry, OutboxEntry } from '../../protocol/files.ts';
import type { ReceiptState } from '../../protocol/receipts.ts';
import type { HostHome } from './home.ts';
import { signal, until } from './processes.ts';

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export type Ladder = Partial<Record<ReceiptState, number>>;

export interface Product {
  sim: TelegramSim;
  /** The copy of dist/ that everything runs from. */
  distDir: string;
  /** `wa-sync …` in the project. */
  wa(...args: string[]): Promise<CommandResult>;
  /** Writes config.json for the next start of the daemon. */
  configure(changes: object): Promise<void>;
  startDaemon(): Promise<void>;
  /** SIGTERM lets it finish, SIGKILL does not. */
  stopDaemon(name?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** The owner types; resolves with Telegram's message id when the text stands in the inbox file. */
  say(text: string): Promise<number>;
  /** Resolves when the relay counts the project's messages so, and no other. */
  waitForLadder(expected: Ladder): Promise<void>;
  /** Resolves with what the phone shows of the bot, without progress and pick-up, as soon as it is so many messages. */
  waitForAnswers(count: number): Promise<SimMessage[]>;
  inbox(): Promise<InboxEntry[]>;
  outbox(): Promise<OutboxEntry[]>;
  /** Resolves when every status update of the file is marked sent. */
  waitForSent(): Promise<OutboxEntry[]>;
  close(): Promise<void>;
}

const waitMs = 30_000;
/** The message that shows a long turn's progress; how long a turn takes is not ours to say. */
const progress = /(^|\n\n)(Working|Done after|Failed after)\b/;
/** What is told of a message that no turn has picked up in some seconds; how fast a turn begins is not ours to say either. */
const pickUp = /^It waits\b/;

/** Whoever types in these tests sits at the terminal: the phone hears of it all the same, and no nudge comes between. */
const plain = { follow: 'always', nudge: 'off' };

/** With a running daemon that serves the project; no hooks are installed yet. `config` is added to config.json. */
export async function startProduct(home: Omit<HostHome, 'close'>, config: object = {}): Promise<Product> {
  const undo: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const sim = await startTelegramSim();
    undo.push(() => sim.close());
    const base = dirname(home.home);
    const distDir = await copyDist();
    undo.push(() => rm(dirname(distDir), { recursive: true, force: true, maxRetries: 5 }));
    const token = randomBytes(32).toString('base64url');
    const secret = randomBytes(16).toString('hex');
    const relay = await startEmbeddedRelay({
      workerScript: join(distDir, 'worker.js'),
      persistDir: join(base, 'relay'),
      cacheDir: join(base, 'relay-cache'),
      say: () => undefined,
      vars: {
        TELEGRAM_BOT_TOKEN: sim.token,
        TELEGRAM_API_ROOT: sim.apiRoot,
        TELEGRAM_CHAT_ID: String(sim.ownerId),
        TELEGRAM_WEBHOOK_SECRET: secret,
        WA_AGENT_TOKEN_SHA256: createHash('sha256').update(token).digest('hex'),
      },
    });
    undo.push(() => relay.stop());
    const relayUrl = relay.url.replace(/\/+$/, '');
    sim.setWebhook(`${relayUrl}/telegram/webhook`, secret);
    const client = createRelayClient({ url: relayUrl, token });
    undo.push(() => client.close());

    const script = join(distDir, 'wa-sync.js');
    const env = { ...home.env, WA_RELAY_URL: relayUrl, WA_AGENT_TOKEN: token };
    const start = (args: string[]) =>
      spawn(process.execPath, [script, ...args], { cwd: home.project, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let daemon: ChildProcess | undefined;
    const stopDaemon: Product['stopDaemon'] = async (name = 'SIGTERM') => {
      const child = daemon;
      daemon = undefined;
      if (child?.pid === undefined) return;
      const ended = whenEnded(child);
      signal(child.pid, name);
      await ended;
    };
    undo.push(() => stopDaemon());

    const file = async <E>(name: string): Promise<E[]> =>
      readFile(join(home.project, '.gemini', name), 'utf8').then(
        (text) => JSON.parse(text).messages as E[],
        () => [],
      );
    const inbox = () => file<InboxEntry>('wa_inbox.json');
    const outbox = () => file<OutboxEntry>('wa_outbox.json');
    const ladder = async (): Promise<Ladder> => (await client.status()).mailboxes[0]?.projects[0]?.ladder ?? {};
    const log = async () =>
      (await readFile(join(home.home, '.local', 'state', 'wa-sync', 'wa-sync.log'), 'utf8').catch(() => '')).slice(
        -4_000,
      );
    const phone = () =>
      sim.messages().filter(({ from, text }) => from === 'bot' && !progress.test(text) && !pickUp.test(text));

    const product: Product = {
      sim,
      distDir,
      async wa(...args) {
        const child = start(args);
        const output = collect(child);
        const code = await whenEnded(child);
        return { code, ...output() };
      },
      async startDaemon() {
        const child = start(['start']);
        daemon = child;
        const output = collect(child);
        const running = () => output().stdout.includes('is running');
        await until(() => running() || child.exitCode !== null, waitMs);
        if (!running()) throw new Error(`The daemon did not start: ${JSON.stringify(output())}`);
      },
      stopDaemon,
      async configure(changes) {
        const dir = join(home.home, '.config', 'wa-sync');
        await mkdir(dir, { recursive: true });
        await writeFile(join(dir, 'config.json'), JSON.stringify({ ...plain, ...changes }), { mode: 0o600 });
      },
      async say(text) {
        const id = await sim.say(text);
        const filed = async () => (await inbox()).some((entry) => entry.text === text && !entry.read);
        if (await until(filed, waitMs)) return id;
        throw new Error(`"${text}" did not reach the inbox file: ${JSON.stringify(await inbox())}`);
      },
      async waitForLadder(expected) {
        const wanted = sorted(expected);
        if (await until(async () => sorted(await ladder()) === wanted, waitMs)) return;
        throw new Error(`The relay does not count ${wanted} but ${sorted(await ladder())}\n${await log()}`);
      },
      async waitForAnswers(count) {
        if (await until(() => phone().length >= count, waitMs)) return phone();
        throw new Error(
          `The phone does not show ${count} messages of the bot but ${JSON.stringify(phone())}\n${await log()}`,
        );
      },
      inbox,
      outbox,
      async waitForSent() {
        const sent = async () => (await outbox()).every((entry) => entry.sent);
        if (await until(sent, waitMs)) return outbox();
        throw new Error(`Not everything was sent: ${JSON.stringify(await outbox())}`);
      },
      close,
    };
    await product.configure(config);
    await product.startDaemon();
    return product;
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Beside the repository's packages, which the command line imports; so deep that removing it removes nothing else. Its hooks wait as on a
 * slow machine, which a loaded one is: what comes late comes with the next event, and these tests are about the event.
 */
async function copyDist(): Promise<string> {
  const dist = inject('distDir');
  const distDir = join(await mkdtemp(join(dirname(dist), 'product-')), 'dist');
  await cp(dist, distDir, { recursive: true });
  const launcher = join(distDir, 'wa-hook');
  const asBuilt = await readFile(launcher, 'utf8');
  const patient = asBuilt.replace(/^slow=$/m, 'slow=x10');
  if (patient === asBuilt) throw new Error('The launcher has no slowness of its own.');
  await writeFile(launcher, patient);
  return distDir;
}

function collect(child: ChildProcess): () => { stdout: string; stderr: string } {
  const output = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    output.stdout += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    output.stderr = `${output.stderr}${chunk}`.slice(-4_000);
  });
  return () => ({ ...output });
}

function whenEnded(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
}

function sorted(ladder: Ladder): string {
  return JSON.stringify(Object.fromEntries(Object.entries(ladder).sort()));
}
