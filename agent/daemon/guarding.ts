// Puts the approvals of one project together: its journal, its outbox, the gates, the terminal. Decides nothing itself.

import { homedir } from 'node:os';
import { projectKey } from '../../protocol/ids.ts';
import type { OutboxItem } from '../../protocol/relay-api.ts';
import { createGuard, type Guard } from '../approvals/guard.ts';
import { knownPlaces } from '../approvals/danger/surroundings.ts';
import type { Binding } from '../config.ts';
import { hookSwitches } from '../drivers/gemini/hook-switches.ts';
import { readTurn } from '../drivers/gemini/session-log.ts';
import { readTools } from '../drivers/gemini/session-tools.ts';
import { meterTokens } from '../drivers/gemini/session-usage.ts';
import type { MailboxPlace } from '../files/location.ts';
import { readFrom } from '../files/tail.ts';
import { sizeOf } from '../hook-server/settlement.ts';
import { stricterMode } from '../journal/approvals.ts';
import { isInteractive } from '../terminal.ts';
import type { ProjectDeps } from './project.ts';

export async function guardProject(
  binding: Binding,
  place: MailboxPlace,
  { config, journal, redactor, judgeLarge, shows, gates, clock, log }: ProjectDeps,
  io: { prepare(): Promise<void>; send(item: OutboxItem): Promise<void> },
): Promise<Guard> {
  const key = projectKey(binding.mailbox, binding.project);
  // A state directory that was deleted must not switch approvals off: only the phone may.
  const { mode } = journal.project(key).approvals;
  const kept = stricterMode(mode, await gates.kept(key));
  if (kept !== mode) {
    await journal.append([{ t: 'approvals', p: key, at: clock(), mode: kept }]);
    log('warn', 'approvals stay on', { project: key, mode: kept });
  }
  return createGuard({
    project: journal.project(key),
    dir: binding.dir,
    mailboxDir: place.dir,
    ...io,
    configDir: config.dirs.config,
    ...knownPlaces(config.dirs, homedir()),
    mailbox: binding.mailbox,
    record: (record) => journal.append([{ p: key, at: clock(), ...record }]),
    redact: redactor,
    judgeLarge,
    shows,
    onMode: (next) => gates.set(key, next),
    isInteractive,
    watchCancel,
    meterTokens,
    sizeOf,
    toolsIn,
    switches: () => hookSwitches(binding.dir, homedir()),
    clock,
    log,
  });
}

async function toolsIn(transcript: string, offset: number) {
  const text = await readFrom(transcript, offset);
  // A line that is still being written is read with the next look.
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const size = await sizeOf(transcript);
  return { tools: readTools(whole), end: Math.max(0, Math.min(size, offset + Buffer.byteLength(whole))) };
}

async function watchCancel(transcript: string): Promise<() => Promise<boolean>> {
  const from = await sizeOf(transcript);
  return async () => (await sizeOf(transcript)) > from && readTurn(await readFrom(transcript, from)).cancelled;
}
