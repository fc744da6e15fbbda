// A made-up machine on which the tests judge tool calls: a home, the directories of wa-sync in it, and a project without links.

import type { ToolCall } from '../../../agent/approvals/danger/call.ts';
import type { Surroundings } from '../../../agent/approvals/danger/rules.ts';
import { knownPlaces } from '../../../agent/approvals/danger/surroundings.ts';
import type { Policies } from '../../../agent/approvals/policy/policy.ts';

const home = '/home/dev';

/** What the rules know of it, without a detector of secrets. */
export const places = knownPlaces(
  {
    config: `${home}/.config/wa-sync`,
    state: `${home}/.local/state/wa-sync`,
    runtime: '/run/user/1000/wa-sync',
    data: `${home}/.local/share/wa-sync`,
    cache: `${home}/.cache/wa-sync`,
  },
  home,
);

export function worldWith(changes: Partial<Surroundings> = {}): Surroundings {
  return { ...places, cwd: `${home}/shop`, resolved: new Map(), secretsIn: () => 0, ...changes };
}

export function policiesWith(
  user: Partial<Policies['user']> = {},
  project: Partial<Policies['project']> = {},
): Policies {
  return {
    user: { rules: [], onTimeout: 'deny', timeoutSeconds: 3600, ...user },
    project: { rules: [], ...project },
    problems: [],
  };
}

export function shellCall(command: string): ToolCall {
  return { agent: 'gemini', tool: 'run_shell_command', server: undefined, input: { command } };
}
