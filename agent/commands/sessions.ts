// `wa-sync sessions list|show|search`: what the coding agents have kept of their sessions.

import { WaError } from '../../protocol/errors.ts';
import { isoSeconds } from '../../protocol/files.ts';
import { oneLine } from '../../protocol/lines.ts';
import { projectRoot } from '../daemon/bindings.ts';
import { agentsWithSessions, sessionFilesOf } from '../drivers/session-files.ts';
import type { SessionEvent } from '../drivers/sessions.ts';
import { findSession } from '../sessions/find.ts';
import { type ListOptions, listSessions, type Session, type SessionsPlace } from '../sessions/list.ts';
import { readingOf, startOf } from '../sessions/read.ts';
import { searchSession } from '../sessions/search.ts';
import { visibleJson, visibleLine } from '../visible.ts';
import type { CommandContext } from './context.ts';

export interface SessionFlags {
  agent?: string;
  all?: boolean;
  json?: boolean;
}

/** Errors: `bad_arguments` for an unknown agent. */
export async function sessionListCommand(flags: SessionFlags, context: CommandContext): Promise<void> {
  const { place, options } = await chosen(flags, context);
  const sessions = await context.progress.during('reading the sessions', () => listSessions(place, options));
  const unread = Object.keys(context.loadConfig().agentCommands).filter((name) => !sessionFilesOf(name));
  if (unread.length > 0 && flags.agent === undefined) context.note(unlisted(unread));
  if (flags.json) {
    for (const session of sessions) context.out(visibleJson(session));
    return;
  }
  for (const [at, session] of sessions.entries()) for (const line of rows(session, at + 1)) context.out(line);
  if (sessions.length === 0) context.out(flags.all ? 'no sessions' : nothingHere);
}

/** Agents that only config.json names. */
const unlisted = (agents: readonly string[]) =>
  `wa-sync cannot read the session files of ${agents.join(', ')}: those sessions are not listed; \`wa-sync run --agent NAME --session ID\` opens one`;

const nothingHere = 'no sessions of this project; `wa-sync sessions list --all` lists those of all projects';

/** Errors: `not_found`, `bad_arguments`, `file_unusable`. */
export async function sessionShowCommand(
  selector: string,
  flags: SessionFlags,
  context: CommandContext,
): Promise<void> {
  const { place, options } = await chosen(flags, context);
  const session = await findSession(selector, place, options);
  if (!flags.json) for (const line of rows(session, undefined)) context.out(line);
  const show = flags.json
    ? (event: SessionEvent) => context.out(visibleJson(event))
    : (event: SessionEvent) => {
        const lines = shown(event);
        if (lines.length > 0) context.out(lines.join('\n'));
      };
  const reading = readingOf(session, await startOf(session));
  do {
    await reading.next((event) => {
      show(event);
      return process.stdout.writableLength < maxUnwrittenBytes;
    });
  } while (!reading.isAtEnd && (await isRead()));
}

/** A pipe may be read more slowly than a file. */
const maxUnwrittenBytes = 128 * 1024;

const wakes = ['drain', 'close', 'error'] as const;

/** Waits until stdout takes more; false = nobody reads it any more. */
async function isRead(): Promise<boolean> {
  const { stdout } = process;
  while (!stdout.destroyed && stdout.writableLength >= maxUnwrittenBytes) {
    await new Promise<void>((resolve) => {
      const go = () => {
        for (const event of wakes) stdout.off(event, go);
        resolve();
      };
      for (const event of wakes) stdout.on(event, go);
    });
  }
  return !stdout.destroyed;
}

const maxExcerpts = 3;

