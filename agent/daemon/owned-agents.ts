// The coding agents that the daemon of this machine can run itself, with what a person needs for their sessions.

import { homedir } from 'node:os';
import type { Config } from '../config.ts';
import { workstationOf } from '../drivers/workstations.ts';
import { pathBelow } from '../fs/below.ts';
import type { Log } from '../log.ts';
import { acpRows } from '../owned/acp/agents.ts';
import { acpAgents } from '../owned/acp/start.ts';
import { AgentError } from '../owned/agent-error.ts';
import type { StartAgent } from '../owned/owned.ts';
import { programOnPath } from '../programs.ts';

export interface OwnedAgents {
  start: StartAgent;
  /** In the order of help. */
  list(): Promise<readonly { name: string; title: string; isInstalled: boolean }[]>;
  /** The name that people read. */
  titleOf(agent: string): string;
  /** The command line that opens a session in a terminal; undefined = not known. */
  resumeCommand(agent: string, session: string): readonly string[] | undefined;
}

export interface OwnedAgentsOptions {
  config: Pick<Config, 'agents' | 'agentCommands' | 'file'> & { readonly dirs: Pick<Config['dirs'], 'cache'> };
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
  version: string;
  log: Log;
}

export function ownedAgents({ config, env, platform, version, log }: OwnedAgentsOptions): OwnedAgents {
  const rows = acpRows(config.agentCommands);
  const rowOf = (name: string) => rows.find((row) => row.name === name);
  const isInstalled = async (name: string, program: string) =>
    config.agentCommands[name] !== undefined ||
    config.agents[name] !== undefined ||
    (await programOnPath(program, { env, platform })) !== undefined;
  const start = acpAgents({
    ...{ config, platform, version, log },
    cacheDir: config.dirs.cache,
    say: (line) => log('info', 'owned agent', { line }),
  });

  /** Where no terminal can ask, some agents run what a folder brings. A command of the config is the user's own. */
  async function refuseUntrusted(name: string, { cwd, env: given }: Parameters<StartAgent>[1]): Promise<void> {
    const trusts = workstationOf(name)?.trusts;
    const row = rowOf(name);
    if (!trusts || !row || config.agentCommands[name] || !(await isInstalled(name, row.program))) return;
    const { title, program } = row;
    const dir = await pathBelow(cwd);
    if (await trusts(dir, given.HOME || homedir(), given)) return;
    throw new AgentError(
      'folder_untrusted',
      (texts) => texts.untrusted(title, dir),
      (texts) => texts.trustThere(program),
    );
  }

  return {
    async start(name, options) {
      await refuseUntrusted(name, options);
      return start(name, options);
    },
    list: () =>
      Promise.all(
        rows.map(async ({ name, title, program }) => ({ name, title, isInstalled: await isInstalled(name, program) })),
      ),
    titleOf: (agent) => rowOf(agent)?.title ?? agent,
    resumeCommand(agent, session) {
      // The agent has named it; an argument that begins with a dash would be an option.
      if (!/^\w[\w.:-]*$/.test(session)) return undefined;
      const row = rowOf(agent);
      return row?.resumeArgs && [config.agents[agent] ?? row.program, ...row.resumeArgs, session];
    },
  };
}
