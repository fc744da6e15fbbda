// Puts the approvals of one project together: its journal, its outbox, the gates, the terminal. Decides nothing itself.

import { homedir } from 'node:os';
import { projectKey } from '../../protocol/ids.ts';
import type { OutboxItem } from '../../protocol/relay-api.ts';
import { knownPlaces } from '../approvals/danger/surroundings.ts';
import type { Gates } from '../approvals/gate-files.ts';
import { createGuard, type Guard } from '../approvals/guard.ts';
import type { JudgeOptions } from '../approvals/policy/judge-now.ts';
import type { Shows } from '../approvals/question/question.ts';
import type { Binding } from '../config.ts';
import { verifyAll } from '../drivers/workstations.ts';
import type { Redacted } from '../format/redact.ts';
import { stricterMode } from '../journal/approvals.ts';
import type { MailboxPlace } from '../mailbox/served.ts';
import type { MailDeps } from './mail.ts';

export interface GuardDeps extends Pick<MailDeps, 'config' | 'journal' | 'clock' | 'log'> {
  redactor(text: string): Redacted;
  judgeLarge: JudgeOptions['judgeLarge'];
  shows: Shows;
  /** The gates for the time without a daemon, and the mode that outlives the state directory. */
  gates: Pick<Gates, 'set' | 'kept'>;
  isInteractive(pid: number, agent: string): Promise<boolean>;
}

export async function guardProject(
  binding: Binding,
  place: MailboxPlace,
  { config, journal, redactor, judgeLarge, shows, gates, isInteractive, clock, log }: GuardDeps,
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
    record: (record) => journal.append([{ p: key, at: clock(), ...record }]),
    redact: redactor,
    judgeLarge,
    shows,
    onMode: (next) => gates.set(key, next),
    isInteractive,
    switches: () => verifyAll(binding.dir, homedir()),
    clock,
    log,
  });
}
