// Starts and stops the built Worker in a child process on this machine. Never imports the Worker.

import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { deployment } from '../../protocol/deployment.ts';
import { WaError } from '../../protocol/errors.ts';
import { withoutSecrets } from '../process.ts';
import { findToolchain } from './toolchain.ts';

export interface EmbeddedRelayOptions {
  /** Path of the bundled Worker, dist/worker.js. */
  workerScript: string;
  /** Port on 127.0.0.1; 0 or absent = any free port. */
  port?: number;
  /** Folder for the storage of the objects. */
  persistDir: string;
  /** The settings of the Worker. */
  vars: Record<string, string>;
  /** Where the tool chain is installed when the package has none. */
  cacheDir: string;
  /** Called before a download. */
  say: (line: string) => void;
  /** Called with each line that the Worker and workerd print. */
  onLine?: (line: string) => void;
  /** How long workerd has to end by itself once it is asked to; then it is killed. */
  disposeWithinMs?: number;
}

export interface EmbeddedRelay {
  readonly url: string;
  readonly pid: number;
  /** Resolves when the process and workerd have ended. May be called twice. */
  stop(): Promise<void>;
  /** Exit code of the child; 128 + 9 when it was killed. */
  readonly exited: Promise<number>;
}

/** Parent -> child, once. Secrets travel here and never in arguments or the environment. */
export interface RelayStart {
  /** Path of Miniflare's main module. */
  miniflare: string;
  /** Text of the bundled Worker. */
  script: string;
  port: number;
  persistDir: string;
  vars: Record<string, string>;
  disposeWithinMs: number;
  compatibilityDate: string;
  compatibilityFlags: string[];
  durableObject: { binding: string; className: string };
}

/** Child -> parent: the last word before it exits when it failed. */
export type RelayReport = { url: string } | { failed: string };

const usualDisposeWithinMs = 3_000;
/** For the child to kill its group, beyond that. */
const killWithinMs = 2_000;
const killedCode = 128 + 9;

/** @throws {WaError} needs_node_22, port_in_use, child_failed, file_unusable (the Worker is not built) */
export async function startEmbeddedRelay(options: EmbeddedRelayOptions): Promise<EmbeddedRelay> {
  const { port = 0, persistDir, vars, onLine, disposeWithinMs = usualDisposeWithinMs } = options;
  const script = await readWorker(options.workerScript);
  const toolchain = await findToolchain(options);
  await mkdir(persistDir, { recursive: true, mode: 0o700 });
  const ownGroup = process.platform !== 'win32';
  const child = fork(relayProcessPath(), [], {
    execPath: toolchain.node,
    execArgv: [],
    // A process group of its own, in which the workerd of a killed child can be found.
    detached: ownGroup,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...withoutSecrets(process.env), CLOUDFLARE_CF_FETCH_ENABLED: 'false', NODE_OPTIONS: '' },
  });
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', (line) => onLine?.(line));
  }
  const exited = new Promise<number>((resolve) => {
    child.once('exit', (code) => {
      if (ownGroup && child.pid !== undefined) killGroup(child.pid);
      resolve(code ?? killedCode);
    });
    child.once('error', () => resolve(1));
  });
  const stop = async () => {
    if (child.connected) child.disconnect();
    const timeout = new AbortController();
    const kill = delay(disposeWithinMs + killWithinMs, undefined, { signal: timeout.signal }).then(
      () => child.kill('SIGKILL'),
      () => {},
    );
    await exited;
    timeout.abort();
    await kill;
  };
  const { compatibilityDate, compatibilityFlags, durableObject } = deployment;
  const start: RelayStart = {
    miniflare: toolchain.miniflare,
    script,
    port,
    persistDir,
    vars,
    disposeWithinMs,
    compatibilityDate,
    compatibilityFlags: [...compatibilityFlags],
    durableObject,
  };
  try {
    const url = await ready(child, exited, start);
    return { url, pid: child.pid as number, stop, exited };
  } catch (error) {
    await stop();
    throw error;
  }
}

function ready(child: ChildProcess, exited: Promise<number>, start: RelayStart): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('message', (report: RelayReport) => {
      if ('url' in report) resolve(report.url);
      else reject(startFailure(report.failed, start.port));
    });
    child.once('error', (cause) => reject(startFailure(cause.message, start.port)));
    void exited.then((code) => reject(startFailure(`its process ended with code ${code}`, start.port)));
    child.send(start, (error) => error && reject(startFailure(error.message, start.port)));
  });
}

function startFailure(reason: string, port: number): WaError {
  if (/address already in use|EADDRINUSE/i.test(reason)) {
    return new WaError('port_in_use', `port ${port} of 127.0.0.1 is in use`, {
      hint: 'Choose another one with --port.',
    });
  }
  return new WaError('child_failed', `the embedded relay did not start: ${reason}`, {
    hint: 'Start it again; if it ends the same way, report it with this reason.',
  });
}

async function readWorker(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new WaError('file_unusable', `the Worker is not at ${path}`, {
      hint: 'Run `npm ci` in the clone of wa-sync.',
      cause,
    });
  }
}

/** In the sources next to this file; in the bundle this code may be a chunk, one folder below. */
function relayProcessPath(): string {
  const candidates = ['./relay-process.ts', './relay-process.js', '../relay-process.js'];
  const paths = candidates.map((candidate) => fileURLToPath(new URL(candidate, import.meta.url)));
  const found = paths.find((path) => existsSync(path));
  if (found) return found;
  throw new WaError('file_unusable', 'relay-process.js is missing from the package', {
    hint: 'Run `npm ci` in the clone of wa-sync.',
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is empty: the usual case.
  }
}
