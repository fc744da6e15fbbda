// `wa-sync stop`, `wa-sync sprint [n]` and `wa-sync away [on|off]`: what the owner asks of the coding agent at the desk, by way
// of the daemon. What they do is the daemon's.

import { askDaemon } from '../local-client.ts';
import type { CommandContext } from './context.ts';

/** Errors: `daemon_not_running`, `not_bound`. */
export async function steerCommand(
  action: 'stop' | 'sprint' | 'away',
  args: string,
  context: CommandContext,
): Promise<void> {
  const { runtime } = context.loadConfig().dirs;
  const answer = await askDaemon(runtime, 'POST', '/steer', { action, args, cwd: context.cwd });
  context.out((answer as { text: string }).text);
}
