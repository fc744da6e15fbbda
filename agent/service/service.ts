// `wa-sync service`: puts a stable copy of the package, its launcher and the files of the operating system's service manager in
// place, and removes them again. Which manager is chosen by the platform; how it works is in the file of that manager.

import { chmod, mkdir, rm, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import type { Config } from '../config.ts';
import { fileUnusable, writeAtomic } from '../fs/atomic.ts';
import { forgetDown, noteDown } from '../fs/down.ts';
import { readFrom } from '../fs/tail.ts';
import { daemonEnded } from '../log.ts';
import { type Directories, directories, stateFiles } from '../paths.ts';
import { contentOf, environmentOf, filesOf, placed, specOf, textOf } from './installation.ts';
import { copyPackage, removeCopies } from './package-copy.ts';
import type { ServiceFile, ServiceSpec, ServiceSystem } from './system.ts';
import type { ServiceWorld } from './world.ts';

export interface InstalledService {
  system: ServiceSystem['name'];
  title: string;
  /** The unit, property list or task file. */
  place: string;
  /** `dist` of the stable copy, which outlives the npx cache until the next update. */
  packageDir: string;
  /** Runs any command of the copy; its path stays the same over updates. */
  launcher: string;
  pid: number | undefined;
  /** Sentences for the user. */
  notes: string[];
}

/**
 * Installs or updates the service and starts it; waits until the daemon answers. Errors: `not_configured` without a relay in
 * config.json, `not_bound` without bindings, `service_unavailable`, `service_failed`, `file_unusable`, `bad_config`.
 */
export async function installService(world: ServiceWorld): Promise<InstalledService> {
  const { system, dirs } = placed(world);
  const { env, withheld, config } = environmentOf(world);
  refuseIncomplete(config, world.env);
  const why = await system.unavailable();
  if (why) throw why;
  const copy = await copyPackage(world, dirs.data);
  const spec = specOf(world, system, env);
  refuseLineBreaks(spec);
  for (const file of filesOf(world, system, spec, copy)) await place(file);
  await makeStateFolder(dirs.state);
  await forgetDown(dirs.state);
  await system.install();
  const pid = await answering(world, system);
  await removeCopies(dirs.data, copy.name);
  const left = withheld.map(
    (name) => `${name} holds a name or password and is not given to the service: files of a service hold no secret.`,
  );
  return {
    system: system.name,
    title: system.title,
    place: system.place,
    packageDir: copy.dir,
    launcher: spec.launcher,
    pid,
    notes: [...left, ...(await system.notes())],
  };
}

/** Stops the service and removes all that `installService` made; the places of what was there. Errors: `service_failed`, `file_unusable`. */
export async function uninstallService(world: ServiceWorld): Promise<string[]> {
  const { system, dirs } = placed(world);
  const spec = specOf(world, system, {});
  const paths = [...system.render(spec).map(({ path }) => path), spec.launcher];
  const installed = (
    await Promise.all(paths.map(async (path) => ((await textOf(path)) === undefined ? [] : [path])))
  ).flat();
  if (installed.length > 0) await system.uninstall();
  for (const path of installed) await remove(path);
  await rmdir(dirname(spec.launcher)).catch(() => {});
  if (installed.includes(system.place)) await system.removed();
  await removeCopies(dirs.data);
  return installed;
}

/** Errors: `service_missing`, `service_unavailable`, `service_failed`. */
export async function startService(world: ServiceWorld): Promise<number | undefined> {
  const { system, dirs } = await needed(world);
  await forgetDown(dirs.state);
  await system.start();
  return answering(world, system);
}

/** Also keeps hooks from starting a daemon. Errors: `service_missing`, `service_unavailable`, `service_failed`. */
export async function stopService(world: ServiceWorld): Promise<void> {
  const { system, dirs } = await needed(world);
  await noteDown(dirs.state);
  await system.stop();
}

async function needed(world: ServiceWorld): Promise<{ system: ServiceSystem; dirs: Directories }> {
  const found = placed(world);
  if ((await textOf(found.system.place)) === undefined) {
    throw new WaError('service_missing', `no service is installed: ${found.system.place} does not exist`, {
      hint: 'Install it with `wa-sync service install`, or run the daemon without one: `wa-sync start --detach`.',
    });
  }
  const why = await found.system.unavailable();
  if (why) throw why;
  return found;
}

function refuseIncomplete(config: Config | undefined, env: ServiceWorld['env']): void {
  if (!config?.relay && !config?.isLocal) {
    const isGiven = Boolean(env.WA_RELAY_URL && env.WA_AGENT_TOKEN);
    const what = isGiven
      ? 'address and token of the relay stand only in the environment, which a service does not have'
      : 'no relay is configured';
    throw new WaError('not_configured', what, {
      hint: isGiven
        ? `Put them as "relay" into ${config?.file ?? 'config.json'}, mode 600 (docs/relay.md), or run \`wa-sync setup\`; then \`wa-sync service install\` again.`
        : 'Run `wa-sync setup`, or write "relay" into config.json (docs/relay.md); then `wa-sync service install` again.',
    });
  }
  if (config.bindings.length > 0) return;
  throw new WaError('not_bound', `${config.file} binds no folder, and a service is started in none`, {
    hint: `Add {"bindings":[{"dir":"/path/to/project","mailbox":"<chat id>","project":0}]} to ${config.file}, or run \`wa-sync setup\` in the project.`,
  });
}

/** No format of a service file can hold one in a value. */
function refuseLineBreaks({ launcher, env, home }: ServiceSpec): void {
  const wrong = Object.entries({ ...env, launcher, home }).find(([, value]) => /[\r\n\0]/.test(value));
  if (!wrong) return;
  throw new WaError('bad_config', `${wrong[0]} holds a line break, which no file of a service can`, {
    hint: `Choose a path without one for ${wrong[0]}.`,
  });
}

/** How often the daemon is asked before an installation is called failed. */
const answerTries = 100;
const betweenAnswersMs = 200;

/** The pid of the daemon, once it answers. Errors: `service_failed`. */
async function answering(world: ServiceWorld, system: ServiceSystem): Promise<number | undefined> {
  for (let left = answerTries; left > 0; left -= 1) {
    const pid = await world.daemonPid();
    const state = await system.state();
    // Another daemon that still answers is about to be replaced.
    if (pid !== undefined && (state.pid === undefined || state.pid === pid)) return pid;
    if (state.lastExit !== undefined && state.lastExit !== 0) break;
    await world.pause(betweenAnswersMs);
  }
  const { lastExit } = await system.state();
  const why = lastExit === undefined ? undefined : await lastError(directories(world).state);
  const how = lastExit === undefined ? 'does not answer' : `ended with code ${lastExit}${why ? `: ${why}` : ''}`;
  throw new WaError('service_failed', `the service was started, and its daemon ${how}`, {
    hint: `See why with \`wa-sync logs\` and \`${system.inspect}\`.`,
  });
}

const lastLinesBytes = 16 * 1024;

/** What the daemon wrote to its log when it ended; undefined = its last line is another one. */
async function lastError(state: string): Promise<string | undefined> {
  try {
    const text = await readFrom(stateFiles(state).log, 0, Number.POSITIVE_INFINITY, lastLinesBytes);
    const { event, code, message } = JSON.parse(text.trimEnd().split('\n').at(-1) ?? '');
    return event === daemonEnded ? `${message} (${code})` : undefined;
  } catch {
    return undefined;
  }
}

async function makeStateFolder(state: string): Promise<void> {
  await mkdir(state, { recursive: true, mode: 0o700 }).catch((cause) => {
    throw fileUnusable(state, cause);
  });
}

async function place(file: ServiceFile): Promise<void> {
  const dir = dirname(file.path);
  await mkdir(dir, { recursive: true }).catch((cause) => {
    throw fileUnusable(dir, cause);
  });
  const content = contentOf(file);
  if ((await textOf(file.path)) === content) return chmod(file.path, file.mode);
  // latin1: each character of `content` is a byte.
  await writeAtomic(file.path, Buffer.from(content, 'latin1'), undefined, file.mode);
}

async function remove(path: string): Promise<void> {
  await rm(path, { force: true }).catch((cause) => {
    throw fileUnusable(path, cause);
  });
}
