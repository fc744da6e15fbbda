// Where wa-sync keeps things on each OS, decided in this one place. Computes names; creates nothing.
// The launcher (hooks/wa-hook) repeats only the rule for `runtime`, because a shell cannot import it.

import { join, resolve } from 'node:path';

export interface Directories {
  /** config.json, daemon.id, signing.key */
  config: string;
  /** journal, answers, log, lock */
  state: string;
  /** hook socket, gates; the daemon refuses one that is not of this user and makes it 0700. Below /tmp only where a variable names such a place */
  runtime: string;
  /** installed hooks, extension */
  data: string;
  /** tool chain of the embedded relay */
  cache: string;
}

export interface PathsInput {
  env: Record<string, string | undefined>;
  platform: NodeJS.Platform;
  home: string;
}

/** `WA_CONFIG_DIR`, `WA_STATE_DIR` and `WA_RUNTIME_DIR` each move one of them; the rest follows the OS. */
export function directories({ env, platform, home }: PathsInput): Directories {
  const base = platform === 'win32' ? windowsBase(env, home) : xdgBase(env, home);
  return {
    config: env.WA_CONFIG_DIR || join(base.config, 'wa-sync'),
    state: env.WA_STATE_DIR || join(base.state, 'wa-sync'),
    runtime: env.WA_RUNTIME_DIR || runtimeDirectory(env, platform, home),
    data: join(base.data, 'wa-sync'),
    cache: join(base.cache, 'wa-sync'),
  };
}

function runtimeDirectory(env: PathsInput['env'], platform: NodeJS.Platform, home: string): string {
  if (env.XDG_RUNTIME_DIR) return join(env.XDG_RUNTIME_DIR, 'wa-sync');
  if (platform === 'darwin' && env.TMPDIR) return join(env.TMPDIR, 'wa-sync');
  if (platform === 'win32') return join(windowsBase(env, home).state, 'wa-sync', 'run');
  return join(home, '.local', 'state', 'wa-sync', 'run');
}

interface Base {
  config: string;
  state: string;
  data: string;
  cache: string;
}

function xdgBase(env: PathsInput['env'], home: string): Base {
  return {
    config: env.XDG_CONFIG_HOME || join(home, '.config'),
    state: env.XDG_STATE_HOME || join(home, '.local', 'state'),
    data: env.XDG_DATA_HOME || join(home, '.local', 'share'),
    cache: env.XDG_CACHE_HOME || join(home, '.cache'),
  };
}

function windowsBase(env: PathsInput['env'], home: string): Base {
  const roaming = env.APPDATA || join(home, 'AppData', 'Roaming');
  const local = env.LOCALAPPDATA || join(home, 'AppData', 'Local');
  return { config: roaming, state: local, data: local, cache: join(local, 'Cache') };
}

/**
 * What an installed hook's command line names, in this order. With them a hook reads no
 * variable of its environment, which a project's `.env` can reach.
 */
const hookVariables = ['WA_RUNTIME_DIR', 'WA_CONFIG_DIR', 'WA_STATE_DIR'] as const;

/** The directories for the command line of a hook, absolute. */
export function hookDirectories(world: PathsInput): string[] {
  const { runtime, config, state } = directories(world);
  return [runtime, config, state].map((dir) => resolve(dir));
}

/** The world of a hook that was given `dirs`; one that was called by hand has the environment. */
export function hookWorld(world: PathsInput, dirs: readonly string[]): PathsInput {
  if (dirs.length < hookVariables.length || dirs.includes('')) return world;
  return { ...world, env: Object.fromEntries(hookVariables.map((name, index) => [name, dirs[index]])) };
}

/** Files inside the state directory. `key` is `projectKey()`: state belongs to mailbox and project, not to a path. */
export function stateFiles(state: string) {
  return {
    journal: join(state, 'journal.jsonl'),
    lock: join(state, 'daemon'),
    log: join(state, 'wa-sync.log'),
    /** What a daemon that a hook started said before its log was open. */
    startLog: join(state, 'start.log'),
    /** The user has said that no daemon shall run. */
    down: join(state, 'down'),
    answers: join(state, 'answers'),
    /** What was read of the coding agents' session files. */
    sessions: join(state, 'sessions.json'),
    /** Turns and tokens of today. `key` is `projectKey()`. */
    usage: (key: string) => join(state, 'usage', `${key}.json`),
    /** Copies of files on their way to the phone. */
    documents: join(state, 'documents'),
    /** Mailboxes of projects whose own folder git would commit, each below its `projectKey()`. */
    mailboxes: join(state, 'mailboxes'),
  };
}

/** Address and token of the relay that the daemon runs itself, and the folder of its storage. */
export const localRelayFile = (state: string) => join(state, 'local-relay.json');
export const localRelayFolder = (state: string) => join(state, 'local-relay');

/** Files beside config.json that must outlive the state directory. `key` is `projectKey()`. */
export function configFiles(config: string) {
  return {
    /** The mode of approvals, for the hook fallback and for a daemon without its journal. */
    approvals: (key: string) => join(config, 'approvals', `${key}.json`),
    /** Tells entries of wa-sync from those of other programs, see `Signer`. */
    signingKey: join(config, 'signing.key'),
    /** Which folders were ever served, and where their mailbox lies: a file per project. */
    bound: join(config, 'bound'),
  };
}

/** By these files the system knows the service; each below a folder of the person. */
export const serviceFiles = {
  /** Below `~/.config`. */
  unit: ['systemd', 'user', 'wa-sync.service'],
  /** Below the home folder. */
  plist: ['Library', 'LaunchAgents', 'dev.wa-sync.daemon.plist'],
  /** Below `%APPDATA%`, where policy forbids tasks. */
  startup: ['Microsoft', 'Windows', 'Start Menu', 'Programs', 'Startup', 'wa-sync.vbs'],
} as const;

/** Folders that change the unit or start it, beside it: of this unit, of all that begin with `wa-`, of all. */
export const besideUnit = [
  'wa-sync.service.d',
  'wa-.service.d',
  'service.d',
  'default.target.wants/wa-sync.service',
] as const;

/** The command that starts the daemon of a config directory: `wa-sync dev` has its own, below the state directory. */
export function starterOf(config: string): string {
  return /[\\/]dev[\\/][0-9a-f]{12}[\\/]config$/.test(config) ? 'wa-sync dev' : 'wa-sync start';
}
