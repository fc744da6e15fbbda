// `wa-sync run` and `wa-sync attach`: a session that the daemon runs itself, begun at the desk or taken back there. The daemon does the
// work; a text of the desk goes into the inbox file, as that of any other program does.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { text as readAll } from 'node:stream/consumers';
import { WaError } from '../../protocol/errors.ts';
import { type InboxEntry, isoSeconds } from '../../protocol/files.ts';
import { askDaemon } from '../local-client.ts';
import { ensureMailbox, findServed } from '../mailbox/served.ts';
import { patientLockMs, updateMailboxFile } from '../mailbox/update.ts';
import type { RunAnswer } from '../owned/orders.ts';
import { shortId } from '../owned/short-id.ts';
import { withoutSecrets } from '../process.ts';
import type { CommandContext } from './context.ts';

export interface RunCommand {
  agent?: string | undefined;
  session?: string | undefined;
  new?: boolean | undefined;
  mode?: string | undefined;
  model?: string | undefined;
}

/** The agent may have to end first, and what it left is settled; then the daemon waits for the next one. */
const holdMs = 60_000;

/**
 * `text`: `-` reads it from stdin. It is written only when the session is there. Errors: `bad_arguments`, `not_bound`, `turn_running`,
 * `session_in_use`, `not_found`, `daemon_not_running`, `daemon_busy`, those of the agent.
 */
export async function runCommand(
  text: string | undefined,
  options: RunCommand,
  context: CommandContext,
): Promise<void> {
  const { agent, session, mode, model } = options;
  if (session !== undefined && options.new)
    throw new WaError('bad_arguments', 'a session is either new or an earlier one', {
      hint: 'Give --session or --new.',
    });
  const first = ((text === '-' ? await readAll(process.stdin) : text) ?? '').trim();
  const config = context.loadConfig();
  const order = { agent, session, mode, model, cwd: context.cwd };
  const asked = askDaemon(config.dirs, 'POST', '/run', order, { holdMs });
  const answer = (await context.progress.during('the coding agent starts', () => asked)) as RunAnswer;
  const { title } = answer;
  context.out(
    answer.session === null
      ? `The session of ${title} is still being opened; the phone is told when it is ready.`
      : `${title} is ready (session ${shortId(answer.session)}); what your phone writes now goes there.`,
  );
  if (answer.isTaken)
    context.out('The terminal that had the messages keeps its session; wa:here typed there takes them back.');
  if (first === '') return;
  const served = await findServed(context.cwd, config);
  const place = await served?.place();
  if (!served || !place) throw new WaError('not_bound', `${context.cwd} lies in no folder that a daemon serves`);
  const now = Date.now();
  const id = `desk_${now.toString(36)}_${randomBytes(4).toString('hex')}`;
  const entry: InboxEntry = { id, timestamp: isoSeconds(now), from: 'user', text: first, read: false };
  const file = { path: place.inbox, kind: 'inbox', now: Date.now, lockTimeoutMs: patientLockMs } as const;
  await ensureMailbox(place, served.binding.dir);
  await updateMailboxFile<InboxEntry>(file, (entries) => [...entries, entry]);
  context.out('Your text waits in the inbox; the agent is told that it came from this machine.');
}

/**
 * Opens the session in this terminal, once the daemon has let go of it; without a terminal it prints the command. Errors: `not_bound`,
 * `turn_running`, `not_found`, `daemon_not_running`, `daemon_busy`, `child_failed`.
 */
export async function attachCommand(
  { print }: { print?: boolean | undefined },
  context: CommandContext,
): Promise<void> {
  const { dirs } = context.loadConfig();
  const answer = await askDaemon(dirs, 'POST', '/attach', { cwd: context.cwd }, { holdMs });
  const { command } = answer as { command: string[] };
  const [program = '', ...args] = command;
  const line = command.map(asWord).join(' ');
  if (print || !process.stdin.isTTY || !process.stdout.isTTY) {
    context.out(line);
    return;
  }
  context.note(`The daemon has let go of the session: ${line}`);
  await new Promise<void>((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'inherit', cwd: context.cwd, env: withoutSecrets(context.env) });
    child.once('error', (cause) =>
      reject(
        new WaError('child_failed', `${program} does not start: ${cause.message}`, {
          hint: `Run it yourself: ${line}`,
        }),
      ),
    );
    child.once('exit', () => resolve());
  });
}

function asWord(text: string): string {
  return /^[\w./:=@%+,~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}
