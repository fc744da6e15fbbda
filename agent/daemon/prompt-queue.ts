// Puts a prompt into the queue of a coding agent, by the agent's own program: one short process for each prompt.

import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { delimiter, dirname } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import type { Config } from '../config.ts';
import { workstationOf } from '../drivers/workstations.ts';
import { withoutSecrets } from '../process.ts';
import { programOnPath } from '../programs.ts';
import type { PromptQueue } from '../session/types.ts';

/** Measured below 0.3 s; a machine may be busy. */
const limitMs = 20_000;

export function createPromptQueue(
  { agents, nudge }: Pick<Config, 'agents' | 'nudge'>,
  env: NodeJS.ProcessEnv = process.env,
): PromptQueue {
  const programOf = (agent: string) =>
    agents[agent] ? Promise.resolve(agents[agent]) : programOnPath(agent, { env, platform: process.platform });

  return {
    async reaches(agent) {
      if (nudge !== 'auto' || workstationOf(agent)?.queue === undefined) return false;
      return (await programOf(agent)) !== undefined;
    },
    async add({ agent, id, transcript }, prompt) {
      const queue = workstationOf(agent)?.queue;
      const program = await programOf(agent);
      if (!queue || program === undefined) {
        throw new WaError('not_found', `The program of ${agent} is not there, so no prompt can be queued`, {
          hint: `Put \`${agent}\` on the PATH of the daemon, or its absolute path into "agents" of config.json.`,
        });
      }
      const { args, variables } = queue({ id, transcript }, prompt);
      // A script of npm needs the `node` of this daemon, which the short PATH of a service may lack.
      const path = [env.PATH, dirname(process.execPath)].filter(Boolean).join(delimiter);
      await run(program, args, { ...withoutSecrets(env), PATH: path, ...variables });
    },
  };
}

/** What the program says stays out of the error: it may repeat the prompt. */
function run(program: string, args: readonly string[], env: Record<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { env, cwd: homedir(), timeout: limitMs, killSignal: 'SIGKILL', windowsHide: true } as const;
    const child = execFile(program, args, options, (cause) => {
      if (!cause) return resolve();
      const how = cause.killed ? `did not end within ${limitMs / 1000} s` : `ended with ${cause.code ?? cause.signal}`;
      reject(
        new WaError('child_failed', `\`${program} ${args[0]}\` ${how}`, {
          hint: `Run \`${program} --version\`; the queue needs a version that \`wa-sync doctor\` knows.`,
        }),
      );
    });
    child.stdin?.end();
  });
}
