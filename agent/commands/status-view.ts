// The lines of `wa-sync status`: one screen of 80 columns for daemon, relay and each project. Pure.

import { WaError } from '../../protocol/errors.ts';
import { nearShare } from '../../protocol/free-plan.ts';
import type { LeasedMessage } from '../../protocol/polling.ts';
import { receiptStates } from '../../protocol/receipts.ts';
import type { StatusAnswer } from '../../protocol/relay-api.ts';
import { span } from '../../protocol/span.ts';
import type { DaemonStatus, OwnedStatus, ProjectStatus } from '../daemon-status.ts';
import type { SessionUsage } from '../drivers/session-file.ts';
import type { Line } from '../screen.ts';

export interface StatusView {
  now: number;
  /** Of the command that asks. */
  version: string;
  daemon: DaemonStatus | WaError;
  /** Undefined = this shell knows no relay, or the daemon has not started that of this machine. */
  relay: { url: string; answer: StatusAnswer | WaError } | undefined;
  /** The daemon runs the relay itself. */
  isLocal: boolean;
  /** Of installed hooks. */
  troubles: readonly string[];
  /** Of the session in each folder, where its file can be read. */
  usage: ReadonlyMap<string, SessionUsage>;
  claim: Claim | undefined;
}

/** A temporary account of the relay, as setup noted it. */
export interface Claim {
  url: string;
  expiresAt: number;
}

const labelWidth = 12;

/** `columns` = the width of the terminal. */
export function statusLines(view: StatusView, columns: number): Line[] {
  const { daemon } = view;
  const parts = [head(view), relayPart(view), claimPart(view), view.troubles.map((each) => bad('hooks', each))];
  const projects = daemon instanceof WaError ? [] : daemon.projects.flatMap((project) => projectPart(project, view));
  return [...parts.flat(), ...projects].flatMap((row) => wrapped(row, Math.max(40, columns)));
}

interface Row {
  label: string;
  text: string;
  tone?: Line['tone'];
}

const row = (label: string, text: string): Row => ({ label, text });
const bad = (label: string, text: string): Row => ({ label, text, tone: 'bad' });
const odd = (label: string, text: string): Row => ({ label, text, tone: 'odd' });

function head({ daemon, version, now }: StatusView): Row[] {
  if (daemon instanceof WaError) {
    return [bad('wa-sync', `${version}; ${daemon.message}`), ...(daemon.hint ? [row('', daemon.hint)] : [])];
  }
  const rows = [row('wa-sync', `${daemon.version}, pid ${daemon.pid}, up ${span(now - daemon.startedAt)}`)];
  if (daemon.version !== version)
    rows.push(odd('', `this command is ${version}: \`wa-sync restart\` brings the daemon to it`));
  return rows;
}

function relayPart(view: StatusView): Row[] {
  const { relay, version, daemon } = view;
  if (view.isLocal) return localRelayPart(view);
  if (!relay)
    return [
      odd(
        'relay',
        'this shell does not know the relay: set WA_RELAY_URL and WA_AGENT_TOKEN, or "relay" in config.json',
      ),
    ];
  const { url, answer } = relay;
  if (answer instanceof WaError)
    return [bad('relay', `${url}: ${answer.message} (${answer.code})`), ...(answer.hint ? [row('', answer.hint)] : [])];
  const rows = [row('relay', `${url}, ${answer.version}`)];
  const running = daemon instanceof WaError ? version : daemon.version;
  if (answer.version !== running)
    rows.push(odd('', `daemon and relay differ (${running} and ${answer.version}): wa-sync relay upgrade`));
  const { share, of } = answer.today;
  if (share >= nearShare) rows.push(odd('', `${Math.round(share * 100)} % of the free plan used today (${of})`));
  return [...rows, ...pausedChats(answer)];
}

/** It lives and ends with the daemon, has its version and no plan. */
function localRelayPart({ relay, daemon }: StatusView): Row[] {
  const where = 'on this machine, run by the daemon';
  if (daemon instanceof WaError) return [row('relay', where)];
  if (!relay || relay.answer instanceof WaError) {
    const why = relay?.answer instanceof WaError ? `: ${relay.answer.message} (${relay.answer.code})` : '';
    return [bad('relay', `${where}, does not answer${why}`), row('', 'Start both anew with `wa-sync restart`.')];
  }
  return [row('relay', where), ...pausedChats(relay.answer)];
}

function pausedChats({ mailboxes }: StatusAnswer): Row[] {
  return mailboxes.flatMap(({ mailbox, paused }) =>
    paused ? [bad('', `nothing is sent to chat ${mailbox}: ${paused.code}`)] : [],
  );
}

function claimPart({ claim, now }: StatusView): Row[] {
  if (!claim) return [];
  if (claim.expiresAt <= now)
    return [
      odd('account', 'the temporary account has ended. Claimed: `wa-sync setup --claimed`; else `wa-sync setup relay`'),
    ];
  return [
    odd('account', `temporary, ends in ${span(claim.expiresAt - now)}; keep it: ${claim.url}`),
    row('', 'then: `wa-sync setup --claimed`'),
  ];
}

