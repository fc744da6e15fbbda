// `wa-sync status` and `wa-sync down`: ask the running daemon.

import { errorBody, WaError } from '../../protocol/errors.ts';
import { isoSeconds } from '../../protocol/files.ts';
import type { LeasedMessage } from '../../protocol/polling.ts';
import { receiptStates } from '../../protocol/receipts.ts';
import type { StatusAnswer } from '../../protocol/relay-api.ts';
import type { Config } from '../config.ts';
import { isDown, noteDown } from '../fs/down.ts';
import { askDaemon } from '../local-client.ts';
import { createRelayClient } from '../relay/client.ts';
import { readSetup, type SetupState } from '../setup/state.ts';
import { visibleJson } from '../visible.ts';
import type { CommandContext } from './context.ts';
import { installedTroubles } from './hooks.ts';
import { versionNote } from './version-note.ts';

interface ProjectLine {
  dir: string;
  files: string;
  filesNote: string | null;
  mailbox: string;
  project: number;
  relay: string;
  error?: string;
  hint?: string;
  waiting: number;
  leased: LeasedMessage[];
  unsent: number;
  session: string | null;
  turnRuns: boolean;
  held: boolean;
  sprint: string | null;
  away: boolean;
  inboxTrouble: string | null;
  outboxTrouble: string | null;
  approvals: { mode: string; asked: number; problems: string[] };
}

interface DaemonStatus {
  version: string;
  pid: number;
  startedAt: number;
  projects: ProjectLine[];
}

/** Errors: `daemon_not_running`, `daemon_busy`. */
export async function statusCommand(options: { json: boolean }, context: CommandContext): Promise<void> {
  const config = context.loadConfig();
  const daemon = (await askDaemon(config.dirs, 'GET', '/status').catch(async (cause) => {
    const error = await explained(cause, config.dirs);
    // A program that reads stdout learns why there is no daemon; the exit code is that of the error.
    if (options.json && error instanceof WaError) context.out(visibleJson({ daemon: null, ...errorBody(error) }));
    throw error;
  })) as DaemonStatus;
  const relay = await askRelay(config.relay);
  if (options.json) {
    context.out(visibleJson({ daemon, relay: relay instanceof WaError ? { error: relay.code } : (relay ?? null) }));
    return;
  }
  context.out(`wa-sync ${daemon.version}, pid ${daemon.pid}, since ${isoSeconds(daemon.startedAt)}`);
  if (relay && !(relay instanceof WaError) && relay.version !== daemon.version)
    context.out(versionNote(daemon.version, relay.version));
  for (const trouble of await installedTroubles(context)) context.out(`hooks ${trouble}`);
  for (const line of await accountLines(config.dirs.config)) context.out(line);
  for (const project of daemon.projects) {
    context.out(`${project.dir} (chat ${project.mailbox}, project ${project.project})`);
    context.out(`  relay      ${project.relay}${project.error ? `: ${project.error}` : ''}`);
    if (project.hint) context.out(`             ${project.hint}`);
    context.out(`  waiting    ${project.waiting} for the coding agent, ${project.unsent} for the phone`);
    for (const [who, count] of countedBy(project.leased.map((each) => holder(each, Date.now()))))
      context.out(`  held       ${count} by ${who}`);
    context.out(`  files      ${project.files}`);
    if (project.filesNote) context.out(`             ${project.filesNote}`);
    const doing = project.turnRuns ? ', a turn runs' : project.held ? ', it waits for the phone' : '';
    const session = project.session ?? 'none yet, the next turn of the coding agent is the first';
    context.out(`  session    ${session}${doing}${project.away ? '; away' : ''}`);
    if (project.sprint) context.out(`  sprint     ${project.sprint}`);
    const { mode, asked, problems } = project.approvals;
    context.out(`  approvals  ${mode}${asked > 0 ? `, ${asked} waiting on the phone` : ''}`);
    for (const trouble of [project.inboxTrouble, project.outboxTrouble, ...problems])
      if (trouble) context.out(`  trouble    ${trouble}`);
    context.out(`  messages   ${ladder(relay, project)}`);
  }
}

/** While the relay runs in a temporary account: when it ends, and how to keep it. */
async function accountLines(configDir: string): Promise<string[]> {
  const { relay } = await readSetup(configDir).catch((): SetupState => ({}));
  if (relay?.kind !== 'temporary') return [];
  const minutes = Math.ceil((relay.expiresAt - Date.now()) / 60_000);
  if (minutes <= 0)
    return [
      'account  the temporary account has ended: `wa-sync setup --claimed` if you claimed it, else `wa-sync setup relay`',
    ];
  return [
    `account  temporary, ends in ${minutes} min with the relay; keep it: ${relay.claimUrl}`,
    '         then: wa-sync setup --claimed',
  ];
}

/** Adds to `daemon_not_running` that `wa-sync down` explains it. */
async function explained(cause: unknown, { state }: Config['dirs']): Promise<unknown> {
  if (!(cause instanceof WaError) || cause.code !== 'daemon_not_running' || !(await isDown(state))) return cause;
  const message = `${cause.message}; \`wa-sync down\` was said, so no hook starts it`;
  return new WaError(cause.code, message, { ...(cause.hint === undefined ? {} : { hint: cause.hint }), cause });
}

/** The agent that holds the message, and the time until the message is unread again. */
export function holder({ client, pid, untilAt }: LeasedMessage, now: number): string {
  const minutes = Math.max(0, Math.floor((untilAt - now) / 60_000));
  const left = minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${client} (pid ${pid}), back unread in ${left}`;
}

function countedBy(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

async function askRelay(
  relay: { url: string; token: string } | undefined,
): Promise<StatusAnswer | WaError | undefined> {
  if (!relay) return undefined;
  const client = createRelayClient(relay);
  try {
    return await client.status();
  } catch (cause) {
    return cause instanceof WaError ? cause : new WaError('internal', String(cause), { cause });
  } finally {
    await client.close();
  }
}

function ladder(relay: StatusAnswer | WaError | undefined, { mailbox, project }: ProjectLine): string {
  if (!relay)
    return 'unknown, this shell does not know the relay: set WA_RELAY_URL and WA_AGENT_TOKEN, or "relay" in config.json';
  if (relay instanceof WaError) return `unknown, the relay did not say (${relay.code})`;
  const found = relay.mailboxes
    .find((each) => each.mailbox === mailbox)
    ?.projects.find((each) => each.project === project);
  const states = receiptStates.flatMap((state) => {
    const count = found?.ladder[state];
    return count === undefined ? [] : [`${count} ${state}`];
  });
  const deadLetters = found?.letters ? `; ${found.letters} in \`wa-sync letters\`` : '';
  return states.length > 0 ? `${states.join(', ')}${deadLetters}` : 'none in the last 24 hours';
}

/** Errors: `daemon_not_running`, `daemon_busy`. */
export async function downCommand(context: CommandContext): Promise<void> {
  const { dirs } = context.loadConfig();
  // Before the daemon answers: one may be about to start, and from now on hooks start none.
  await noteDown(dirs.state);
  await askDaemon(dirs, 'POST', '/down');
  context.out('the daemon is stopping; hooks go on with the files alone, and start none until `wa-sync start`');
}
