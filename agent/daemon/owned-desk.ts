// What the phone's commands about agents, modes, models and skills find on this machine. Starts no session.

import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { promisify } from 'node:util';
import { WaError } from '../../protocol/errors.ts';
import type { Texts } from '../../protocol/texts.ts';
import type { Config } from '../config.ts';
import { workstationOf } from '../drivers/workstations.ts';
import { type AcpRow, acpRows } from '../owned/acp/agents.ts';
import { costOf } from '../owned/costs.ts';
import type { OpenSession } from '../phone/owned-choices.ts';
import type { OwnedDesk } from '../phone/owned-commands.ts';
import { withoutSecrets } from '../process.ts';
import { programOnPath } from '../programs.ts';
import { listSkills } from '../workflows/expand.ts';
import { hookStateOf } from './hook-states.ts';

export interface OwnedDeskOptions {
  config: Pick<Config, 'agents' | 'agentCommands' | 'dirs'>;
  /** Of the project. */
  dir: string;
  session(): OpenSession | undefined;
  /** In the language of the phone. */
  texts(): Texts;
  env?: NodeJS.ProcessEnv;
}

const run = promisify(execFile);
const commandMs = 20_000;
const maxOutput = 64 * 1024;

export function createOwnedDesk({ config, dir, session, texts, env = process.env }: OwnedDeskOptions): OwnedDesk {
  const options = { cwd: dir, env: withoutSecrets(env), timeout: commandMs, maxBuffer: maxOutput };
  const rows = () => acpRows(config.agentCommands);

  function programOf(row: AcpRow): Promise<string | undefined> {
    const named = config.agents[row.name] ?? config.agentCommands[row.name]?.command[0];
    return named === undefined
      ? programOnPath(row.program, { env, platform: process.platform })
      : Promise.resolve(named);
  }

  /** As the program says; a program that does not say is there all the same. */
  async function versionOf(row: AcpRow): Promise<string | undefined> {
    const program = await programOf(row);
    if (program === undefined) return undefined;
    if (config.agentCommands[row.name]) return texts().owned.picks.ofConfig;
    const said = await run(program, ['--version'], options).then(
      ({ stdout }) => stdout,
      () => '',
    );
    return /\d{1,6}\.\d{1,6}\.\d{1,6}[\w.-]{0,32}/.exec(said)?.[0] ?? texts().owned.picks.installed;
  }

  const switches = (agent: string) => workstationOf(agent)?.skillArgs;

  return {
    session,
    agents: () =>
      Promise.all(
        rows().map(async (row) => ({
          name: row.name,
          title: row.title,
          version: await versionOf(row),
          hooks: await hookStateOf(row.name, { dirs: config.dirs, dir, env }),
          owned: costOf(row.name, texts().owned),
        })),
      ),
    skills: () => listSkills({ project: dir, home: homedir() }),
    canSwitchSkill: (agent) => switches(agent) !== undefined,
    async switchSkill(agent, skill, on) {
      const row = rows().find(({ name }) => name === agent);
      const program = row && (await programOf(row));
      const args = switches(agent)?.(skill, on);
      if (program === undefined || args === undefined) {
        throw new WaError('not_found', `${agent} is not on this machine, or has no command for skills`, {
          hint: '/agents lists the coding agents of this machine.',
        });
      }
      try {
        const { stdout, stderr } = await run(program, [...args], options);
        return stdout.trim() || stderr.trim();
      } catch (cause) {
        const { stderr = '', message } = cause as Error & { stderr?: string };
        throw new WaError('child_failed', `${program} ${args.join(' ')} failed: ${stderr.trim() || message}`, {
          cause,
        });
      }
    },
  };
}
