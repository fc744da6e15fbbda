// The command line of this program, as the person who started it can type it again.

import { join } from 'node:path';
import { programOnPath } from '../programs.ts';
import { quoted } from '../shell.ts';
import type { CommandContext } from './context.ts';

/** `what` = the name of a command that is a script of package.json as well. */
export async function ownCommand(
  what: string,
  { env, platform, distDir }: Pick<CommandContext, 'env' | 'platform' | 'distDir'>,
): Promise<string> {
  if (env.npm_command?.startsWith('run')) return `npm run ${what}`;
  if (/[\\/]_npx[\\/]/.test(distDir)) return `npx wa-sync ${what}`;
  if ((await programOnPath('wa-sync', { env, platform })) !== undefined) return `wa-sync ${what}`;
  return `node ${quoted(join(distDir, 'wa-sync.js'))} ${what}`;
}
