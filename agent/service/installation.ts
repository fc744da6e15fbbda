// What an installation of the service consists of: which manager, its environment, and the content of every file.

import { readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { type Config, loadConfig } from '../config.ts';
import { type Directories, directories, stateFiles } from '../paths.ts';
import { type ServiceEnvironment, serviceEnvironment } from './environment.ts';
import { cmdLauncher, shLauncher } from './launcher.ts';
import { recordedNodes } from './node.ts';
import { type PackageCopy, programFile } from './package-copy.ts';
import type { ServiceFile, ServiceSpec, ServiceSystem } from './system.ts';
import { type ServiceWorld, systemOf } from './world.ts';

export function placed(world: ServiceWorld): { system: ServiceSystem; dirs: Directories } {
  return { system: systemOf(world), dirs: directories(world) };
}

/** What the service will see: config.json, and no variable that only this shell has. `lenient` = an unreadable config counts as empty. */
export function environmentOf(
  world: ServiceWorld,
  { lenient = false } = {},
): ServiceEnvironment & { config: Config | undefined } {
  const read = () => loadConfig({ ...world, env: { ...world.env, WA_RELAY_URL: '', WA_AGENT_TOKEN: '' } });
  let config: Config | undefined;
  try {
    config = read();
  } catch (cause) {
    if (!lenient) throw cause;
  }
  const commands = Object.values(config?.agentCommands ?? {}).flatMap(({ command }) => command.slice(0, 1));
  const programs = [...Object.values(config?.agents ?? {}), ...commands.filter((path) => isAbsolute(path))];
  return { ...serviceEnvironment(world, programs, world.variables), config };
}

export function specOf(world: ServiceWorld, { name }: ServiceSystem, env: Record<string, string>): ServiceSpec {
  const { data, state } = directories(world);
  return {
    launcher: join(data, 'bin', world.platform === 'win32' ? 'wa-sync.cmd' : 'wa-sync'),
    args: ['start', '--quiet', '--service', name],
    env,
    errorFile: stateFiles(state).startLog,
    home: world.home,
  };
}

export function filesOf(
  world: ServiceWorld,
  system: ServiceSystem,
  spec: ServiceSpec,
  copy: PackageCopy,
): ServiceFile[] {
  const input = { program: join(copy.dir, programFile), recorded: recordedNodes(world.execPath), home: world.home };
  const text = world.platform === 'win32' ? cmdLauncher(input) : shLauncher(input);
  return [{ path: spec.launcher, text, mode: 0o755 }, ...system.render(spec)];
}

/** The bytes of a file, each as a character. */
export function contentOf({ text, encoding }: ServiceFile): string {
  const bytes = encoding === undefined ? Buffer.from(text, 'utf8') : Buffer.from(`\uFEFF${text}`, encoding);
  return bytes.toString('latin1');
}

export async function textOf(path: string): Promise<string | undefined> {
  return readFile(path, 'latin1').catch(() => undefined);
}
