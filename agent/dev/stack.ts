// Starts the whole product for dev, demo and tests: simulated Telegram, the real Worker in workerd, the daemon. The daemon runs in
// this process, the relay in a child process.

import { createHash, randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Config, loadConfig } from '../config.ts';
import { type Daemon, startDaemon } from '../daemon/daemon.ts';
import { readDaemonId } from '../daemon/daemon-id.ts';
import type { Log } from '../log.ts';
import { createRelayClient, type RelayClient } from '../relay/client.ts';
import { version } from '../version.ts';
import { keepChat, readChat } from './chat-store.ts';
import { type EmbeddedRelay, startEmbeddedRelay } from './embedded-relay.ts';
import { phoneUrl } from './phone-key.ts';
import { digestOf, keepPhonePlace, readPhonePlace } from './phone-place.ts';
import { phonePages } from './phone-server.ts';
import { startTelegramSim, type TelegramSim } from './telegram-sim/sim.ts';
import { devVariables } from './variables.ts';

export interface StackOptions {
  projectDir: string;
  /** Holds state, config and relay storage. `runtimeDir` is separate because socket paths must be short. */
  baseDir: string;
  runtimeDir: string;
  cacheDir: string;
  workerScript: string;
  platform: NodeJS.Platform;
  home: string;
  /** The bot and its chat; absent = the built-in simulator. */
  telegram?: { token: string; apiRoot: string; chatId: string; userIds: string; secret: string };
  /** Default: that of the last start, where it is free. */
  phonePort?: number;
  relayPort?: number;
  /** The user's own config.json, whose coding agents are those of this daemon. */
  own?: Pick<Config, 'agents' | 'agentCommands' | 'file'>;
  /** False = the agent is a script, although it runs in a person's terminal: its turns end without a wait. */
  isTerminal?: boolean;
  log: Log;
  say: (line: string) => void;
}

export interface Stack {
  /** Only with the simulator. */
  sim: TelegramSim | undefined;
  relay: EmbeddedRelay;
  relayClient: RelayClient;
  daemon: Daemon;
  mailbox: string;
  /** Address of the phone page, with its key; only with the simulator. */
  phoneUrl: string | undefined;
  webhook: { url: string; secret: string };
  /** The environment with which a coding agent, a launcher or a command reaches this daemon and no other. */
  env: Record<string, string>;
  stop(): Promise<void>;
}

/** Errors: those of its parts; a failure stops all started parts. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const undo: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step().catch(() => {});
  };
  try {
    // Only in memory and in the printed address, its digest in a file: from a file the coding agent could read the key and act as the owner.
    const key = randomBytes(18).toString('base64url');
    const sim = options.telegram ? undefined : await startSim(options, key);
    if (sim) {
      undo.push(() => sim.close());
      undo.push(keepChat(chatFile(options), sim));
    }
    const telegram = options.telegram ?? simAsTelegram(sim as TelegramSim);
    const token = randomBytes(32).toString('base64url');
    const relay = await startEmbeddedRelay({
      workerScript: options.workerScript,
      persistDir: join(options.baseDir, 'relay'),
      cacheDir: options.cacheDir,
      say: options.say,
      ...(options.relayPort === undefined ? {} : { port: options.relayPort }),
      vars: {
        TELEGRAM_BOT_TOKEN: telegram.token,
        TELEGRAM_API_ROOT: telegram.apiRoot,
        TELEGRAM_CHAT_ID: telegram.chatId,
        TELEGRAM_USER_IDS: telegram.userIds,
        TELEGRAM_WEBHOOK_SECRET: telegram.secret,
        WA_AGENT_TOKEN_SHA256: createHash('sha256').update(token).digest('hex'),
      },
      onLine: (line) => options.log('warn', 'relay', { line: line.slice(0, 300) }),
    });
    undo.push(() => relay.stop());
    const relayUrl = relay.url.replace(/(?<!\/)\/+$/, '');
    const webhook = { url: `${relayUrl}/telegram/webhook`, secret: telegram.secret };
    sim?.setWebhook(webhook.url, webhook.secret);

    const env = devVariables(options.baseDir, options.runtimeDir);
    const bindings = [{ dir: options.projectDir, mailbox: telegram.chatId, project: 0 }];
    const agents = { ...options.own?.agents, ...options.own?.agentCommands };
    // Also for commands in other terminals. Address and token change with each start.
    const configFile = join(env.WA_CONFIG_DIR, 'config.json');
    await mkdir(env.WA_CONFIG_DIR, { recursive: true, mode: 0o700 });
    await writeFile(configFile, JSON.stringify({ relay: { url: relayUrl, token }, bindings, agents }), { mode: 0o600 });
    undo.push(() => rm(configFile, { force: true }));
    const read = loadConfig({ env, platform: options.platform, home: options.home });
    // What a message tells to correct is the file of the user.
    const config = { ...read, file: options.own?.file ?? read.file };
    const relayClient = createRelayClient({ url: relayUrl, token });
    undo.push(() => relayClient.close());
    const daemon = await startDaemon({
      config,
      bindings,
      client: relayClient,
      daemonId: await readDaemonId(config.dirs.config),
      secrets: [token, telegram.token, telegram.secret],
      version,
      platform: options.platform,
      clock: Date.now,
      random: Math.random,
      log: options.log,
      ...(options.isTerminal === false ? { isInteractive: async () => false } : {}),
    });
    undo.push(() => daemon.stop());
    return {
      sim,
      relay,
      relayClient,
      daemon,
      mailbox: telegram.chatId,
      phoneUrl: sim && phoneUrl(sim.apiRoot, key),
      webhook,
      env,
      stop,
    };
  } catch (cause) {
    await stop();
    throw cause;
  }
}

/** At the port of the last start, so that an open page comes back, with the chat of that start. */
async function startSim(options: StackOptions, key: string): Promise<TelegramSim> {
  await mkdir(options.baseDir, { recursive: true, mode: 0o700 });
  const before = await readPhonePlace(options.baseDir);
  const sim = await startTelegramSim({
    pages: await phonePages({ keys: [...before.keys, digestOf(key)] }),
    saved: await readChat(chatFile(options)),
    port: options.phonePort ?? before.port,
  });
  await keepPhonePlace(options.baseDir, { ...before, port: Number(new URL(sim.apiRoot).port) }, key);
  return sim;
}

function chatFile({ baseDir }: StackOptions): string {
  return join(baseDir, 'chat.json');
}

function simAsTelegram(sim: TelegramSim): NonNullable<StackOptions['telegram']> {
  return {
    token: sim.token,
    apiRoot: sim.apiRoot,
    chatId: String(sim.ownerId),
    userIds: String(sim.ownerId),
    secret: randomBytes(24).toString('base64url'),
  };
}
