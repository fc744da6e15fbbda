// One workstation: a project folder, directories of its own and the daemon, in this process or as the built program.
// Holds no expectations.

import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Binding, loadConfig } from '../../agent/config.ts';
import { type Daemon, startDaemon } from '../../agent/daemon/daemon.ts';
import { readDaemonId } from '../../agent/daemon/daemon-id.ts';
import { acquireLock } from '../../agent/fs/lock.ts';
import { rememberBound } from '../../agent/mailbox/served.ts';
import { createRelayClient } from '../../agent/relay/client.ts';
import { version } from '../../agent/version.ts';
import type { InboxEntry, OutboxEntry } from '../../protocol/files.ts';
import { outputOf } from './output.ts';
import { type Chat, dist, type FarSide } from './stack.ts';

export interface Workstation {
  readonly root: string;
  readonly project: string;
  readonly chat: Chat;
  readonly inboxFile: string;
  readonly outboxFile: string;
  readonly stateDir: string;
  readonly runtimeDir: string;
  /** What reaches this workstation's daemon and no other. */
  readonly env: Record<string, string>;
  /** Events of the daemons that ran in this process. */
  readonly log: { level: string; event: string; fields: Record<string, unknown> }[];
  start(changes?: {
    secrets?: string[];
    token?: string;
    clock?: () => number;
    /** The coding agents of this test are terminals of a person. */
    interactive?: boolean;
    /** Default: the project alone. */
    bindings?: readonly Binding[];
    /** Of large inputs. */
    deadlinesMs?: { judge: number; typeset: number };
    /** How long a refresh waits for the lock of the inbox file. */
    inboxLockMs?: number;
  }): Promise<Daemon>;
  /** The built program; `args` of the command line. */
  run(...args: string[]): Running;
  /** The built daemon, as soon as it says that it runs. */
  runDaemon(): Promise<Running>;
  /** SIGSTOP, but not while it holds the lock of the inbox file: then no hook may give anything. */
  hang(daemon: Running): Promise<void>;
  /** Entries as they stand in the file; empty while there is none. */
  inbox(): Promise<InboxEntry[]>;
  outbox(): Promise<OutboxEntry[]>;
  /** Writes like a script of another program: temporary name, rename, no lock. */
  foreignWrite(path: string, content: string | { messages: object[] }): Promise<void>;
  close(): Promise<void>;
}

export interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  kill9(): Promise<void>;
  readonly exited: Promise<{ code: number | null; stdout: string; stderr: string }>;
}

/** Its project was served before, as most are; `fresh` = it never was. */
export async function createWorkstation(
  far: FarSide,
  chat: Chat = far.nextChat(),
  { fresh = false, agents = {} }: { fresh?: boolean; agents?: object } = {},
): Promise<Workstation> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'wa-ws-')));
  const project = join(root, 'my project');
  const home = join(root, 'home');
  const env = {
    HOME: home,
    WA_CONFIG_DIR: join(root, 'config'),
    WA_STATE_DIR: join(root, 'state'),
    WA_RUNTIME_DIR: join(root, 'run'),
    WA_RELAY_URL: far.url,
    WA_AGENT_TOKEN: far.token,
  };
  await mkdir(project);
  await mkdir(home);
  await mkdir(env.WA_CONFIG_DIR);
  const binding = { dir: project, mailbox: chat.mailbox, project: 0 };
  const bindings = [binding];
  if (!fresh) await rememberBound(env.WA_CONFIG_DIR, binding, null, Date.now());
  await writeFile(join(env.WA_CONFIG_DIR, 'config.json'), JSON.stringify({ bindings, agents }), { mode: 0o600 });
  const inboxFile = join(project, '.gemini', 'wa_inbox.json');
  const outboxFile = join(project, '.gemini', 'wa_outbox.json');
  const log: Workstation['log'] = [];
  const undo: (() => Promise<unknown>)[] = [];
  function run(...args: string[]): Running {
    const running = runProgram(args, env, project);
    undo.push(() => running.kill9());
    return running;
  }
  return {
    root,
    project,
    chat,
    inboxFile,
    outboxFile,
    stateDir: env.WA_STATE_DIR,
    runtimeDir: env.WA_RUNTIME_DIR,
    env,
    log,
    async start({ secrets = [], token = far.token, clock = Date.now, interactive = false, ...changes } = {}) {
      const config = loadConfig({ env: { ...env, WA_AGENT_TOKEN: token }, platform: process.platform, home });
      const client = createRelayClient({ url: far.url, token });
      undo.push(() => client.close());
      const daemon = await startDaemon({
        config,
        bindings: changes.bindings ?? bindings,
        client,
        daemonId: await readDaemonId(config.dirs.config),
        secrets,
        version,
        platform: process.platform,
        clock,
        ...(changes.deadlinesMs ? { deadlinesMs: changes.deadlinesMs } : {}),
        ...(changes.inboxLockMs ? { inboxLockMs: changes.inboxLockMs } : {}),
        random: Math.random,
        isInteractive: async () => interactive,
        log: (level, event, fields = {}) => log.push({ level, event, fields }),
      });
      undo.push(() => daemon.stop());
      return daemon;
    },
    run,
    async runDaemon() {
      const daemon = run('start', '--quiet');
      await until('the daemon runs', () => {
        if (daemon.child.exitCode !== null) throw new Error(daemon.stderr());
        return daemon.stdout().includes('is running');
      });
      return daemon;
    },
    async hang(daemon) {
      const lock = await acquireLock(inboxFile, { timeoutMs: 10_000, short: true });
      process.kill(daemon.pid, 'SIGSTOP');
      await lock.release();
    },
    inbox: () => entriesOf<InboxEntry>(inboxFile),
    outbox: () => entriesOf<OutboxEntry>(outboxFile),
    async foreignWrite(path, content) {
      await mkdir(join(path, '..'), { recursive: true });
      const temporary = join(root, 'foreign.tmp');
      await writeFile(temporary, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o644 });
      await chmod(temporary, 0o644);
      await rename(temporary, path);
    },
    async close() {
      for (const step of undo.reverse()) await step();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** `dist/wa-sync.js` with exactly these variables beside PATH. */
export function runProgram(args: string[], env: Record<string, string>, cwd: string, stdin = ''): Running {
  const child = spawn(process.execPath, [join(dist, 'wa-sync.js'), ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const output = outputOf(child);
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  const exited = new Promise<Awaited<Running['exited']>>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...output }));
  });
  return {
    child,
    pid: child.pid as number,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    async kill9() {
      child.kill('SIGKILL');
      await exited;
    },
    exited,
  };
}

async function entriesOf<E>(path: string): Promise<E[]> {
  const text = await readFile(path, 'utf8').catch(() => '{"messages":[]}');
  return (JSON.parse(text) as { messages: E[] }).messages;
}

/** Polls until `probe` answers something other than undefined or false; fails naming what was waited for. */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  timeoutMs = 60_000,
): Promise<Exclude<T, undefined | false>> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  while (performance.now() < deadline) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
      last = undefined;
    } catch (cause) {
      last = cause;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`within ${timeoutMs} ms this did not happen: ${what}`, { cause: last });
}
