// `wa-sync send TEXT|-` and `wa-sync send --file PATH`: a status update by way of the outbox file, with or without the daemon;
// a file by way of the daemon, which keeps a copy until the phone has it.

import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { WaError } from '../../protocol/errors.ts';
import { isoSeconds, type OutboxEntry } from '../../protocol/files.ts';
import type { Binding } from '../config.ts';
import { askDaemon, type DaemonDirs } from '../local-client.ts';
import { ensureMailbox, findServed } from '../mailbox/served.ts';
import { appendUnsent, patientLockMs } from '../mailbox/update.ts';
import type { CommandContext } from './context.ts';

/** Errors: `bad_arguments` without a text, `not_bound`, `daemon_not_running` and `daemon_busy` for a file, those of the files. */
export async function sendCommand(
  text: string | undefined,
  options: { file: string | undefined },
  context: CommandContext,
): Promise<void> {
  const message = ((text === '-' ? await readAll(process.stdin) : text) ?? '').trim();
  if (options.file !== undefined) return sendFile(resolve(context.cwd, options.file), message, context);
  if (message === '') {
    throw new WaError('bad_arguments', 'there is no text to send', { hint: 'Give one: wa-sync send "Tests pass".' });
  }
  const config = context.loadConfig();
  const served = await findServed(context.cwd, config);
  if (served === undefined) {
    throw new WaError('not_bound', `${context.cwd} lies in no folder that is bound to a chat`, {
      hint: `Run it below a folder of "bindings" in ${config.file}, or start \`wa-sync\` here first.`,
    });
  }
  const { binding } = served;
  const place = await served.place();
  if (place === undefined) {
    throw new WaError('not_bound', `no daemon has served ${binding.dir} yet`, {
      hint: 'Start one with `wa-sync start`, then send it again.',
    });
  }
  const now = Date.now();
  const id = `resp_${now.toString(36)}_${randomBytes(4).toString('hex')}`;
  const entry: OutboxEntry = { id, timestamp: isoSeconds(now), from: 'agent', text: message, sent: false };
  await ensureMailbox(place, binding.dir);
  await appendUnsent({ path: place.outbox, now: Date.now, lockTimeoutMs: patientLockMs, bounded: false }, entry);
  context.out(`queued in ${place.outbox}; ${await whenSent(config.dirs, binding)}`);
}

/** What must be for the queued text to go out. It is stored already: nothing here is an error. */
async function whenSent(dirs: DaemonDirs, binding: Binding): Promise<string> {
  try {
    const { projects } = (await askDaemon(dirs, 'GET', '/status')) as {
      projects: { dir: string; error?: string }[];
    };
    const error = projects.find(({ dir }) => dir === binding.dir)?.error;
    return error === undefined ? 'the daemon sends it' : `the daemon sends it when the relay takes it again (${error})`;
  } catch (cause) {
    if (cause instanceof WaError && cause.code === 'daemon_busy') return `it goes out later: ${cause.message}`;
    return 'no daemon runs: it goes out when one starts, with `wa-sync start`';
  }
}

async function sendFile(path: string, caption: string, context: CommandContext): Promise<void> {
  await askDaemon(context.loadConfig().dirs, 'POST', '/send-file', { path, caption, cwd: context.cwd });
  context.out(`${path} is on its way; a copy is kept until the phone has it`);
}
