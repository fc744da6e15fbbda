// Whether a person has told Claude Code to trust a folder. Without a terminal the program does not ask: it runs the hooks and the MCP
// servers of any folder at once. Reads only.

import { join } from 'node:path';
import { isInside } from '../../fs/below.ts';
import { readLinked } from '../../fs/raw-file.ts';
import { foldersFrom, repositoryTop } from '../../fs/repository.ts';
import { object, parsed } from '../fields.ts';

/** The program keeps a history in this file. */
const maxBytes = 64 * 1024 * 1024;

/** `dir` is a real path. A file that cannot be read trusts nothing. Never rejects. */
export async function trusts(dir: string, home: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const file = await readLinked(join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'), maxBytes).catch(() => undefined);
  const projects = object(parsed(file?.bytes.toString('utf8') ?? '').projects);
  // As the program looks: up to the top of the repository, else up to the root.
  const top = await repositoryTop(dir);
  const folders = foldersFrom(dir).filter((each) => top === undefined || isInside(each, top));
  return folders.some((each) => object(projects[each]).hasTrustDialogAccepted === true);
}
