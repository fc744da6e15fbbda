// The sessions of all coding agents, newest first. What was read of a file is kept in the state directory until the file changes.

import { basename } from 'node:path';
import { agentsWithSessions, sessionFilesOf } from '../drivers/session-files.ts';
import type { FoundSession } from '../drivers/sessions.ts';
import { isInside, pathBelow } from '../fs/below.ts';
import { stateFiles } from '../paths.ts';
import { openSummaries, type Summaries } from './kept.ts';

export interface Session {
  agent: string;
  id: string;
  /** As few digits of the id as no other session of the list begins with, at least 8. */
  short: string;
  path: string;
  /** Where the agent ran; undefined = the file does not say. */
  dir: string | undefined;
  /** One line each, longer than a list shows. */
  title: string;
  snippet: string;
  /** Whether the whole file was read: else count, model, tokens, cost and errors are not known. */
  isWhole: boolean;
  /** Prompts and answers. */
  count: number;
  /** Epoch milliseconds. */
  startedAt: number;
  updatedAt: number;
  modifiedAt: number;
  sizeBytes: number;
  model: string | undefined;
  tokens: number;
  costUsd: number | undefined;
  errors: number;
}

export interface SessionsPlace {
  home: string;
  env: Readonly<Record<string, string | undefined>>;
  /** State directory. */
  state: string;
}

export interface ListOptions {
  /** A project: its sessions and those of the folders below it; undefined = of all. */
  within: string | undefined;
  /** Undefined = of all agents. */
  agent?: string | undefined;
  /** At most this many, the newest. */
  max?: number;
  /** `ends` reads the first and the last lines of large files only, to choose one of them. Absent = `whole`. */
  how?: 'whole' | 'ends';
}

const defaultMax = 200;
const shortIdDigits = 8;

/** Sessions without a prompt are left out. Never rejects for a file that cannot be read. */
export async function listSessions(place: SessionsPlace, wanted: ListOptions): Promise<Session[]> {
  // The agents name real folders.
  const within = wanted.within === undefined ? undefined : await pathBelow(wanted.within);
  const options = { ...wanted, within };
  const agents = agentsWithSessions().filter((agent) => options.agent === undefined || agent === options.agent);
  const summaries = await openSummaries(stateFiles(place.state).sessions);
  const found = (await Promise.all(agents.map((agent) => foundOf(agent, place, options)))).flat();
  const sessions = new Map<string, Session>();
  for (const each of found.sort((a, b) => b.modifiedAtMs - a.modifiedAtMs)) {
    if (sessions.size >= (options.max ?? defaultMax)) break;
    const session = await sessionOf(each, options, summaries);
    // Of several files of one session the newest with a prompt counts.
    const key = session && `${session.agent} ${session.id}`;
    if (key !== undefined && !sessions.has(key)) sessions.set(key, session as Session);
  }
  await summaries.keep();
  return named([...sessions.values()].sort((a, b) => b.updatedAt - a.updatedAt));
}

type Found = FoundSession & { agent: string };

async function foundOf(agent: string, { home, env }: SessionsPlace, { within }: ListOptions): Promise<Found[]> {
  const found = await sessionFilesOf(agent)
    ?.find({ home, env, within })
    .catch(() => []);
  return (found ?? []).map((each) => ({ ...each, agent }));
}

async function sessionOf(
  found: Found,
  { within, how = 'whole' }: ListOptions,
  summaries: Summaries,
): Promise<Session | undefined> {
  const { agent, path, sizeBytes, modifiedAtMs } = found;
  const dir = found.dir ?? (await summaries.dirOf(found).catch(() => undefined));
  if (within !== undefined && (dir === undefined || !isInside(dir, within))) return undefined;
  const read = await summaries.of(found, how).catch(() => undefined);
  if (read === undefined) return undefined;
  const { summary, isWhole } = read;
  if (summary.id === undefined || summary.subAgent || summary.count === 0) return undefined;
  const { id, named, prompt, snippet, count, model, tokens, costUsd, errors } = summary;
  return {
    agent,
    id,
    short: '',
    path,
    dir,
    title: named ?? prompt ?? basename(path),
    snippet: snippet ?? '',
    isWhole,
    count,
    startedAt: summary.startedAt ?? modifiedAtMs,
    updatedAt: summary.updatedAt ?? modifiedAtMs,
    modifiedAt: modifiedAtMs,
    sizeBytes,
    model,
    tokens,
    costUsd,
    errors,
  };
}

/** The id without its dashes, as it is typed and tapped. */
export const bareId = (id: string) => id.replaceAll('-', '');

function named(sessions: readonly Session[]): Session[] {
  const ids = sessions.map(({ id }) => bareId(id));
  return sessions.map((session, at) => {
    const own = ids[at] ?? '';
    let digits = shortIdDigits;
    while (digits < own.length && ids.some((id, i) => i !== at && id.startsWith(own.slice(0, digits)))) digits++;
    return { ...session, short: own.slice(0, digits) };
  });
}
