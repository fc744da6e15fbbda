// /status, /sessions and /usage in words: where each project stands, by what its daemon told last. Reads only.

import { durationText } from '../../../protocol/duration.ts';
import { runsOutAt, shareOf } from '../../../protocol/free-plan.ts';
import { receiptStates } from '../../../protocol/receipts.ts';
import { needsOwner, type SessionUsage, type Standing } from '../../../protocol/standing.ts';
import type { Core } from '../core.ts';
import { readPause } from '../outbound/platform-state.ts';
import { presentAt } from '../poll/ownership.ts';
import { readStatus } from '../report.ts';
import { countWaitingMessages } from '../tables/log.ts';
import { openProject, readProjects, readStanding, readToday, zoneOf } from '../tables/projects.ts';
import type { ProjectRow } from '../tables/rows.ts';
import { isUnbound, topicName } from '../topics.ts';
import { bindingText } from './unbound.ts';
import { amountText, clockText, countText, messagesText, shareText } from './words.ts';

export function statusText(core: Core, number: number): string {
  const nowMs = core.clock();
  const project = openProject(core.sql, number);
  const zone = zoneOf(core.sql, project);
  const pause = readPause(core);
  const status = readStatus(core);
  const own = status.projects.find((row) => row.project === number);
  const ladder = receiptStates.flatMap((state) => {
    const count = own?.ladder[state];
    return count === undefined ? [] : [`${count} ${state}`];
  });
  const oldest = own?.oldestWaitingAt ?? null;
  const { queued, sending, dead } = status.outbox;
  const deadCount = own?.letters ?? 0;
  const standing = readStanding(project);
  return [
    ...(standing === null ? [] : standingLines(core, project, standing)),
    seenText(core, project),
    ...(isUnbound(core, project) ? [bindingText(core, number)] : []),
    `Messages: ${ladder.length === 0 ? 'none' : ladder.join(', ')}.`,
    ...(oldest === null ? [] : [`The oldest waits for ${durationText(nowMs - oldest)}.`]),
    ...(standing === null || standing.waiting === 0
      ? []
      : [`${messagesText(standing.waiting)} on the workstation, for the agent's next turn or tool.`]),
    `Answers: ${queued + sending} waiting, ${dead} could not be sent.`,
    ...(deadCount === 0 ? [] : [`Not delivered: ${deadCount}, see /letters.`]),
    ...(pause === null ? [] : [`Sending pauses until ${clockText(pause.untilAt, nowMs, zone)}: ${pause.code}.`]),
  ].join('\n');
}

function standingLines(core: Core, project: ProjectRow, standing: Standing): string[] {
  const { folder, machine, agent, session, away, present, follow, approvals, sprint } = standing;
  const named = [`${folder} on ${machine}`, ...(agent === undefined ? [] : [agent]), ...ownedWords(standing)].join(
    ', ',
  );
  const modes = [
    `away ${away ? 'on' : 'off'}${present === undefined ? '' : `, ${present ? 'somebody' : 'nobody'} at the terminal`}`,
    ...(follow === undefined ? [] : [`follow ${follow}`]),
    `approvals ${approvals}`,
    ...(sprint === undefined ? [] : [`sprint: ${sprint}`]),
  ];
  const doing = doingText(core, project, standing);
  return [
    `${named}${session === undefined ? ', no session yet' : `, session ${session}`}`,
    // The daemon is silent now: this is what it told last.
    isOnline(core, project) ? `Now: ${doing}.` : `When last seen: ${doing}.`,
    `Modes: ${modes.join(', ')}.`,
  ];
}

/** What goes on, what somebody has to answer first. */
/** Of a session that the daemon runs itself. */
function ownedWords({ owned }: Standing): string[] {
  return owned === undefined ? [] : [owned === '' ? 'run by wa-sync' : `run by wa-sync (${owned})`];
}

function doingText(core: Core, project: ProjectRow, { doing, sinceAt, dialog, asked, agent }: Standing): string {
  const since = clockText(sinceAt, core.clock(), zoneOf(core.sql, project));
  const words = {
    idle: `idle since ${since}`,
    turn: `a turn runs since ${since}`,
    waiting: `waits for you since ${since}`,
  };
  return [
    ...(dialog === undefined ? [] : [`a dialog is open at the desk: “${dialog}”`]),
    ...(asked === 0 ? [] : [`${countText(asked, 'question')} for you above`]),
    agent === undefined ? 'waits for the first turn' : words[doing],
  ].join('; ');
}

