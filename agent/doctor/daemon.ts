// The daemon: whether it runs, why not, what it left behind when it died, and what its projects say.

import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { socketFileName } from '../../protocol/hook.ts';
import { relayLimits } from '../../protocol/limits.ts';
import type { ProjectStatus } from '../daemon-status.ts';
import { isDown } from '../fs/down.ts';
import { acquireLock, readLockOwner } from '../fs/lock.ts';
import { readFrom } from '../fs/tail.ts';
import { stateFiles } from '../paths.ts';
import { isOver } from '../process.ts';
import type { Check } from './check.ts';
import { ago, type Finding, fail, ok, skipped, warn } from './finding.ts';
import { said, type World } from './world.ts';

export const daemonChecks: readonly Check[] = [
  { name: 'daemon', run: daemon },
  { name: 'leftovers', run: leftovers },
  { name: 'projects', run: projects },
  { name: 'events', run: events },
];

const isOff = (check: string) => [skipped(check, 'no daemon answers')];

async function daemon(world: World): Promise<Finding[]> {
  const known = await world.daemon();
  const now = world.clock();
  if (known.ok) {
    const { version, pid, startedAt } = known.value;
    if (version !== world.version) {
      const evidence = `the daemon (pid ${pid}) is version ${version}, this command is ${world.version}`;
      return [warn('daemon', evidence, 'Run `wa-sync restart`; messages wait meanwhile.')];
    }
    return [ok('daemon', `version ${version}, pid ${pid}, started ${ago(startedAt, now)}`)];
  }
  const { error } = known;
  if (error.code !== 'daemon_not_running') return [fail('daemon', ...said(error))];
  const last = await lastWords(world);
  if (last === 'superseded') {
    const evidence = 'no daemon runs: the last one ended because another start of this daemon took over (superseded)';
    const step =
      'Run `wa-sync down` on the other machine, or remove the copied daemon.id here; then `wa-sync start --detach`.';
    return [fail('daemon', evidence, step)];
  }
  if (await isDown(world.dirs.state))
    return [
      warn('daemon', 'no daemon runs: `wa-sync down` was said, so no hook starts one', 'Run `wa-sync start --detach`.'),
    ];
  const why = last === undefined ? '' : `; the last start said: ${last}`;
  return [fail('daemon', `${error.message}${why}`, error.hint ?? 'Run `wa-sync start --detach`.')];
}

const maxLogBytes = 64 * 1024;
const maxSaidChars = 300;

/** `superseded`, or what a start said before it ended; undefined = neither. Lines of the log hold ids and codes, never texts. */
async function lastWords({ dirs }: World): Promise<string | undefined> {
  const files = stateFiles(dirs.state);
  const tail = async (path: string) =>
    (await readFrom(path, 0, undefined, maxLogBytes).catch(() => '')).trimEnd().split('\n');
  const ends = (await tail(files.log)).findLast((line) => /"event":"(superseded|daemon started)"/.test(line));
  if (ends?.includes('"superseded"')) return 'superseded';
  const problem = (await tail(files.startLog)).find((line) => line.startsWith('wa-sync: '));
  return problem?.slice(0, maxSaidChars);
}

async function leftovers({ dirs, platform }: World): Promise<Finding[]> {
  const { lock } = stateFiles(dirs.state);
  const owner = await readLockOwner(lock);
  if (owner && !isOver(owner)) return [ok('leftovers', 'the lock belongs to a process that runs')];
  const socket = join(dirs.runtime, socketFileName);
  const isThere = platform !== 'win32' && (await lstat(socket).catch(() => undefined))?.isSocket() === true;
  if (!owner && !isThere) return [ok('leftovers', 'no dead daemon has left anything')];
  const what = [...(owner ? [`its lock (pid ${owner.pid})`] : []), ...(isThere ? ['its socket'] : [])].join(' and ');
  // A lock that is held keeps a daemon from starting meanwhile; the socket of one that runs is never touched.
  const clear = async () => {
    const held = await acquireLock(lock, { timeoutMs: 0, short: false });
    try {
      if (isThere) await rm(socket, { force: true });
    } finally {
      await held.release();
    }
    return `removed ${what}`;
  };
  return [
    warn('leftovers', `a daemon that died has left ${what}`, 'Run `wa-sync start --detach`: it removes them.', clear),
  ];
}

async function projects(world: World): Promise<Finding[]> {
  const known = await world.daemon();
  if (!known.ok) return isOff('projects');
  const found = known.value.projects.flatMap(troubles);
  if (found.length > 0) return found;
  return [ok('projects', known.value.projects.map(({ dir }) => dir).join(', '))];
}

function troubles(project: ProjectStatus): Finding[] {
  const { dir, relay, error, hint, approvals } = project;
  const found: Finding[] = [];
  if (relay === 'failing')
    found.push(
      fail('projects', `${dir}: the relay does not serve the daemon (${error})`, hint ?? 'See docs/errors.md.'),
    );
  if (relay === 'stopped') found.push(fail('projects', `${dir}: the daemon no longer polls`, 'Run `wa-sync restart`.'));
  for (const trouble of [project.inboxTrouble, project.outboxTrouble]) {
    if (trouble) found.push(fail('projects', `${dir}: ${trouble}`, 'Look at the file that the line names.'));
  }
  for (const problem of approvals.problems)
    found.push(fail('projects', problem, 'Repair the file that the line names; until then every tool call is asked.'));
  return found;
}

/** A message that waits for so long waits for a terminal that nobody touches. */
const longMs = 60 * 60_000;

async function events(world: World): Promise<Finding[]> {
  const known = await world.daemon();
  if (!known.ok) return isOff('events');
  const now = world.clock();
  const relay = await world.relay();
  return known.value.projects.flatMap(({ dir, mailbox, project, relay: state, last, waiting }) => {
    const { poll, message, sent, hook } = last;
    const found: Finding[] = [];
    const hops = { relay: poll, phone: message, answer: sent, hook };
    const times = Object.entries(hops).map(([hop, at]) => `${hop} ${ago(at, now)}`);
    if (state === 'connected' && poll !== null && now - poll > 3 * relayLimits.holdQuietMs) {
      const step = 'Run `wa-sync restart`; if it comes again, look for a proxy that holds connections.';
      found.push(
        fail('events', `${dir}: the relay answered ${ago(poll, now)}, although the daemon is connected`, step),
      );
    }
    const there = relay?.ok ? relay.value.answer.mailboxes.find((each) => each.mailbox === mailbox) : undefined;
    const oldest = there?.projects.find((each) => each.project === project)?.oldestWaitingAt ?? null;
    if (waiting > 0 && oldest !== null && now - oldest > longMs) {
      const step = 'Type something in the terminal of the coding agent there, or wa:away before you leave it.';
      found.push(warn('events', `${dir}: a message has waited for the coding agent since ${ago(oldest, now)}`, step));
    }
    return found.length > 0 ? found : [ok('events', `${dir}: ${times.join(', ')}`)];
  });
}
