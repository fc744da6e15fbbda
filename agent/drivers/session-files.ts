// The session files of all coding agents, by the name of the agent. Loaded by the commands and the daemon, never by a hook.

import { claudeSessions } from './claude/sessions.ts';
import { codexSessions } from './codex/sessions.ts';
import { geminiSessions } from './gemini/sessions.ts';
import type { SessionFiles } from './sessions.ts';

const all: Readonly<Record<string, SessionFiles>> = {
  gemini: geminiSessions,
  claude: claudeSessions,
  codex: codexSessions,
};

/** Undefined = the sessions of this agent cannot be read. */
export function sessionFilesOf(agent: string): SessionFiles | undefined {
  return Object.hasOwn(all, agent) ? all[agent] : undefined;
}

export function agentsWithSessions(): string[] {
  return Object.keys(all);
}
