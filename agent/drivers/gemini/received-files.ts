// Finds the folder for files from the phone that Gemini CLI's own tools can open: the tools read the workspace, except what git
// ignores, and the CLI's temporary folder of the project. Reads only.

import { readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Inside the temporary folder, which lies below the user's home and in no repository. */
const folderName = 'wa_files';

/** Real path. `transcript` = the session file that a hook named last. Undefined = the CLI has never run in this project. */
export async function receivedFilesFolder(
  projectDir: string,
  transcript: string | undefined,
  home: string,
): Promise<string | undefined> {
  const folder = (await folderOfSession(transcript)) ?? (await folderOfProject(projectDir, home));
  return folder === undefined ? undefined : join(await realpath(folder), folderName);
}

/** Preferred, because the session may run in a folder below the project, or with another home. */
async function folderOfSession(transcript: string | undefined): Promise<string | undefined> {
  if (transcript === undefined || basename(dirname(transcript)) !== 'chats') return undefined;
  const folder = dirname(dirname(transcript));
  return (await rootOf(folder)) === undefined ? undefined : folder;
}

async function folderOfProject(projectDir: string, home: string): Promise<string | undefined> {
  const own = join(home, '.gemini');
  const real = await realpath(projectDir).catch(() => projectDir);
  try {
    const { projects } = JSON.parse(await readFile(join(own, 'projects.json'), 'utf8')) as {
      projects: Record<string, unknown>;
    };
    const slug = projects[process.platform === 'win32' ? real.toLowerCase() : real];
    if (typeof slug !== 'string' || !/^[\w-]+$/.test(slug)) return undefined;
    const folder = join(own, 'tmp', slug);
    return (await rootOf(folder)) === real ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** The project of a temporary folder, from the file that the CLI writes into it. */
async function rootOf(folder: string): Promise<string | undefined> {
  const root = (await readFile(join(folder, '.project_root'), 'utf8').catch(() => '')).trim();
  return root === '' ? undefined : root;
}
