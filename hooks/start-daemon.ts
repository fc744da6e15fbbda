// A hook that finds no daemon starts it, and does not wait for it. Program and environment are what the installer wrote beside the
// launcher, the directories what it wrote into the command line; nothing comes from the project or from the hook's own environment.

import { closeSync, constants, existsSync, fstatSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../agent/config.ts';
import { isDown } from '../agent/fs/down.ts';
import { readLockOwner } from '../agent/fs/lock.ts';
import { findServed } from '../agent/mailbox/served.ts';
import { type PathsInput, stateFiles } from '../agent/paths.ts';
import { isOver } from '../agent/process.ts';
import { startRecordName } from '../protocol/hook.ts';

/** The daemon's lock lets only one run; this spares a hook the start of those that would find it. */
const betweenStartsMs = 10_000;
const maxRecordBytes = 64 * 1024;

interface StartRecord {
  /** Absolute: the Node that ran the installer, and the program that it is a part of. */
  node: string;
  program: string;
  env: Record<string, string>;
}

/** `folder` holds the launcher. Never rejects. */
export async function startDaemon(world: PathsInput, dirs: readonly string[], folder: string): Promise<void> {
  try {
    const record = dirs.length < 3 || dirs.includes('') ? undefined : readRecord(join(folder, startRecordName));
    if (!record || !existsSync(record.program)) return;
    const config = loadConfig(world);
    const { state } = config.dirs;
    if (!(config.relay || config.isLocal) || (await isDown(state))) return;
    const { lock, startLog } = stateFiles(state);
    const owner = await readLockOwner(lock);
    if (owner && !isOver(owner)) return;
    // Without bindings a daemon serves the folder that it is started in: only one that was served before.
    const served = config.bindings.length > 0 ? undefined : await findServed(process.cwd(), config);
    if (config.bindings.length === 0 && !(await served?.place())) return;
    const ageMs = Date.now() - (statSync(startLog, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (Math.abs(ageMs) < betweenStartsMs) return;
    start(record, { cwd: served?.binding.dir ?? state, world, state, startLog });
  } catch {
    // A hook answers all the same, and the next one tries again.
  }
}

/** Undefined = none, or one that somebody else may have written. */
function readRecord(path: string): StartRecord | undefined {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const info = fstatSync(fd);
    const isOwn = process.getuid === undefined || (info.uid === process.getuid() && (info.mode & 0o077) === 0);
    if (!info.isFile() || !isOwn || info.size > maxRecordBytes) return undefined;
    const { node, program, env } = JSON.parse(readFileSync(fd, 'utf8')) as StartRecord;
    const isWhole = typeof node === 'string' && typeof program === 'string' && typeof env === 'object' && env !== null;
    return isWhole ? { node, program, env } : undefined;
  } finally {
    closeSync(fd);
  }
}

interface Start {
  cwd: string;
  /** Of the hook: the directories of its command line, and nothing else. */
  world: PathsInput;
  state: string;
  startLog: string;
}

function start({ node, program, env }: StartRecord, { cwd, world, state, startLog }: Start): void {
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW = 0 } = constants;
  // What it says before its own log is open. Truncated by each start, so that its time is that of the last one.
  const log = openSync(startLog, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
  // Loaded only now: it costs a hook milliseconds.
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn(node, [program, 'start', '--quiet', '--unless-down'], {
    cwd,
    env: { ...env, ...world.env },
    detached: true,
    stdio: ['ignore', log, log],
    windowsHide: true,
  });
  child.on('error', () => {});
  child.unref();
  closeSync(log);
}
