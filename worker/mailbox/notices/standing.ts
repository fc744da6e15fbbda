// /status, /sessions and /usage in words: where each project stands, by what its daemon told last. Reads only.

import { runsOutAt, shareOf } from '../../../protocol/free-plan.ts';
import { receiptStates } from '../../../protocol/receipts.ts';
import { needsOwner, type SessionUsage, type Standing } from '../../../protocol/standing.ts';
import type { Core } from '../core.ts';
import { textsOf } from '../language.ts';
import { readPause } from '../outbound/platform-state.ts';
import { presentAt } from '../poll/ownership.ts';
import { readStatus } from '../report.ts';
import { countWaitingMessages } from '../tables/log.ts';
import { openProject, readProjects, readStanding, readToday, zoneOf } from '../tables/projects.ts';
import type { ProjectRow } from '../tables/rows.ts';
import { isUnbound, topicName } from '../topics.ts';
import { bindingText } from './unbound.ts';
import { clockText } from './words.ts';

export function statusText(core: Core, number: number): string {
  const nowMs = core.clock();
  const project = openProject(core.sql, number);
  const zone = zoneOf(core.sql, project);
  const pause = readPause(core);
  const status = readStatus(core);
  const own = status.projects.find((row) => row.project === number);
  const { status: said, words } = textsOf(core);
  const ladder = receiptStates.flatMap((state) => {
    const count = own?.ladder[state];
    return count === undefined ? [] : [`${count} ${said.states[state]}`];
  });
  const oldest = own?.oldestWaitingAt ?? null;
  const { queued, sending, dead } = status.outbox;
  const deadCount = own?.deadLetters ?? 0;
  const standing = readStanding(project);
  return [
    ...(standing === null ? [] : standingLines(core, project, standing)),
    seenText(core, project),
    ...(isUnbound(core, project) ? [bindingText(core, number)] : []),
    said.messages(ladder.join(', ')),
    ...(oldest === null ? [] : [said.oldest(words.duration(nowMs - oldest))]),
    ...(standing === null || standing.waiting === 0 ? [] : [said.onWorkstation(standing.waiting)]),
    said.answers(queued + sending, dead),
    ...(deadCount === 0 ? [] : [said.letters(deadCount)]),
    ...(pause === null ? [] : [said.pause(clockText(pause.untilAt, nowMs, zone), pause.code)]),
  ].join('\n');
}

function standingLines(core: Core, project: ProjectRow, standing: Standing): string[] {
  const { folder, machine, agent, session, away, present, follow, approvals, sprint } = standing;
  const { relay, status } = textsOf(core);
  const named = [
    relay.place(folder, machine),
    ...(agent === undefined ? [] : [agent]),
    ...ownedWords(core, standing),
  ].join(', ');
  const modes = [
    away ? status.away.on : status.away.off,
    ...(present === undefined ? [] : [present ? status.present : status.absent]),
    ...(follow === undefined ? [] : [status.follow(follow)]),
    status.approvals(approvals),
    ...(sprint === undefined ? [] : [status.sprint(sprint.done, sprint.tasks)]),
  ];
  const doing = doingText(core, project, standing);
  return [
    `${named}, ${session === undefined ? status.noSession : status.session(session)}`,
    // The daemon is silent now: this is what it told last.
    isOnline(core, project) ? status.now(doing) : status.whenSeen(doing),
    status.modes(modes.join(', ')),
  ];
}

/** Of a session that the daemon runs itself. */
function ownedWords(core: Core, { owned }: Standing): string[] {
  return owned === undefined ? [] : [textsOf(core).status.owned(owned)];
}

/** What goes on, what somebody has to answer first. */
function doingText(core: Core, project: ProjectRow, { doing, sinceAt, dialog, asked, agent }: Standing): string {
  const since = clockText(sinceAt, core.clock(), zoneOf(core.sql, project));
  const { status } = textsOf(core);
  return [
    ...(dialog === undefined ? [] : [status.dialog(dialog)]),
    ...(asked === 0 ? [] : [status.asked(asked)]),
    agent === undefined ? status.firstTurn : status[doing](since),
  ].join('; ');
}

