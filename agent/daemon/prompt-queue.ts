// Puts a prompt into the queue of a coding agent, by the agent's own program: one short process for each prompt.

import { type ChildProcess, spawn } from 'node:child_process';
import { homedir } from 'node:os';
import { delimiter, dirname } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import type { Config } from '../config.ts';
import { workstationOf } from '../drivers/workstations.ts';
import { killGroup, ownGroup, withoutSecrets } from '../process.ts';
import { programOnPath } from '../programs.ts';
import type { PromptQueue } from '../session/types.ts';

/** Measured below 0.3 s; a machine may be busy. */
const maxMs = 20_000;

export function createPromptQueue(
  { agents, nudge }: Pick<Config, 'agents' | 'nudge'>,
  env: NodeJS.ProcessEnv = process.env,
  limitMs = maxMs,
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
      await run(program, args, { ...withoutSecrets(env), PATH: path, ...variables }, limitMs);
    },
  };
}

/** What the program says is not read: it may repeat the prompt. */
function run(program: string, args: readonly string[], env: Record<string, string>, limitMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const fails = (how: string) =>
      reject(
        new WaError('child_failed', `\`${program} ${args[0]}\` ${how}`, {
          hint: `Run \`${program} --version\`; the queue needs a version that \`wa-sync doctor\` knows.`,
        }),
      );
    let child: ChildProcess;
    try {
      child = spawn(program, args, { env, cwd: homedir(), stdio: 'ignore', windowsHide: true, detached: ownGroup });
    } catch (cause) {
      // A NUL in the prompt, or no memory.
      return fails(`does not start (${(cause as NodeJS.ErrnoException).code})`);
    }
    const timer = setTimeout(() => {
      fails(`did not end within ${limitMs / 1000} s`);
      killGroup(child);
    }, limitMs);
    child.once('error', (cause: NodeJS.ErrnoException) => fails(`does not start (${cause.code})`));
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve();
      else fails(`ended with ${code ?? signal}`);
    });
  });
}