function isOnline(core: Core, project: ProjectRow): boolean {
  return presentAt(core, project) === Number.POSITIVE_INFINITY;
}

function seenText(core: Core, project: ProjectRow): string {
  if (isOnline(core, project)) return 'Workstation: connected.';
  const seenAt = project.last_seen_at;
  if (seenAt === null) return 'Workstation: never seen.';
  const nowMs = core.clock();
  const at = clockText(seenAt, nowMs, zoneOf(core.sql, project));
  return `Workstation: last seen ${at}, ${durationText(nowMs - seenAt)} ago.`;
}

/** All projects of the chat: who needs the owner first, then who is online, then by name. */
export function sessionsText(core: Core, here: number): string {
  const rows = readProjects(core.sql).filter((row) => row.daemon_id !== null || isUnbound(core, row));
  if (rows.length === 0) return 'No workstation has connected yet.';
  const lines = rows
    .map((row) => ({ row, standing: readStanding(row), online: isOnline(core, row) }))
    .map((each) => ({ ...each, needs: each.online && each.standing !== null && needsOwner(each.standing) }))
    .sort((a, b) => Number(b.needs) - Number(a.needs) || Number(b.online) - Number(a.online))
    .map(({ row, standing, online, needs }) => {
      const place = row.project === here ? 'here' : topicName(row);
      return `${needs ? '❗ needs you: ' : ''}${sessionText(core, row, standing, place, online)}`;
    });
  return fitting(lines, core.platform.capabilities.maxText);
}

function sessionText(core: Core, row: ProjectRow, standing: Standing | null, place: string, online: boolean): string {
  if (row.daemon_id === null) {
    const waiting = countWaitingMessages(core.sql, row);
    const kept = waiting === 0 ? '' : ` ${messagesText(waiting)} kept.`;
    return `${place}: no project.${kept} ${bindingText(core, row.project)}`;
  }
  const gone = row.topic_gone_at === null ? '' : ', whose topic is gone: its answers come to the main chat';
  const seen = online ? 'online' : `offline. ${seenText(core, row)}`;
  if (standing === null) return `${place}: ${seen}${gone}`;
  const { folder, machine, agent, session } = standing;
  const who =
    agent === undefined
      ? ''
      : ` ${[agent, ...ownedWords(standing), ...(session === undefined ? [] : [`session ${session}`])].join(', ')};`;
  const doing = online ? `online;${who} ${doingText(core, row, standing)}` : seen;
  return `${folder} on ${machine} (${place}${gone}): ${doing}`;
}

/** What the sessions of the project did today, and the day's share of the free plan. */
export function usageText(core: Core, number: number): string {
  const nowMs = core.clock();
  const project = openProject(core.sql, number);
  const standing = readStanding(project);
  const sessions = standing?.usage ?? [];
  const share = shareOf(readToday(core), core.platform.chatIds.length);
  const outAt = runsOutAt(share, nowMs);
  const zone = zoneOf(core.sql, project);
  const { workerRequests, objectRequests, rowsWritten, gigabyteSeconds } = share;
  return fitting(
    [
      ...(standing === null ? [] : [`Today in ${standing.folder} on ${standing.machine}:`]),
      ...sessions.map(sessionUsageText),
      ...(sessions.length === 0 ? ['No turn today.'] : []),
      `Relay: ${shareText(share.share)} of today's free plan (${share.of}; ` +
        `${workerRequests} requests to the Worker, ${objectRequests} to the mailbox, ${rowsWritten} rows written, ` +
        `${Math.round(gigabyteSeconds)} GB-s).`,
      ...(outAt === null
        ? []
        : [`At this pace it is used up at ${clockText(outAt, nowMs, zone)}: idle polls are slowed down.`]),
    ],
    core.platform.capabilities.maxText,
  );
}

function sessionUsageText({ session, agent, turns, tokens, context }: SessionUsage): string {
  return [
    `${agent}, session ${session}: ${countText(turns, 'turn')}`,
    ...(tokens === undefined ? [] : [`${amountText(tokens)} tokens`]),
    ...(context === undefined ? [] : [`context ${shareText(context)} full`]),
  ].join(', ');
}

/** As many lines as one message takes. */
function fitting(lines: readonly string[], maxText: number): string {
  const kept: string[] = [];
  let length = 0;
  for (const line of lines) {
    length += line.length + 1;
    if (length > maxText - 20) return [...kept, `and ${lines.length - kept.length} more.`].join('\n');
    kept.push(line);
  }
  return kept.join('\n');
}
