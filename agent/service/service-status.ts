// What is known of the service: installed, running, the same as an installation would make it now.

import { directories } from '../paths.ts';
import { contentOf, environmentOf, filesOf, placed, specOf, textOf } from './installation.ts';
import { whichNode } from './launcher.ts';
import { copyNamed, expectedCopy, isWhole } from './package-copy.ts';
import type { ServiceSystem } from './system.ts';
import type { ServiceWorld } from './world.ts';

export interface ServiceStatus {
  system: ServiceSystem['name'];
  title: string;
  /** Whether the service manager can be used; else `why`. */
  available: boolean;
  why?: string | undefined;
  installed: boolean;
  running: boolean;
  pid?: number | undefined;
  lastExit?: number | undefined;
  place: string;
  /** Version of the copy that the service starts. */
  version?: string | undefined;
  /** The Node that the launcher finds now; undefined = none. */
  node?: string | undefined;
  /** The service is what `service install` would make now. */
  current: boolean;
  /** What is wrong and the command that repairs it; empty = all is well. */
  troubles: { what: string; repair: string }[];
}

const digestEnd = /-[0-9a-f]{12}$/;

/** Never rejects. */
export async function serviceStatus(world: ServiceWorld): Promise<ServiceStatus> {
  const { system } = placed(world);
  const why = await system.unavailable();
  const installed = (await textOf(system.place)) !== undefined;
  const base = {
    system: system.name,
    title: system.title,
    available: why === undefined,
    ...(why === undefined ? {} : { why: `${why.message}. ${why.hint ?? ''}` }),
    place: system.place,
    installed,
  };
  if (!installed) return { ...base, running: false, current: false, troubles: [] };
  const state = await system.state();
  const { name, node, differs } = await foundInstallation(world, system);
  const version = name?.replace(digestEnd, '');
  const troubles = [...(why === undefined ? [] : [{ what: why.message, repair: 'wa-sync start --detach' }])];
  if (version !== undefined && version !== world.version) {
    const what = `the service runs wa-sync ${version}, this command is ${world.version}`;
    troubles.push({ what, repair: 'wa-sync service install' });
  } else if (differs) {
    troubles.push({ what: 'the service is not what this wa-sync installs', repair: 'wa-sync service install' });
  }
  if (node === undefined) {
    troubles.push({ what: 'no supported Node is found by the service', repair: 'wa-sync service install' });
  }
  if (why === undefined && !state.running) {
    const end = state.lastExit === undefined ? '' : `; the last run ended with code ${state.lastExit}`;
    troubles.push({ what: `the service does not run${end}`, repair: 'wa-sync service start' });
  }
  return { ...base, ...state, version, node, current: !differs, troubles };
}

/** The copy that the launcher names, the Node that it finds, and whether anything is other than an installation would make it now. */
async function foundInstallation(world: ServiceWorld, system: ServiceSystem) {
  const { env, config } = environmentOf(world, { lenient: true });
  const spec = specOf(world, system, env);
  const launcher = (await textOf(spec.launcher)) ?? '';
  const asked = await world.run(spec.launcher, [whichNode], { PATH: env.PATH ?? world.env.PATH ?? '' });
  const node = asked.code === 0 ? asked.stdout.trim() : undefined;
  const differs = await expectedCopy(world, directories(world).data).then(
    async (copy) => {
      // Without a config that can be read only the launcher is known for certain.
      const files = filesOf(world, system, spec, copy).slice(0, config === undefined ? 1 : undefined);
      const same = await Promise.all(files.map(async (file) => (await textOf(file.path)) === contentOf(file)));
      return !same.every(Boolean) || !(await isWhole(copy));
    },
    () => true,
  );
  return { name: copyNamed(launcher), node, differs };
}
