// The local socket: its path, its permissions, and the removal of a socket that a dead daemon left.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { socketFileName } from '../../protocol/hook.ts';

/** sockaddr_un holds 104 bytes on macOS, 108 on Linux; Node 20 cuts a longer path silently. */
const maxSocketPathBytes = 100;

export interface SocketPlace {
  /** What `server.listen` takes: a path, or the name of a pipe. */
  address: string;
}

/**
 * Makes the runtime directory safe and gives the address in it. Only the holder of the daemon lock may call this: a
 * socket without a listening process is removed. Errors: `runtime_dir_unusable`, `socket_path_too_long`, `daemon_running`.
 */
export async function prepareSocket(runtimeDir: string, platform: NodeJS.Platform): Promise<SocketPlace> {
  await makePrivate(runtimeDir, platform);
  if (platform === 'win32') return pipe(runtimeDir);
  const address = join(runtimeDir, socketFileName);
  const bytes = Buffer.byteLength(address);
  if (bytes > maxSocketPathBytes) {
    const message = `the socket path ${address} has ${bytes} bytes, at most ${maxSocketPathBytes} work`;
    throw new WaError('socket_path_too_long', message, {
      hint: 'Set WA_RUNTIME_DIR to a shorter directory that you own for the daemon, and run `wa-sync hooks install` with it.',
    });
  }
  const info = await lstat(address).catch(() => undefined);
  if (!info) return { address };
  if (info.isSocket() && (await answers(address))) {
    throw new WaError('daemon_running', `another process serves ${address}`, { hint: 'Stop it with `wa-sync down`.' });
  }
  await rm(address, { force: true });
  return { address };
}

async function makePrivate(dir: string, platform: NodeJS.Platform): Promise<void> {
  const refuse = (why: string, cause?: unknown) =>
    new WaError('runtime_dir_unusable', `the runtime directory ${dir} ${why}`, {
      hint: `Remove ${dir}, or set WA_RUNTIME_DIR to a directory that only you can enter.`,
      cause,
    });
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const info = await lstat(dir);
    if (!info.isDirectory()) throw refuse('is not a real directory');
    if (platform === 'win32') return;
    if (info.uid !== process.getuid?.()) throw refuse(`belongs to user ${info.uid}`);
    if ((info.mode & 0o077) !== 0) await chmod(dir, 0o700);
  } catch (cause) {
    throw cause instanceof WaError ? cause : refuse(`cannot be used: ${(cause as Error).message}`, cause);
  }
}

/** Pipes have no permissions like a directory: the random part is the secret, in a file that only this user can read. */
async function pipe(runtimeDir: string): Promise<SocketPlace> {
  const address = `\\\\.\\pipe\\wa-sync-${randomBytes(16).toString('hex')}`;
  await writeFile(join(runtimeDir, 'pipe.json'), JSON.stringify({ address }), { mode: 0o600 });
  return { address };
}

function answers(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address);
    socket.setTimeout(1000, () => finish(true));
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
    function finish(answered: boolean): void {
      socket.destroy();
      resolve(answered);
    }
  });
}

export async function listen(server: Server, address: string): Promise<void> {
  server.listen(address);
  await once(server, 'listening');
  if (process.platform !== 'win32') await chmod(address, 0o600);
}
