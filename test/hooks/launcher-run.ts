// Runs the launcher as a coding agent does, against a scripted peer on a real unix socket. Holds no expectations.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const launcherFile = fileURLToPath(new URL('../../hooks/wa-hook', import.meta.url));
export const clientFile = fileURLToPath(new URL('../../hooks/client.pl', import.meta.url));
const fixtures = fileURLToPath(new URL('../fixtures/gemini-0.61.0/hooks/', import.meta.url));

export const payloadFile = (name: string) => join(fixtures, `${name}.json`);

const searchPath = (process.env.PATH ?? '').split(':');
export const whereIs = (program: string) =>
  searchPath.map((dir) => join(dir, program)).find((file) => existsSync(file));

/** The shells of this machine that may stand behind /bin/sh. */
export const shells = ['dash', 'bash'].filter((shell) => whereIs(shell) !== undefined);

export interface Bench {
  dir: string;
  /** WA_RUNTIME_DIR of a run, and where `listen` puts the socket. */
  runtime: string;
  /** The copy of the launcher; a fallback beside it is found. */
  launcher: string;
  /** One per request received: head and body as they came. */
  requests: { head: string; body: Buffer }[];
  /** Serves the socket. `reply` gets the socket and the request when its body is complete. */
  listen(reply: (socket: Socket, request: { head: string; body: Buffer }) => void): Promise<Server>;
  addFallback(source: string): Promise<void>;
  /** A folder with links to these programs only, for PATH. */
  pathWith(...programs: string[]): Promise<string>;
  close(): Promise<void>;
}

export async function openBench(): Promise<Bench> {
  const dir = await mkdtemp(join(tmpdir(), 'wa-hook-'));
  const runtime = join(dir, 'run');
  const launcher = join(dir, 'lib', 'wa-hook');
  await mkdir(runtime, { mode: 0o700 });
  await mkdir(dirname(launcher));
  await copyFile(launcherFile, launcher);
  await copyFile(clientFile, join(dirname(launcher), 'client.pl'));
  const requests: Bench['requests'] = [];
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  let paths = 0;
  const bench: Bench = {
    dir,
    runtime,
    launcher,
    requests,
    async listen(reply) {
      const server = createServer((socket) => {
        sockets.add(socket);
        socket.on('error', () => socket.destroy());
        let received = Buffer.alloc(0);
        let done = false;
        socket.on('data', (chunk) => {
          received = Buffer.concat([received, chunk]);
          const end = received.indexOf('\r\n\r\n');
          if (done || end < 0) return;
          const head = received.subarray(0, end).toString('latin1');
          const bytes = Number(/content-length: (\d+)/i.exec(head)?.[1]);
          const body = received.subarray(end + 4);
          if (body.length < bytes) return;
          done = true;
          const request = { head, body };
          requests.push(request);
          reply(socket, request);
        });
      });
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(join(bench.runtime, 'hook.sock'), resolve));
      return server;
    },
    async addFallback(source) {
      await writeFile(join(dirname(launcher), 'wa-hook-fallback.cjs'), source);
    },
    async pathWith(...programs) {
      const folder = join(dir, `bin${paths++}`);
      await mkdir(folder);
      for (const program of programs) await symlink(whereIs(program) ?? `/missing/${program}`, join(folder, program));
      return folder;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      for (const server of servers) await new Promise((resolve) => server.close(resolve));
      await rm(dir, { recursive: true, force: true });
    },
  };
  return bench;
}

export interface RunOptions {
  shell?: string;
  args?: string[];
  env?: Record<string, string>;
  stdin?: Uint8Array | string;
  /** Called with the pid once the process runs. */
  onStart?: (pid: number, closeStdout: () => void) => void;
}

export interface Outcome {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** `env` is the whole environment beside PATH and WA_RUNTIME_DIR, which it may replace; an empty value removes one. */
export function runLauncher(bench: Bench, options: RunOptions = {}): Promise<Outcome> {
  const { shell = shells[0] ?? 'sh', args = ['gemini', 'BeforeAgent', '60'], stdin = '{}' } = options;
  const merged = { PATH: process.env.PATH ?? '', WA_RUNTIME_DIR: bench.runtime, ...options.env };
  const env = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== ''));
  return run(whereIs(shell) ?? shell, [bench.launcher, ...args], env, stdin, options.onStart);
}

export function run(
  program: string,
  args: string[],
  env: Record<string, string>,
  stdin: Uint8Array | string,
  onStart?: RunOptions['onStart'],
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.stdin.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') reject(error);
    });
    child.on('error', reject);
    child.on('close', (code, signal) =>
      resolve({ code, signal, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() }),
    );
    child.stdin.end(stdin);
    if (child.pid !== undefined) onStart?.(child.pid, () => child.stdout.destroy());
  });
}

export const printed = (stdout: string): Outcome => ({ code: 0, signal: null, stdout, stderr: '' });

/** A whole HTTP answer in one piece. */
export function http(status: string, body: string, type = 'application/json'): string {
  return `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}

export const chunkedHead = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';

export const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

/** Resolves when `check` answers true; the test's own time limit is the deadline. */
export async function until(check: () => boolean): Promise<void> {
  while (!check()) await new Promise((resolve) => setImmediate(resolve));
}
