// What the checks look at: the outside, which a test replaces, and what several checks ask for, asked once. Decides nothing.

import { WaError } from '../../protocol/errors.ts';
import type { StatusAnswer } from '../../protocol/relay-api.ts';
import type { WebhookAnswer } from '../../protocol/webhook-api.ts';
import type { Config } from '../config.ts';
import type { DaemonStatus } from '../daemon-status.ts';
import type { HookReport, InstallDirs } from '../drivers/workstation.ts';
import { installable, workstationOf } from '../drivers/workstations.ts';
import type { Directories } from '../paths.ts';
import type { RelayClient } from '../relay/client.ts';
import type { ServiceStatus } from '../service/service-status.ts';

/** The outside. */
export interface Surroundings {
  env: Record<string, string | undefined>;
  platform: NodeJS.Platform;
  home: string;
  cwd: string;
  dirs: Directories;
  /** The folder of the built parts. */
  distDir: string;
  version: string;
  /** As `process.versions.node`. */
  nodeVersion: string;
  execPath: string;
  /** Of this user; undefined where the system has none. */
  uid: number | undefined;
  clock(): number;
  pause(ms: number): Promise<void>;
  /** Errors: `bad_config`. */
  loadConfig(): Config;
  /** `makes`: hooks are about to be installed. Errors: `file_unusable`. */
  installDirs(agent: string, options?: { makes: boolean }): Promise<InstallDirs>;
  /** The service, and what its user should know. Must never reject. */
  service(): Promise<{ status: ServiceStatus; notes: string[] }>;
  /** `GET /status` of the daemon. Errors: `daemon_not_running`, `daemon_busy`. */
  askDaemon(): Promise<DaemonStatus>;
  connect(relay: { url: string; token: string }): Pick<RelayClient, 'status' | 'webhook' | 'close'>;
  /** Must never reject, and must end the program after `timeoutMs`: `code` is then null; 127 = it does not start. */
  run(program: string, args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** A program's answer to `input`, after which it is ended. Must never reject. */
  ask(program: string, args: readonly string[], options: AskOptions): Promise<Asked>;
  /** Undefined = the system does not say. */
  disk(path: string): Promise<Disk | undefined>;
}

export interface RunOptions {
  input?: string;
  timeoutMs?: number;
  env?: Record<string, string | undefined>;
  cwd?: string;
}

export interface AskOptions {
  /** Whole lines. */
  input: string;
  /** The line of stdout that ends the exchange. */
  isAnswer(line: string): boolean;
  env: Record<string, string>;
  cwd: string;
  timeoutMs?: number;
}

/** The line, or why there is none. */
export type Asked = { line: string } | { why: string };

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Disk {
  freeBytes: number;
  /** The kind of file system, as `statfs` numbers it on Linux; 0 = not known. */
  type: number;
}

/** What somebody answered, or why not. */
export type Known<T> = { ok: true; value: T } | { ok: false; error: WaError };

export interface World extends Surroundings {
  config(): Known<Config>;
  daemon(): Promise<Known<DaemonStatus>>;
  /** `skewMs` = the relay's clock minus ours, to half the time of the call. Undefined = no relay is configured. */
  relay(): Promise<Known<{ answer: StatusAnswer; skewMs: number }> | undefined>;
  webhook(): Promise<Known<WebhookAnswer> | undefined>;
  /** A second look at the same. */
  webhookAgain(): Promise<Known<WebhookAnswer> | undefined>;
  /** Absolute paths of the folders that the daemon serves, or would serve. */
  folders(): Promise<string[]>;
  /** What the hosts of all agents have installed. */
  hooks(): Promise<{ agent: string; report: HookReport }[]>;
}

export function createWorld(given: Surroundings): World {
  const once = <T>(work: () => T): (() => T) => {
    let made: { value: T } | undefined;
    return () => {
      made ??= { value: work() };
      return made.value;
    };
  };

  const config = once((): Known<Config> => {
    try {
      return { ok: true, value: given.loadConfig() };
    } catch (cause) {
      return { ok: false, error: asWaError(cause) };
    }
  });

  /** Undefined = no relay. */
  async function asked<T>(ask: (client: ReturnType<Surroundings['connect']>) => Promise<T>) {
    const known = config();
    const relay = known.ok ? known.value.relay : undefined;
    if (!relay) return undefined;
    const client = given.connect(relay);
    try {
      return { ok: true as const, value: await ask(client) };
    } catch (cause) {
      return { ok: false as const, error: asWaError(cause) };
    } finally {
      await client.close();
    }
  }

  const daemon = once(async (): Promise<Known<DaemonStatus>> => {
    try {
      return { ok: true, value: await given.askDaemon() };
    } catch (cause) {
      return { ok: false, error: asWaError(cause) };
    }
  });
  const folders = once(async () => {
    const known = config();
    const running = await daemon();
    const bound = known.ok ? known.value.bindings.map(({ dir }) => dir) : [];
    const served = running.ok ? running.value.projects.map(({ dir }) => dir) : [];
    return [...new Set([...bound, ...served])];
  });
  const webhookAgain = () => asked((client) => client.webhook());

  return {
    ...given,
    config,
    daemon,
    relay: once(() =>
      asked(async (client) => {
        const before = given.clock();
        const answer = await client.status();
        return { answer, skewMs: answer.now - (before + given.clock()) / 2 };
      }),
    ),
    webhook: once(webhookAgain),
    webhookAgain,
    folders,
    hooks: once(async () => {
      const projects = await folders();
      const found = installable().map(async (agent) => {
        const report = await workstationOf(agent)?.inspect(await given.installDirs(agent), projects, given.env);
        return report ? [{ agent, report }] : [];
      });
      return (await Promise.all(found)).flat();
    }),
  };
}

export function asWaError(cause: unknown): WaError {
  return cause instanceof WaError ? cause : new WaError('internal', String(cause), { cause });
}

/** The daemon runs the relay itself. */
export function isLocal(world: Pick<World, 'config'>): boolean {
  const known = world.config();
  return known.ok && known.value.isLocal;
}

/** The error as evidence and repair. */
export function said({ message, code, hint }: WaError): [evidence: string, repair: string] {
  return [`${message} (${code})`, hint ?? 'See docs/errors.md.'];
}
