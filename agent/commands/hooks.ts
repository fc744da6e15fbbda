// `wa-sync hooks install|uninstall|list`: checks the arguments, calls the driver's installer, prints. Touches no file itself.

import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { WaError } from '../../protocol/errors.ts';
import type { HookScope, HookStatus, InstallDirs, Workstation } from '../drivers/driver.ts';
import { installable, workstationOf } from '../drivers/workstations.ts';
import { directories, hookDirectories } from '../paths.ts';
import { version } from '../version.ts';
import type { CommandContext } from './context.ts';

export interface HooksArgs {
  action: 'install' | 'uninstall' | 'list';
  /** Default: the first that can be installed. */
  agent?: string | undefined;
  /** Default: extension for `install`, every place for `uninstall`. */
  scope?: HookScope | undefined;
  /** Folder of the scope `project`; default `dirs.projectDir`. */
  project?: string | undefined;
  json?: boolean | undefined;
}

export interface HooksContext {
  dirs: InstallDirs;
  /** Prints one line. */
  out: (line: string) => void;
}

/** Errors: `bad_arguments` for an agent whose hooks cannot be installed. */
export function installDirs({ env, platform, home, cwd, distDir }: CommandContext, agent?: string): InstallDirs {
  return {
    home: workstationFor(agent).homeOf(env, home),
    dataDir: directories({ env, platform, home }).data,
    projectDir: cwd,
    packageDir: distDir,
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
      .join(' or ')}.`,
  });
}

/** What is wrong with the hooks that are installed, for somebody who asked for something else. Never throws. */
export async function installedTroubles(context: CommandContext): Promise<string[]> {
  try {
    const found = installable().map((agent) => workstationFor(agent).installer.list(installDirs(context, agent)));
    const all = (await Promise.all(found)).flat().filter(({ installed }) => installed);
    const isServed = all.some(({ servesThese }) => servesThese);
    return all.flatMap((status) => {
      // Those of `wa-sync dev`, or of the real daemon while `dev` is asked.
      if (!status.servesThese && status.directories.length > 0 && isServed) return [];
      const trouble = hookTrouble(status);
      return trouble === undefined ? [] : [`${status.place}: ${trouble}`];
    });
  } catch {
    return [];
  }
}

/** Errors: `bad_arguments`, and those of the installer. */
export async function hooksCommand(args: HooksArgs, { dirs: given, out }: HooksContext): Promise<void> {
  const { scope } = args;
  const { installer, verify } = workstationFor(args.agent);
  const dirs = { ...given, projectDir: resolve(args.project ?? given.projectDir) };
  switch (args.action) {
    case 'install': {
      if (args.project !== undefined && scope !== 'project') {
        throw new WaError(
          'bad_arguments',
          '--project counts only with --scope project: the extension is for all projects',
          {
            hint: `Run \`wa-sync hooks install --scope project --project ${args.project}\`, or leave --project away.`,
          },
        );
      }
      const before = await installer.list(dirs);
      const status = await installer.install(dirs, scope ?? 'extension');
      const wasThere = before.some((each) => isDeepStrictEqual(each, status));
      print(
        args,
        out,
        status,
        wasThere ? [`already installed  ${status.place}`] : [`installed  ${status.place}`, ...installer.afterInstall],
      );
      return;
    }
    case 'uninstall': {
      const removed = await installer.uninstall(dirs, scope);
      const lines = removed.map((place) => `removed  ${place}`);
      print(args, out, { removed }, lines.length > 0 ? lines : ['nothing was installed']);
      return;
    }
    case 'list': {
      const all = await installer.list(dirs);
      const switches = await verify(dirs.projectDir, dirs.home);
      print(args, out, all, [...all.flatMap(describe), ...switches.map((what) => `⚠ ${what}`)]);
    }
  }
}

function print(args: HooksArgs, out: HooksContext['out'], value: unknown, lines: string[]): void {
  for (const line of args.json ? [JSON.stringify(value)] : lines) out(line);
}

function describe(status: HookStatus): string[] {
  const head = `${status.agent}  ${status.scope.padEnd('extension'.length)}  `;
  if (status.problem !== undefined) return [`${head}not known  ${status.place}`, `  ${status.problem}`];
  if (!status.installed) return [`${head}not installed  ${status.place}`];
  const trouble = hookTrouble(status);
  return [
    `${head}${status.version ?? 'unknown version'}  ${status.place}`,
    ...(trouble === undefined ? [] : [`  ${trouble}`]),
  ];
}

/** What is wrong with installed hooks and the command that repairs it; undefined = nothing. */
function hookTrouble(status: HookStatus): string | undefined {
  const repair = `run \`wa-sync hooks install --agent ${status.agent} --scope ${status.scope}\``;
  if (!status.installed) return undefined;
  if (status.launcher !== undefined && !status.launcherExists) {
    return `the launcher is missing (${status.launcher}): ${repair}`;
  }
  if (status.current) return undefined;
  const { directories, servesThese } = status;
  return directories.length === 0 || servesThese
    ? `not what this version installs: ${repair}`
    : `installed for other directories (${directories.join(', ')}): ${repair}`;
}
