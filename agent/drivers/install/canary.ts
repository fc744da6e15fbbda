// The installed command of an event that changes nothing, as the host starts it. Starts nothing.

import { isDeepStrictEqual } from 'node:util';
import type { Canary, InstallDirs } from '../workstation.ts';
import { parseCommand } from './command.ts';

/** `commands` = the installed ones of the event. Undefined = none of them serves these directories. */
export function canaryOf(
  { directories, platform }: InstallDirs,
  commands: readonly string[],
  { shell, ...call }: Pick<Canary, 'event' | 'payload'> & { shell: 'sh' | 'bash' },
): Canary | undefined {
  const command = commands.find((each) => isDeepStrictEqual(parseCommand(each)?.directories, directories));
  if (command === undefined) return undefined;
  return platform === 'win32'
    ? { ...call, program: 'powershell', args: ['-NoProfile', '-Command', command] }
    : { ...call, program: shell, args: ['-c', command] };
}
