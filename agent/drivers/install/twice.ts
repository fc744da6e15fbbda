// Hooks of wa-sync in the settings of the user and in those of a project: the host runs both, and each must be kept up to date.

import type { HookFault } from '../workstation.ts';

/** `places` have hooks of wa-sync; `project` undefined = the settings of the user. */
export function installedTwice(agent: string, places: readonly { path: string; project: string | undefined }[]) {
  const user = places.find(({ project }) => project === undefined);
  return places.flatMap(({ path, project }): HookFault[] => {
    if (!user || project === undefined) return [];
    const what = `hooks of wa-sync are installed twice: ${user.path} and ${path}`;
    const repair = `Run \`wa-sync hooks uninstall --agent ${agent} --scope project --project ${project}\`.`;
    return [{ state: 'warn', what, repair }];
  });
}