/** A workstation whose poll has just been answered is on its way back with the next one. */
const betweenPollsMs = 3_000;

function isOnline(core: Core, project: ProjectRow): boolean {
  const lastAt = presentAt(core, project);
  return lastAt !== null && core.clock() - lastAt < betweenPollsMs;
}

function seenText(core: Core, project: ProjectRow): string {
  const { status, words } = textsOf(core);
  if (isOnline(core, project)) return status.connected;
  const seenAt = project.last_seen_at;
  if (seenAt === null) return status.neverSeen;
  const nowMs = core.clock();
  const at = clockText(seenAt, nowMs, zoneOf(core.sql, project));
  return status.lastSeen(at, words.duration(nowMs - seenAt));
}

/** All projects of the chat: who needs the owner first, then who is online, then by name. */
export function sessionsText(core: Core, here: number): string {
  const { relay, status } = textsOf(core);
  const rows = readProjects(core.sql).filter((row) => row.daemon_id !== null || isUnbound(core, row));
  if (rows.length === 0) return relay.neverConnected;
  const lines = rows
    .map((row) => ({ row, standing: readStanding(row), online: isOnline(core, row) }))
    .map((each) => ({ ...each, needs: each.online && each.standing !== null && needsOwner(each.standing) }))
    .sort((a, b) => Number(b.needs) - Number(a.needs) || Number(b.online) - Number(a.online))
    .map(({ row, standing, online, needs }) => {
      const place = row.project === here ? status.here : topicName(core, row);
      return `${needs ? status.needsYou : ''}${sessionText(core, row, standing, place, online)}`;
    });
  return fitting(core, lines);
}

function sessionText(core: Core, row: ProjectRow, standing: Standing | null, place: string, online: boolean): string {
  const { relay, status } = textsOf(core);
  if (row.daemon_id === null) {
    const waiting = countWaitingMessages(core.sql, row);
    const kept = waiting === 0 ? [] : [status.kept(waiting)];
    return [status.noProject(place), ...kept, bindingText(core, row.project)].join(' ');
  }
  const gone = row.topic_gone_at === null ? '' : `, ${status.topicGone}`;
  const seen = online ? status.online : status.offline(seenText(core, row));
  if (standing === null) return `${place}: ${seen}${gone}`;
  const { folder, machine, agent, session } = standing;
  const inSession = session === undefined ? [] : [status.session(session)];
  const who = agent === undefined ? '' : ` ${[agent, ...ownedWords(core, standing), ...inSession].join(', ')};`;
  const doing = online ? `${status.online};${who} ${doingText(core, row, standing)}` : seen;
  return `${relay.place(folder, machine)} (${place}${gone}): ${doing}`;
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
  const { relay, status, words } = textsOf(core);
  const { workerRequests: worker, objectRequests: mailbox, rowsWritten: rows, gigabyteSeconds } = share;
  const used = { worker, mailbox, rows, time: Math.round(gigabyteSeconds) };
  return fitting(core, [
    ...(standing === null ? [] : [status.today(relay.place(standing.folder, standing.machine))]),
    ...sessions.map((each) => sessionUsageText(core, each)),
    ...(sessions.length === 0 ? [status.noTurn] : []),
    status.relay(words.share(share.share), status.limits[share.limit], used),
    ...(outAt === null ? [] : [status.runsOut(clockText(outAt, nowMs, zone))]),
  ]);
}

function sessionUsageText(core: Core, { session, agent, turns, tokens, context }: SessionUsage): string {
  const { status, words } = textsOf(core);
  return [
    `${agent}, ${status.session(session)}: ${words.turns(turns)}`,
    ...(tokens === undefined ? [] : [status.tokens(words.amount(tokens))]),
    ...(context === undefined ? [] : [status.context(words.share(context))]),
  ].join(', ');
}

/** As many lines as one message takes. */
function fitting(core: Core, lines: readonly string[]): string {
  const { maxText } = core.platform.capabilities;
  const kept: string[] = [];
  let length = 0;
  for (const line of lines) {
    length += line.length + 1;
    if (length > maxText - 20) return [...kept, textsOf(core).status.more(lines.length - kept.length)].join('\n');
    kept.push(line);
  }
  return kept.join('\n');
}
