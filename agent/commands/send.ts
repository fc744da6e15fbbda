// `wa-sync send TEXT|-` and `wa-sync send --file PATH`: a status update by way of the outbox file, with or without the daemon;
// a file by way of the daemon, which keeps a copy until the phone has it.

import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { WaError } from '../../protocol/errors.ts';
import { isoSeconds, type OutboxEntry } from '../../protocol/files.ts';
import { ensureMailbox, locateMailbox } from '../files/location.ts';
import { pruneSettled } from '../files/merge.ts';
import { findServed } from '../files/served.ts';
import { patientLockMs, updateMailboxFile } from '../files/update.ts';
import { askDaemon } from '../local-client.ts';
import type { CommandContext } from './context.ts';

/** Errors: `bad_arguments` without a text, `not_bound`, `daemon_not_running` for a file, those of the files. */
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
  const projectDir = (await findServed(context.cwd, config))?.dir ?? config.mailboxDir;
  if (projectDir === undefined) {
    throw new WaError('not_bound', `${context.cwd} lies in no folder that is bound to a chat`, {
      hint: 'Run it below a bound folder (`wa-sync status` names them), or start `wa-sync` here first.',
    });
  }
  const place = await locateMailbox({ projectDir, override: config.mailboxDir });
  await ensureMailbox(place, projectDir);
  const now = Date.now();
  const id = `resp_${now.toString(36)}_${randomBytes(4).toString('hex')}`;
  const entry: OutboxEntry = { id, timestamp: isoSeconds(now), from: 'agent', text: message, sent: false };
  await updateMailboxFile(
    { path: place.outbox, kind: 'outbox', now: Date.now, lockTimeoutMs: patientLockMs },
    (entries) => pruneSettled([...(entries as OutboxEntry[]), entry], 'outbox', now),
  );
  context.out(`queued in ${place.outbox}; the daemon sends it`);
}

async function sendFile(path: string, caption: string, context: CommandContext): Promise<void> {
  const { runtime } = context.loadConfig().dirs;
  await askDaemon(runtime, 'POST', '/send-file', { path, caption, cwd: context.cwd });
  context.out(`${path} is on its way; a copy is kept until the phone has it`);
}
