// What acts on the workstation for each coding agent of the registry. Loaded by the daemon and the commands, never by a hook.

import type { Workstation } from './driver.ts';
import { geminiWorkstation } from './gemini/workstation.ts';

const workstations: Readonly<Record<string, Workstation>> = { gemini: geminiWorkstation };

/** Undefined = it cannot be installed, verified or woken. */
export function workstationOf(agent: string): Workstation | undefined {
  return workstations[agent];
}

/** Where files of the phone lie so that the agent of a session opens them; undefined = below the project. */
export async function filesFolder(
  { agent, path }: { agent?: string | undefined; path?: string | undefined },
  projectDir: string,
  home: string,
): Promise<string | undefined> {
  const known = agent === undefined ? Object.keys(workstations) : [agent];
  for (const name of known) {
    const folder = await workstations[name]?.filesFolder?.(projectDir, path, home);
    if (folder !== undefined) return folder;
  }
  return undefined;
}

/** What keeps any of them from running its hooks in a project, a sentence each. Never rejects. */
export async function verifyAll(projectDir: string, home: string): Promise<string[]> {
  return (await Promise.all(Object.values(workstations).map((each) => each.verify(projectDir, home)))).flat();
}

export function installable(): string[] {
  return Object.keys(workstations);
}
