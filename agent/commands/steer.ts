// `wa-sync stop`, `wa-sync sprint [n]` and `wa-sync away [on|off]`: the owner steers the coding agent from a terminal. The daemon does
// the work.

import { WaError } from '../../protocol/errors.ts';
import { askDaemon } from '../local-client.ts';
import { sprintLimits } from '../turns/sprint.ts';
import type { CommandContext } from './context.ts';

/** Errors: `bad_arguments`, `daemon_not_running`, `daemon_busy`, `not_bound`, `sprint_running`. */
export async function steerCommand(
  action: 'stop' | 'sprint' | 'away',
  args: string,
  context: CommandContext,
): Promise<void> {
  if (action === 'sprint') checkTasks(args);
  const answer = await askDaemon(context.loadConfig().dirs, 'POST', '/steer', { action, args, cwd: context.cwd });
  context.out((answer as { text: string }).text);
}

/** Needs no daemon, so that a mistake is reported without one. */
function checkTasks(args: string): void {
  const tasks = Number(args);
  if (args === '' || (/^\d+$/.test(args) && tasks >= 1 && tasks <= sprintLimits.maxTasks)) return;
  throw new WaError('bad_arguments', `a sprint has 1 to ${sprintLimits.maxTasks} tasks, not ${args}`, {
    hint: 'Give a number, like `wa-sync sprint 3`. A goal and --for belong to /sprint on the phone.',
  });
}
