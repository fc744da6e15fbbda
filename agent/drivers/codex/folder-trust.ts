// Whether a person has told Codex to trust a folder. Without a terminal the program does not ask: it starts the MCP servers of any
// folder at once. Reads only.

import { join } from 'node:path';
import { repositoryTop } from '../../fs/repository.ts';
import { textOf } from '../install/files.ts';
import { readTrust } from './hook-trust.ts';
import { settingsFolder } from './install.ts';

/** `dir` is a real path. A file that cannot be read trusts nothing. Never rejects. */
export async function trusts(dir: string, home: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const text = await textOf(join(settingsFolder({ home, env }), 'config.toml')).catch(() => undefined);
  const { folders } = readTrust(text ?? '');
  const top = await repositoryTop(dir);
  return folders.has(dir) || (top !== undefined && folders.has(top));
}