function projectPart(project: ProjectStatus, view: StatusView): Row[] {
  const { dir, mailbox, project: topic, relay, error, hint, approvals, last } = project;
  const { now } = view;
  const isFailing = relay === 'failing' || relay === 'stopped';
  const connection = `${relay}${error ? `: ${error}` : ''}`;
  const troubles = [project.inboxTrouble, project.outboxTrouble, ...approvals.problems].filter((each) => each !== null);
  return [
    row('', ''),
    { label: '', text: `${dir} (chat ${mailbox}, project ${topic})`, tone: 'title' },
    isFailing ? bad('  relay', connection) : row('  relay', connection),
    ...(hint ? [row('', hint)] : []),
    row('  session', sessionText(project, view.usage.get(dir))),
    row('  modes', modesText(project)),
    row('  waiting', `${project.waiting} for the coding agent, ${project.unsent} for the phone`),
    ...[...countedBy(project.leased.map((each) => holder(each, now)))].map(([who, count]) =>
      row('  held', `${count} by ${who}`),
    ),
    row('  receipts', ladder(view, project)),
    row(
      '  last',
      Object.entries({ message: last.message, answer: last.sent, poll: last.poll, hook: last.hook })
        .map(([what, at]) => `${what} ${at === null ? '-' : `${span(now - at)} ago`}`)
        .join(', '),
    ),
    ...(project.filesNote ? [row('  files', project.files), row('', project.filesNote)] : []),
    ...troubles.map((each) => bad('  trouble', each)),
  ];
}

function sessionText(
  { session, turnRuns, held, owned, present, withheld = 0, dialog }: ProjectStatus,
  usage?: SessionUsage,
): string {
  if (session === null) return 'none yet, the next turn of the coding agent is the first';
  const doing = turnRuns ? 'a turn runs' : held ? 'it waits for the phone' : 'idle';
  const share = usage?.contextShare;
  return [
    session,
    ...(owned ? [ownedText(owned)] : []),
    doing,
    ...(dialog ? [`a dialog at the desk asks: ${dialog}`] : []),
    ...(present === false ? ['nobody at the terminal'] : []),
    ...(withheld > 0 ? [`${withheld} turns not told yet`] : []),
    ...(usage?.model === undefined ? [] : [usage.model]),
    ...(usage && usage.tokens > 0 ? [`${usage.tokens.toLocaleString('en-US')} tokens`] : []),
    ...(share === undefined ? [] : [`context ${Math.round(share * 100)} %`]),
  ].join(', ');
}

function ownedText({ agent, state, mode, model }: OwnedStatus): string {
  const of = [mode === null ? [] : `mode ${mode}`, model === null ? [] : `model ${model}`].flat();
  return `run by wa-sync (${[agent, ...of, ...(state === 'starting' ? ['starting'] : [])].join(', ')})`;
}

function modesText({ away, sprint, follow, approvals }: ProjectStatus): string {
  const { mode, asked, policies } = approvals;
  return [
    away ? 'away' : 'not away',
    `approvals ${mode}${asked > 0 ? ` (${asked} asked on the phone)` : ''}`,
    ...(policies.length > 0 ? [`policy of ${policies.map(policyTitle).join(' and ')} active`] : []),
    ...(sprint ? [`sprint: ${sprint.done} of ${sprint.tasks} tasks done`] : []),
    ...(follow === undefined ? [] : [`follow ${follow}`]),
  ].join(', ');
}

const policyTitle = (whose: string) => (whose === 'user' ? 'yours' : 'the project');

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

function ladder({ relay }: StatusView, { mailbox, project }: ProjectStatus): string {
  if (!relay) return 'unknown without the relay';
  if (relay.answer instanceof WaError) return `unknown, the relay did not say (${relay.answer.code})`;
  const found = relay.answer.mailboxes
    .find((each) => each.mailbox === mailbox)
    ?.projects.find((each) => each.project === project);
  const states = receiptStates.flatMap((state) => {
    const count = found?.ladder[state];
    return count === undefined ? [] : [`${count} ${state}`];
  });
  const deadLetters = found?.deadLetters ? `; ${found.deadLetters} in \`wa-sync letters\`` : '';
  return states.length > 0 ? `${states.join(', ')}${deadLetters}` : `none in the last 24 hours${deadLetters}`;
}

/** Breaks between words; a longer word, such as a link to copy, stays whole. */
function wrapped({ label, text, tone }: Row, columns: number): Line[] {
  const isTitle = tone === 'title';
  const indent = isTitle || (label === '' && text === '') ? '' : ' '.repeat(labelWidth);
  const lines: string[] = [];
  let line = isTitle || indent === '' ? '' : label.padEnd(labelWidth);
  let isEmpty = true;
  for (const word of text.split(' ')) {
    const next = isEmpty ? line + word : `${line} ${word}`;
    if (!isEmpty && next.length > columns) {
      lines.push(line);
      line = indent + word;
    } else line = next;
    isEmpty = false;
  }
  return [...lines, line].map((each) => ({ text: each.trimEnd(), ...(tone ? { tone } : {}) }));
}
