// Finds the program of a coding agent on the PATH, as the shell of the person who runs setup would.

import { access, constants, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/** The absolute path; undefined = not on the PATH. Folders that are relative do not count: they change with the working directory. */
export async function programOnPath(
  name: string,
  { env, platform }: { env: Record<string, string | undefined>; platform: NodeJS.Platform },
): Promise<string | undefined> {
  const ends = platform === 'win32' ? (env.PATHEXT ?? '.EXE;.CMD').split(';') : [''];
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  for (const path of folders.flatMap((folder) => ends.map((end) => join(folder, `${name}${end.toLowerCase()}`)))) {
    const runs = await access(path, constants.X_OK).then(
      async () => (await stat(path)).isFile(),
      () => false,
    );
    if (runs) return path;
  }
  return undefined;
}
