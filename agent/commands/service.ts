// `wa-sync service install|uninstall|start|stop|status`: calls the room agent/service/ and prints what it did.

import { directories } from '../paths.ts';
import { installService, startService, stopService, uninstallService } from '../service/service.ts';
import { type ServiceStatus, serviceStatus } from '../service/service-status.ts';
import { type ServiceWorld, serviceWorld } from '../service/world.ts';
import { version } from '../version.ts';
import type { CommandContext } from './context.ts';

export type ServiceAction = 'install' | 'uninstall' | 'start' | 'stop' | 'status';

/** Errors: those of agent/service/service.ts. */
export async function serviceCommand(
  { action, json }: { action: ServiceAction; json?: boolean | undefined },
  context: CommandContext,
): Promise<void> {
  // Mistyped keys are named now, and not by a service that does not start.
  if (action === 'install') context.loadConfig();
  const world = serviceWorld(context, version);
  const { value, lines } = await context.progress.during(`service ${action}`, () => actions[action](world));
  for (const line of json ? [JSON.stringify(value)] : lines) context.out(line);
}

type Action = (world: ServiceWorld) => Promise<{ value: unknown; lines: string[] }>;

const actions: Record<ServiceAction, Action> = {
  async install(world) {
    const value = await installService(world);
    const { title, place, pid, notes } = value;
    const lines = [
      `installed  ${title} ${place}`,
      `running    wa-sync ${world.version}${pid === undefined ? '' : `, pid ${pid}`}, now and at each login`,
      ...notes,
      'See it with `wa-sync service status`, its log with `wa-sync logs -f`.',
    ];
    return { value, lines };
  },
  async uninstall(world) {
    const removed = await uninstallService(world);
    const lines = removed.map((path) => `removed  ${path}`);
    return { value: { removed }, lines: lines.length > 0 ? lines : ['nothing was installed'] };
  },
  async start(world) {
    const pid = await startService(world);
    return { value: { pid }, lines: [`running${pid === undefined ? '' : `, pid ${pid}`}`] };
  },
  async stop(world) {
    await stopService(world);
    return { value: {}, lines: ['stopped until `wa-sync service start` or the next login; hooks start no daemon'] };
  },
  async status(world) {
    const value = await serviceStatus(world);
    return { value, lines: statusLines(value, directories(world).data) };
  },
};

function statusLines(status: ServiceStatus, dataDir: string): string[] {
  const { title, place, available, why, installed, running, pid, version: copied, node, troubles } = status;
  if (!installed) {
    const next = available ? 'Install it with `wa-sync service install`.' : (why ?? '');
    return [`${title}: not installed`, next];
  }
  return [
    `${title}: ${running ? `running${pid === undefined ? '' : `, pid ${pid}`}` : 'not running'}`,
    `  file     ${place}`,
    `  copy     ${copied === undefined ? 'not known' : `wa-sync ${copied}`} in ${dataDir}`,
    `  node     ${node ?? 'none found'}`,
    ...troubles.map(({ what, repair }) => `  trouble  ${what}. Run: ${repair}`),
  ];
}
