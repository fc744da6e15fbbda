// The record that the relay gets of a project: built in this one place, from what `wa-sync status` says.

import { hostname } from 'node:os';
import { basename } from 'node:path';
import { oneLine } from '../../protocol/lines.ts';
import { type Doing, type SessionUsage, type Standing, standingLimits } from '../../protocol/standing.ts';
import type { OwnedStatus, ProjectStatus } from '../daemon-status.ts';
import { driverOf } from '../drivers/registry.ts';
import { timeZone } from './time-zone.ts';

/** The machine, and what no status says. */
export interface Surroundings {
  machine: string;
  version: string;
  zone: string;
}

export function surroundings(version: string): Surroundings {
  return { machine: hostname(), version, zone: timeZone(process.env) };
}

/** Remembers since when the coding agent does what it does. */
export function createStanding(
  { machine, version, zone }: Surroundings,
  { clock, redact }: { clock(): number; redact(text: string): string },
) {
  let doing: Doing | undefined;
  let sinceAt = 0;
  return (status: ProjectStatus): Standing => {
    const now = status.held ? 'waiting' : status.turnRuns ? 'turn' : 'idle';
    if (now !== doing) {
      doing = now;
      sinceAt = clock();
    }
    const { session, agent, present, dialog, follow, sprint, approvals, usage } = status;
    return {
      machine: named(machine),
      folder: named(basename(status.dir) || status.dir),
      version: named(version),
      zone: named(zone),
      ...(agent === null || session === null ? {} : { agent: named(titleOf(agent)) }),
      ...(session === null ? {} : { session: shortId(session) }),
      ...(status.owned ? { owned: named(choicesOf(status.owned)) } : {}),
      doing,
      sinceAt,
      ...(dialog ? { dialog: oneLine(redact(dialog), standingLimits.dialog - 1) } : {}),
      asked: approvals.asked,
      waiting: status.waiting,
      away: status.away,
      ...(typeof present === 'boolean' ? { present } : {}),
      approvals: named(approvals.mode),
      ...(follow ? { follow: named(follow) } : {}),
      ...(sprint === null ? {} : { sprint }),
      usage: usage.slice(0, standingLimits.sessions).map(shown),
    };
  };
}

function choicesOf({ mode, model }: OwnedStatus): string {
  return [mode === null ? [] : `mode ${mode}`, model === null ? [] : `model ${model}`].flat().join(', ');
}

function shown({ session, agent, ...counts }: SessionUsage): SessionUsage {
  return { session: shortId(session), agent: named(titleOf(agent)), ...counts };
}

function titleOf(agent: string): string {
  return driverOf(agent)?.title ?? agent;
}

/** One character for the mark of a cut. */
function named(text: string): string {
  return oneLine(text, standingLimits.name - 1);
}

/** As people tell sessions apart. */
const sessionChars = 8;

function shortId(session: string): string {
  return oneLine(session.slice(0, sessionChars), sessionChars);
}
