// A home with recorded sessions of all three agents, as each agent lays its files out.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const fixtures = join(import.meta.dirname, '..', 'fixtures');

/** By agent; the ids stand in the recorded files. */
export const recorded = {
  gemini: { file: 'gemini-0.61.0/session.jsonl', id: 'b70b5752-1eca-4465-a503-74d06a785abd' },
  claude: { file: 'claude-2.1.329/transcript-sample.jsonl', id: '71deeaac-359f-445c-8282-2c3be1710563' },
  codex: { file: 'codex-0.169.0/rollout-sample.jsonl', id: '01a1fae9-f8ba-74f1-8c56-91bc38957c43' },
} as const;
export type Agent = keyof typeof recorded;

/** The text of a recorded session, in the project of the home. */
export async function recordedText(agent: Agent, project: string): Promise<string> {
  const text = await readFile(join(fixtures, recorded[agent].file), 'utf8');
  return text.replaceAll('/home/dev/project', project);
}

interface Place {
  home: string;
  project: string;
}

/** Puts a session where the agent would; returns its path. */
export async function addSession({ home, project }: Place, agent: Agent, text?: string, id?: string): Promise<string> {
  const own = id ?? recorded[agent].id;
  const places = {
    gemini: `.gemini/tmp/project/chats/session-2026-01-02T22-02-${own.slice(0, 8)}.jsonl`,
    claude: `.claude/projects/${project.replace(/[^A-Za-z0-9]/g, '-')}/${own}.jsonl`,
    codex: `.codex/sessions/2026/11/20/rollout-2026-11-20T21-43-20-${own}.jsonl`,
  };
  const path = join(home, places[agent]);
  await mkdir(dirname(path), { recursive: true });
  if (agent === 'gemini') await writeFile(join(dirname(path), '..', '.project_root'), project);
  await writeFile(path, text ?? (await recordedText(agent, project)));
  return path;
}
