// What setup needs of the other commands on this machine: hooks, the daemon in the background, the service.

import { isDeepStrictEqual } from 'node:util';
import { WaError } from '../../protocol/errors.ts';
import type { Binding, Config } from '../config.ts';
import { findToolchain } from '../dev/toolchain.ts';
import { driverOf } from '../drivers/registry.ts';
import { installable, workstationOf } from '../drivers/workstations.ts';
import { forgetDown, noteDown } from '../fs/down.ts';
import { askDaemon } from '../local-client.ts';
import { withoutSecrets } from '../process.ts';
import { programOnPath } from '../programs.ts';
import { installService, stopService } from '../service/service.ts';
import { serviceStatus } from '../service/service-status.ts';
import { serviceWorld } from '../service/world.ts';
import type { Machine } from '../setup/world.ts';
import { version } from '../version.ts';
import { endDaemon, restartCommand, startDetached } from './background.ts';
import type { CommandContext } from './context.ts';
import { installDirs } from './hooks.ts';

interface RunningDaemon {
  version: string;
  pid: number;
  projects: { dir: string; mailbox: string; project: number }[];
}

export function machineOf(context: CommandContext): Machine {
  const { configFile, dirs } = places(context);
  const bare = withoutSecretsOf(context);
  const running = () => runningDaemon(dirs);
  return {
    configFile,
    async agents() {
      const all = installable().map(async (name) => {
        const path = await programOnPath(name, context);
        return path === undefined ? [] : [{ name, title: driverOf(name)?.title ?? name, path }];
      });
      return (await Promise.all(all)).flat();
    },
    async installHooks(agent) {
      const installer = workstationOf(agent)?.installer;
      if (!installer) throw new WaError('bad_arguments', `no hooks can be installed for ${agent}`);
      const wanted = await installDirs(context, agent, { makes: true });
      const before = await installer.list(wanted);
      const status = await installer.install(wanted, 'user');
      const isNew = !before.some((each) => isDeepStrictEqual(each, status));
      return { place: status.place, isNew, notes: installer.afterInstall };
    },
    async isServed(bindings) {
      const daemon = await running();
      const isThere = ({ dir, mailbox, project }: Binding) =>
        daemon?.projects.some((each) => each.dir === dir && each.mailbox === mailbox && each.project === project);
      return daemon?.version === version && bindings.length > 0 && bindings.every(isThere);
    },
    localRelay() {
      const { relay } = context.loadConfig();
      return relay?.from === 'local' ? relay : undefined;
    },
    async stopPolling() {
      if (!context.loadConfig().isLocal || (await running()) === undefined) return false;
      const world = serviceWorld(bare, version);
      const service = await serviceStatus(world);
      await (service.installed && service.available ? stopService(world) : noteDown(dirs.state));
      await endDaemon(dirs);
      return true;
    },
    startDaemon: (say) => startInBackground(context, say),
    async service() {
      const status = await serviceStatus(serviceWorld(bare, version));
      return { title: status.title, installed: status.installed, why: status.why };
    },
    async installService() {
      return (await installService(serviceWorld(bare, version))).notes;
    },
  };
}

/** For what starts other programs. */
export function withoutSecretsOf(context: CommandContext): CommandContext {
  return { ...context, env: withoutSecrets(context.env) };
}

function places(context: CommandContext): { configFile: string; dirs: Config['dirs'] } {
  const { file, dirs } = context.loadConfig();
  return { configFile: file, dirs };
}

async function runningDaemon(dirs: Config['dirs']): Promise<RunningDaemon | undefined> {
  return (await askDaemon(dirs, 'GET', '/status').catch((cause) => {
    if (cause instanceof WaError && cause.code === 'daemon_not_running') return undefined;
    throw cause;
  })) as RunningDaemon | undefined;
}

/** Errors: `needs_node_22`, `daemon_busy`, and those of `startDetached`. */
async function startInBackground(context: CommandContext, say: (line: string) => void): Promise<void> {
  const { dirs, isLocal } = context.loadConfig();
  // Here and not in the daemon: a download has a person who waits.
  if (isLocal) await findToolchain({ cacheDir: dirs.cache, say });
  const bare = { ...withoutSecretsOf(context), out: say };
  const service = await serviceStatus(serviceWorld(bare, version));
  if (service.installed && service.available) return restartCommand(bare);
  await endDaemon(dirs);
  await forgetDown(dirs.state);
  await startDetached(bare, context.cwd);
}
