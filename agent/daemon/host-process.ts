// The process that a coding agent runs in, as the turn rules ask of it: who types there, and whether keystrokes can wake it.

import type { Config } from '../config.ts';
import { driverOf } from '../drivers/registry.ts';
import { workstationOf } from '../drivers/workstations.ts';
import type { Keys } from '../presence.ts';
import type { TurnsOptions } from '../session/types.ts';
import { isServerProcess } from '../terminal.ts';

type HostProcess = Pick<TurnsOptions, 'isServer' | 'lastKeyAt' | 'canWake' | 'nudge' | 'nudgeOff'>;

export function createHostProcess({ nudge }: Pick<Config, 'nudge'>, keys: Keys): HostProcess {
  const isServer = async (pid: number, agent: string | undefined) => {
    const runsServer = agent === undefined ? undefined : driverOf(agent)?.isServer;
    return runsServer !== undefined && (await isServerProcess(pid, runsServer));
  };
  return {
    isServer,
    // The keys of a server's terminals cannot be told apart from those of its own surroundings.
    lastKeyAt: async (pid, agent) => ((await isServer(pid, agent)) ? undefined : keys.lastAt(pid)),
    async canWake(pid, agent) {
      const station = workstationOf(agent);
      return nudge === 'auto' && station?.nudge !== undefined && (await (station.canNudge ?? keys.isInTmux)(pid));
    },
    nudge: async (pid, agent) => (await workstationOf(agent)?.nudge?.(pid, (work) => keys.typing(pid, work))) ?? false,
    nudgeOff: nudge === 'off',
  };
}