/** Errors: `not_found` when no message has them all, `bad_arguments`. */
export async function sessionSearchCommand(
  words: readonly string[],
  flags: SessionFlags,
  context: CommandContext,
): Promise<void> {
  const { place, options } = await chosen(flags, context);
  let found = 0;
  for (const [at, session] of (await listSessions(place, { ...options, how: 'ends' })).entries()) {
    const excerpts = await searchSession(session, words, maxExcerpts).catch(() => []);
    if (excerpts.length === 0) continue;
    found++;
    if (flags.json) context.out(visibleJson({ ...session, excerpts }));
    else {
      context.out(heading(session, at + 1));
      for (const { by, text } of excerpts) context.out(`    ${by}: ${visibleLine(text)}`);
    }
  }
  if (found > 0) return;
  throw new WaError('not_found', `no message of a session has "${words.join(' ')}"`, {
    hint: flags.all ? 'Try fewer words.' : 'Try fewer words, or all projects with --all.',
  });
}

/** Where to look: the project around the working directory, or everything. Errors: `bad_arguments`. */
export async function chosen(
  { agent, all }: SessionFlags,
  { env, home, cwd, loadConfig }: CommandContext,
): Promise<{ place: SessionsPlace; options: ListOptions }> {
  if (agent !== undefined && !sessionFilesOf(agent)) {
    throw new WaError('bad_arguments', `the sessions of "${agent}" cannot be read`, {
      hint: `Name one of ${agentsWithSessions().join(', ')}.`,
    });
  }
  const within = all ? undefined : await projectRoot(cwd);
  return { place: { env, home, state: loadConfig().dirs.state }, options: { within, agent } };
}

const titleChars = 80;
const snippetChars = 160;

function rows(session: Session, number: number | undefined): string[] {
  const { title, snippet } = session;
  return [
    heading(session, number),
    `    ${visibleLine(oneLine(title, titleChars))}`,
    ...(snippet === title || snippet === '' ? [] : [`    ${visibleLine(oneLine(snippet, snippetChars))}`]),
  ];
}

function heading(session: Session, number: number | undefined): string {
  const { short, agent, dir, startedAt, updatedAt, count, isWhole, sizeBytes } = session;
  return [
    ...(number === undefined ? [] : [String(number).padStart(2)]),
    short,
    agent,
    visibleLine(dir ?? 'unknown folder'),
    `${isoSeconds(startedAt)} to ${isoSeconds(updatedAt)}`,
    ...(isWhole ? [`${count} message${count === 1 ? '' : 's'}`, ...spent(session)] : [`${sizeBytes} bytes`]),
  ].join('  ');
}

function spent({ errors, model, tokens, costUsd }: Session): string[] {
  return [
    ...(model === undefined ? [] : [visibleLine(oneLine(model, 40))]),
    ...(tokens === 0 ? [] : [`${tokens} tokens`]),
    ...(costUsd === undefined ? [] : [`$${costUsd.toFixed(2)}`]),
    ...(errors === 0 ? [] : [`${errors} error${errors === 1 ? '' : 's'}`]),
  ];
}

const maxOutputChars = 2_000;

/** Indented, so that no text can imitate a heading. */
function shown(event: SessionEvent): string[] {
  switch (event.type) {
    case 'prompt':
      return [titled('prompt', event.at), ...indented(event.text)];
    case 'answer':
      return [titled('answer', event.at), ...indented(event.text)];
    case 'thought':
      return [titled('thought', event.at), ...indented(event.text)];
    case 'error':
      return [titled('error', event.at), ...indented(event.text)];
    case 'tool':
      return [titled(`tool ${visibleLine(event.tool)}`, event.at), ...indented(JSON.stringify(event.input))];
    case 'result':
      return [titled(event.ok ? 'result' : 'failed', event.at), ...indented(event.text)];
    case 'rewound':
      return [titled('went back to an earlier prompt', event.at)];
    default:
      return [];
  }
}

function titled(what: string, at: number | undefined): string {
  return `── ${what}${at === undefined ? '' : `  ${isoSeconds(at)}`}`;
}

function indented(text: string): string[] {
  const isCut = text.length > maxOutputChars;
  const lines = text.slice(0, maxOutputChars).split('\n');
  return [
    ...lines.map((line) => `    ${line}`),
    ...(isCut ? [`    … ${text.length} characters; --json shows all`] : []),
  ];
}
