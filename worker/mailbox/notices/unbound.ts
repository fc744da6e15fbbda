// What is said about a topic that no project is bound to, when it gets one, and when the platform no longer has it.

import { bindCommand } from '../../../protocol/commands.ts';
import type { Core } from '../core.ts';
import { textsOf } from '../language.ts';
import { tellPhone } from '../outbound/queue.ts';
import { openProject, readStanding, saveProject } from '../tables/projects.ts';
import type { ProjectRow } from '../tables/rows.ts';
import { isUnbound, topicName } from '../topics.ts';

/** Stands in `away_cursor` when the phone was told that no project is bound. */
export const unboundCursor = -1;

/** A slow stream of messages is answered once an hour. */
const everyMs = 3_600_000;

/** The command that binds a project to the topic, or to the main chat. */
export function bindingText(core: Core, project: number): string {
  const { platform, chatId } = core;
  const chat = platform.chatIds.length > 1 ? chatId : undefined;
  return textsOf(core).relay.bind(bindCommand(project, chat));
}

/** Answers a message in a topic without a project. True = the phone is told now. */
export function tellUnbound(core: Core, project: number): boolean {
  const row = openProject(core.sql, project);
  const nowMs = core.clock();
  if (!isUnbound(core, row) || nowMs - (row.away_told_at ?? 0) < everyMs) return false;
  const { relay } = textsOf(core);
  const unbound = project === 0 ? relay.unboundChat : relay.unboundTopic;
  const text = `${unbound} ${relay.keptUntilBound} ${bindingText(core, project)}`;
  tellPhone(core, project, text, {}, 'unbound:');
  // In place of the notice that the workstation is away.
  saveProject(core, { ...row, away_told_at: nowMs, away_cursor: unboundCursor });
  return true;
}

/** Answers a command that has nothing to act on. True = there is no project. */
export function refuseUnbound(core: Core, project: number): boolean {
  if (!isUnbound(core, openProject(core.sql, project))) return false;
  const text = `${textsOf(core).relay.nothingBound} ${bindingText(core, project)}`;
  tellPhone(core, project, text, {}, 'unbound:command');
  return true;
}

/** The first words of a project to its topic, once what waited there is taken. */
export function boundText(core: Core, row: ProjectRow, messages: number): string {
  const { relay } = textsOf(core);
  const standing = readStanding(row);
  const who = standing === null ? relay.someProject : relay.place(standing.folder, standing.machine);
  return relay.bound(who, messages);
}

/** Once for each topic that the platform no longer has. */
export function tellTopicGone(core: Core, project: number): void {
  const row = openProject(core.sql, project);
  const standing = readStanding(row);
  const { relay } = textsOf(core);
  const who = standing === null ? topicName(core, row) : relay.place(standing.folder, standing.machine);
  tellPhone(core, 0, relay.topicGone(who));
}

/** What stands above a message that is not in its own topic. */
export function displacedHead(core: Core, row: ProjectRow): string {
  const standing = readStanding(row);
  return `[${standing?.folder ?? topicName(core, row)}]\n`;
}
