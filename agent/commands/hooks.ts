// `wa-sync hooks install|uninstall|list`: checks the arguments, calls the driver's installer, prints. Touches no file itself.

import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { WaError } from '../../protocol/errors.ts';
import type { HookScope, HookStatus, InstallDirs, Workstation } from '../drivers/workstation.ts';
import { installable, workstationOf } from '../drivers/workstations.ts';
import { directories, hookDirectories } from '../paths.ts';
import { lastingDist } from '../service/package-copy.ts';
import { version } from '../version.ts';
import type { CommandContext } from './context.ts';
import { existingFolder } from './folder.ts';

export interface HooksArgs {
  action: 'install' | 'uninstall' | 'list';
  /** Or `all`. Default: the first that can be installed for `install`, else all. */
  agent?: string | undefined;
  /** Default: `user` for `install`, every place for `uninstall`. */
  scope?: HookScope | undefined;
  /** Folder of the scope `project`; default `dirs.projectDir`. */
  project?: string | undefined;
  json?: boolean | undefined;
}

function agentsNamed({ action, agent }: HooksArgs): readonly (string | undefined)[] {
  const named = agent ?? (action === 'install' ? installable()[0] : 'all');
  return named === 'all' ? installable() : [named];
}

/** For each agent that `args` names, also behind one that fails, with one JSON array of all. Errors: `bad_arguments`, and those of the installer. */
export async function hooksCommands(args: HooksArgs, context: CommandContext): Promise<void> {
  const done: unknown[] = [];
  const failures: unknown[] = [];
  for (const agent of agentsNamed(args)) {
    try {
      const dirs = await installDirs(context, agent, { makes: args.action === 'install' });
      const { value, lines } = await hooksCommand({ ...args, agent }, dirs);
      done.push(value);
      for (const line of args.json ? [] : lines) context.out(line);
    } catch (cause) {
      failures.push(cause);
    }
  }
  if (args.json) context.out(JSON.stringify(done.flat()));
  if (failures.length > 0) throw failures[0];
}

/** Hooks outlive the npx cache: `makes` puts the package that they need in place. Errors: `bad_arguments` for an agent whose hooks cannot be installed, `file_unusable`. */
export async function installDirs(
  { env, platform, home, cwd, distDir }: CommandContext,
  agent?: string,
  { makes = false } = {},
): Promise<InstallDirs> {
  const dataDir = directories({ env, platform, home }).data;
  return {
    home: workstationFor(agent).homeOf(env, home),
    dataDir,
    projectDir: cwd,
    packageDir: await lastingDist({ distDir, version }, dataDir, { makes }),
    version,
    platform,
    directories: hookDirectories({ env, platform, home }),
    env,
  };
}

function workstationFor(agent = installable()[0] ?? ''): Workstation {
  const found = workstationOf(agent);
  if (found) return found;
  throw new WaError('bad_arguments', `No hooks can be installed for the agent "${agent}"`, {
    hint: `Use ${installable()
      .map((name) => `\`--agent ${name}\``)
      .join(', ')} or \`--agent all\`.`,
  });
}

/** The troubles of all installed hooks, for the output of other commands. Never throws. */
export async function installedTroubles(context: CommandContext): Promise<string[]> {
  try {
    const found = installable().map(async (agent) =>
      workstationFor(agent).installer.list(await installDirs(context, agent)),
    );
    const all = (await Promise.all(found)).flat().filter(({ installed }) => installed);
    const isServed = all.some(({ servesThese }) => servesThese);
    return all.flatMap((status) => {
      // Hooks of `wa-sync dev`, or of the real daemon while `dev` asks.
      if (!status.servesThese && status.directories.length > 0 && isServed) return [];
      const trouble = hookTrouble(status);
      return trouble === undefined ? [] : [`${status.place}: ${trouble}`];
    });
  } catch {
    return [];
  }
}

/** Of one agent: what programs read, and what people do. Errors: `bad_arguments`, and those of the installer. */
export async function hooksCommand(
  args: HooksArgs,
  given: InstallDirs,
): Promise<{ value: unknown; lines: readonly string[] }> {
  const { scope } = args;
  const workstation = workstationFor(args.agent);
  const project = args.project === undefined ? undefined : await projectFolder(args);
  const dirs = { ...given, projectDir: project ?? resolve(given.projectDir) };
  if (args.action === 'install' && args.project !== undefined && scope !== 'project') {
    throw new WaError('bad_arguments', '--project needs --scope project: the scope user is for all projects', {
      hint: `Run \`wa-sync hooks install --scope project --project ${args.project}\`, or leave --project out.`,
    });
  }
  return actions[args.action](args.agent ?? installable()[0] ?? '', workstation, dirs, scope);
}

/** Errors: `bad_arguments`. A folder that is gone may still be uninstalled from. */
async function projectFolder({ action, project = '' }: HooksArgs): Promise<string> {
  if (action !== 'uninstall') await existingFolder(project);
  return resolve(project);
}

type Action = (
  agent: string,
  workstation: Workstation,
  dirs: InstallDirs,
  scope: HookScope | undefined,
) => Promise<{ value: unknown; lines: string[] }>;

const actions: Record<HooksArgs['action'], Action> = {
  async install(name, { installer }, dirs, scope = 'user') {
    const before = await installer.list(dirs);
    const value = await installer.install(dirs, scope);
    if (before.some((each) => isDeepStrictEqual(each, value))) {
      return { value, lines: [`${name}  already installed  ${value.place}`] };
    }
    return { value, lines: [`${name}  installed  ${value.place}`, ...installer.afterInstall] };
  },
  async uninstall(name, { installer }, dirs, scope) {
    const removed = await installer.uninstall(dirs, scope);
    const lines = removed.map((place) => `${name}  removed  ${place}`);
    return { value: { agent: name, removed }, lines: lines.length > 0 ? lines : [`${name}  nothing was installed`] };
  },
  async list(_name, { installer, verify }, dirs) {
    const value = await installer.list(dirs);
    const switches = await verify(dirs.projectDir, dirs.home);
    return { value, lines: [...value.flatMap(describe), ...switches.map((what) => `⚠ ${what}`)] };
  },
};

function describe(status: HookStatus): string[] {
  const width = Math.max(...installable().map(({ length }) => length));
  const head = `${status.agent.padEnd(width)}  ${status.scope.padEnd('project'.length)}  `;
  if (status.problem !== undefined) return [`${head}not known  ${status.place}`, `  ${status.problem}`];
  if (!status.installed) return [`${head}not installed  ${status.place}`];
  const trouble = hookTrouble(status);
  return [
    `${head}${status.version ?? 'unknown version'}  ${status.place}`,
    ...(trouble === undefined ? [] : [`  ${trouble}`]),
  ];
}

/** What is wrong with installed hooks, and the command that repairs them; undefined = nothing. */
function hookTrouble(status: HookStatus): string | undefined {
  const repair = `run \`wa-sync hooks install --agent ${status.agent} --scope ${status.scope}\``;
  if (status.launcher !== undefined && !status.launcherExists) {
    return `the launcher is missing (${status.launcher}): ${repair}`;
  }
  if (status.current) return undefined;
  const { directories, servesThese } = status;
  return directories.length === 0 || servesThese
    ? `not what this version installs: ${repair}`
    : `installed for other directories (${directories.join(', ')}): ${repair}`;
}
