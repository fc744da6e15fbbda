// What the service is made from and how it reaches the outside, and the service manager of each platform.

import { access, copyFile, rm } from 'node:fs/promises';
import { release, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { installable, workstationOf } from '../drivers/workstations.ts';
import { askDaemon } from '../local-client.ts';
import { directories, type PathsInput } from '../paths.ts';
import { createLaunchd } from './launchd.ts';
import { programRunner } from './run.ts';
import { createSchtasks } from './schtasks.ts';
import type { RunProgram, ServiceSystem } from './system.ts';
import { createSystemd } from './systemd.ts';

export interface ServiceWorld extends PathsInput {
  /** The built parts of the running package. */
  distDir: string;
  version: string;
  /** Absolute path of the running Node. */
  execPath: string;
  /** 0 where the system has none. */
  uid: number;
  /** Login name. */
  user: string;
  /** Environment variables that say where a coding agent keeps its settings. */
  variables: readonly string[];
  /** Linux inside of Windows. */
  isWsl: boolean;
  run: RunProgram;
  /** The process of the daemon that answers now. Never rejects. */
  daemonPid(): Promise<number | undefined>;
  pause(ms: number): Promise<void>;
}

/** The world of the running process. */
export function serviceWorld(given: PathsInput & { distDir: string }, version: string): ServiceWorld {
  const dirs = directories(given);
  return {
    env: given.env,
    platform: given.platform,
    home: given.home,
    distDir: given.distDir,
    version,
    execPath: process.execPath,
    uid: process.getuid?.() ?? 0,
    user: loginName(),
    variables: installable().flatMap((agent) => workstationOf(agent)?.variables ?? []),
    isWsl: Boolean(given.env.WSL_DISTRO_NAME) || release().toLowerCase().includes('microsoft'),
    run: programRunner(given.env),
    async daemonPid() {
      const answer = await askDaemon(dirs, 'GET', '/status').catch(() => undefined);
      return (answer as { pid?: number } | undefined)?.pid;
    },
    pause: (ms) => delay(ms),
  };
}

function loginName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user id without an entry, as in some containers.
    return String(process.getuid?.() ?? '');
  }
}

/** Platforms without a row have systemd or none. */
export function systemOf(world: ServiceWorld): ServiceSystem {
  const { env, platform, home, uid, user, isWsl, run, pause } = world;
  if (platform === 'darwin') return createLaunchd({ home, uid, run, pause });
  if (platform !== 'win32') {
    return createSystemd({ configHome: env.XDG_CONFIG_HOME || join(home, '.config'), env, uid, user, isWsl, run });
  }
  const dirs = directories(world);
  return createSchtasks({
    env,
    binDir: join(dirs.data, 'bin'),
    roaming: env.APPDATA || join(home, 'AppData', 'Roaming'),
    run,
    askDown: () =>
      askDaemon(dirs, 'POST', '/down').then(
        () => {},
        () => {},
      ),
    exists: (path) =>
      access(path).then(
        () => true,
        () => false,
      ),
    copy: (from, to) => copyFile(from, to),
    remove: (path) => rm(path, { force: true }),
  });
}
