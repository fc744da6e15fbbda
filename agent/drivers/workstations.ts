// The workstation part of each registered coding agent. Loaded by the daemon and the commands, never by a hook.

import { claudeWorkstation } from './claude/workstation.ts';
import { codexWorkstation } from './codex/workstation.ts';
import { geminiWorkstation } from './gemini/workstation.ts';
import type { Workstation } from './workstation.ts';

const workstations: Readonly<Record<string, Workstation>> = {
  gemini: geminiWorkstation,
  claude: claudeWorkstation,
  codex: codexWorkstation,
};

/** Undefined = the agent cannot be installed, verified or woken. */
export function workstationOf(agent: string): Workstation | undefined {
  return Object.hasOwn(workstations, agent) ? workstations[agent] : undefined;
}

/** The folder for files from the phone that the agent of a session can open; undefined = below the project. */
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

/** One sentence for each setting that keeps an agent from running its hooks in a project. Never rejects. */
export async function verifyAll(projectDir: string, home: string): Promise<string[]> {
  return (await Promise.all(Object.values(workstations).map((each) => each.verify(projectDir, home)))).flat();
}

export function installable(): string[] {
  return Object.keys(workstations);
}
