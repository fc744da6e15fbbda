// `wa-sync sessions resume|delete`: by the agent's own command, and never while somebody else may write into the session.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { WaError } from '../../protocol/errors.ts';
import { oneLine } from '../../protocol/lines.ts';
import { sessionFilesOf } from '../drivers/session-files.ts';
import { isRealFolder } from '../fs/below.ts';
import { withoutSecrets } from '../process.ts';
import { programOnPath } from '../programs.ts';
import { findSession } from '../sessions/find.ts';
import type { Session } from '../sessions/list.ts';
import { refuseUsed } from '../sessions/use.ts';
import { visibleLine } from '../visible.ts';
import type { CommandContext } from './context.ts';
import { existingFolder } from './folder.ts';
import { chosen, type SessionFlags } from './sessions.ts';

/**
 * Runs the agent in the folder of the session; without a terminal, and with `--print`, prints the command. Errors: `not_found`,
 * `bad_arguments`, `session_in_use`, `child_failed`.
 */
export async function sessionResumeCommand(
  selector: string,
  flags: SessionFlags & { print?: boolean },
  context: CommandContext,
): Promise<void> {
  const session = await chosenSession(selector, flags, context);
  const args = sessionFilesOf(session.agent)?.resumeArgs(session.id) ?? [];
  const isPerson = process.stdin.isTTY === true && process.stdout.isTTY === true;
  if (flags.print || !isPerson) {
    const folder = session.dir === undefined ? '' : `cd ${quoted(session.dir)} && `;
    return context.out(`${folder}${[session.agent, ...args].map(quoted).join(' ')}`);
  }
  await refuseUsed(session, usePlace(context));
  await runAgent(session, args, context);
}

/** Asks first, unless `--yes`. Errors: `not_found`, `bad_arguments`, `session_in_use`, `child_failed`, `cancelled`, `file_unusable`. */
export async function sessionDeleteCommand(
  selector: string,
  flags: SessionFlags & { yes?: boolean },
  context: CommandContext,
): Promise<void> {
  const session = await chosenSession(selector, flags, context);
  await refuseUsed(session, usePlace(context));
  if (!flags.yes) await ask(session);
  const removal = sessionFilesOf(session.agent)?.removal;
  if (removal && 'args' in removal) await runAgent(session, removal.args(session.id), context);
  else for (const path of (await removal?.paths(session)) ?? []) await removeTree(path);
  context.out(`deleted ${session.short} of ${session.agent}: ${visibleLine(oneLine(session.title, 80))}`);
}

async function chosenSession(selector: string, flags: SessionFlags, context: CommandContext): Promise<Session> {
  const { place, options } = await chosen(flags, context);
  return findSession(selector, place, options);
}

function usePlace({ env, home, loadConfig }: CommandContext) {
  return { env, home, dirs: loadConfig().dirs, clock: Date.now };
}

/** Errors: `bad_arguments` without a terminal, `cancelled`. */
async function ask({ short, agent, title }: Session): Promise<void> {
  if (process.stdin.isTTY !== true) {
    throw new WaError('bad_arguments', `nobody is here to confirm that session ${short} goes`, {
      hint: 'Say --yes to delete it.',
    });
  }
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const what = `Delete session ${short} of ${agent}, "${visibleLine(oneLine(title, 80))}"? It cannot be brought back. [y/N] `;
    if (/^y(es)?$/i.test((await lines.question(what)).trim())) return;
  } finally {
    lines.close();
  }
  throw new WaError('cancelled', `session ${short} stays`, { hint: 'Answer y to delete it.' });
}

/** A folder on the way that is a link is not followed, nor one inside. Errors: `outside_project`, `file_unusable`. */
async function removeTree(path: string): Promise<void> {
  if (await isRealFolder(dirname(path))) await rm(path, { recursive: true, force: true });
}

/** Errors: `not_found` for the program and for the folder, `child_failed`. */
async function runAgent(session: Session, args: readonly string[], context: CommandContext): Promise<void> {
  const { agent } = session;
  const program = context.loadConfig().agents[agent] ?? (await programOnPath(agent, context));
  if (program === undefined) {
    throw new WaError('not_found', `no program ${agent} is on the PATH`, {
      hint: `Install it, or set "agents": {"${agent}": "<path>"} in config.json.`,
    });
  }
  const cwd = await folderOf(session, context);
  const child = spawn(program, args, { cwd, env: withoutSecrets(context.env), stdio: 'inherit' });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === 0) return;
  throw new WaError('child_failed', `${agent} ended with ${code ?? 'a signal'}`, {
    hint: `Run it yourself: ${[agent, ...args].map(quoted).join(' ')}`,
  });
}

async function folderOf({ dir }: Session, { cwd }: CommandContext): Promise<string> {
  return existingFolder(dir ?? cwd).catch((cause) => {
    throw new WaError('not_found', `the folder ${dir} of the session is gone`, {
      hint: 'Make it again: the agent looks for the session there.',
      cause,
    });
  });
}

/** For a POSIX shell. */
function quoted(word: string): string {
  return /^[\w./@:+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
