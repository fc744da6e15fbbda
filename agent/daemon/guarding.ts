// Puts the approvals of one project together: its journal, its outbox, the gates, the terminal. Decides nothing itself.

import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { projectKey } from '../../protocol/ids.ts';
import type { OutboxItem } from '../../protocol/relay-api.ts';
import { createGuard, type Guard } from '../approvals/guard.ts';
import type { Binding } from '../config.ts';
import { readTokens } from '../drivers/gemini/session-usage.ts';
import type { MailboxPlace } from '../files/location.ts';
import { isInteractive } from '../terminal.ts';
import type { ProjectDeps } from './project.ts';

export function guardProject(
  binding: Binding,
  place: MailboxPlace,
  { config, journal, redactor, closeGates, clock, log }: ProjectDeps,
  io: { prepare(): Promise<void>; send(item: OutboxItem): Promise<void> },
): Promise<Guard> {
  const key = projectKey(binding.mailbox, binding.project);
  return createGuard({
    project: journal.project(key),
    dir: binding.dir,
    mailboxDir: place.dir,
    ...io,
    configDir: config.dirs.config,
    home: homedir(),
    // The cache holds nothing that guards.
    own: Object.values(config.dirs).filter((dir) => dir !== config.dirs.cache),
    mailbox: binding.mailbox,
    record: (record) => journal.append([{ p: key, at: clock(), ...record }]),
    redact: redactor,
    onMode: (mode) => closeGates(key, mode),
    isInteractive,
    tokensOf: async (transcript) => readTokens(await readFile(transcript, 'utf8')),
    clock,
    log,
  });
}
