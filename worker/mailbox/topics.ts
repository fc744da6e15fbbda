// The topics of the chat: whether there are any, which of them serve a project, and which are gone.

import type { Core } from './core.ts';
import { textsOf } from './language.ts';
import { openProject, readProjects, saveProject } from './tables/projects.ts';
import type { ProjectRow } from './tables/rows.ts';
import { getMeta, setMeta } from './tables/schema.ts';

/** A person turns topics on or off about never. */
const freshMs = 24 * 3_600_000;

interface Topics {
  on: boolean;
  at: number;
}

/** Null = not known yet. */
export function readTopics(core: Core): boolean | null {
  if (!core.platform.capabilities.topics) return false;
  return storedTopics(core)?.on ?? null;
}

function storedTopics(core: Core): Topics | undefined {
  const stored = getMeta(core.sql, 'topics');
  return stored === undefined ? undefined : (JSON.parse(stored) as Topics);
}

/** Asks the platform, at most once a day. Never throws; without an answer everything stays as it is. */
export async function learnTopics(core: Core): Promise<void> {
  if (!core.platform.capabilities.topics) return;
  const known = storedTopics(core);
  if (known !== undefined && core.clock() - known.at < freshMs) return;
  const on = await core.platform.hasTopics(core.chatId);
  if (on !== null) noteTopics(core, on);
}

function noteTopics(core: Core, on: boolean): void {
  setMeta(core.sql, 'topics', JSON.stringify({ on, at: core.clock() } satisfies Topics));
}

/** A topic of this name that the relay has made and no daemon has polled yet. */
export function freeTopic(core: Core, name: string): number | null {
  const free = readProjects(core.sql).find(
    (row) => row.topic === name && row.daemon_id === null && row.topic_gone_at === null,
  );
  return free?.project ?? null;
}

export function addTopic(core: Core, project: number, name: string): void {
  core.sql.transaction(() => {
    saveProject(core, { ...openProject(core.sql, project), topic: name, topic_gone_at: null });
    noteTopics(core, true);
  });
}

/** No workstation has ever served it, and the mailbox is more than one project. */
export function isUnbound(core: Core, { project, daemon_id }: ProjectRow): boolean {
  if (daemon_id !== null) return false;
  return project !== 0 || readProjects(core.sql).some((row) => row.daemon_id !== null);
}

/** How people call it. */
export function topicName(core: Core, { project, topic }: Pick<ProjectRow, 'project' | 'topic'>): string {
  const { relay } = textsOf(core);
  return topic ?? (project === 0 ? relay.mainChat : relay.topic(project));
}

/** The platform says that the topic is no longer there. True = it was not known. */
export function noteTopicGone(core: Core, project: number): boolean {
  const row = openProject(core.sql, project);
  if (row.topic_gone_at !== null) return false;
  saveProject(core, { ...row, topic_gone_at: core.clock() });
  return true;
}

/** Somebody has written there. */
export function noteTopicThere(core: Core, project: number): void {
  const row = openProject(core.sql, project);
  if (row.topic_gone_at !== null) saveProject(core, { ...row, topic_gone_at: null });
  if (readTopics(core) === null) noteTopics(core, true);
}

export function hasGoneTopics(core: Core): boolean {
  return readProjects(core.sql).some((row) => row.topic_gone_at !== null);
}
