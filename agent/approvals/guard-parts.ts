// The parts of the guard of one project, joined: the gate, owned sessions, dialogs, what runs after a tool, budgets and the audit file.
// Decides nothing itself.

import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import { projectKey } from '../../protocol/ids.ts';
import type { OutboxItem } from '../../protocol/relay-api.ts';
import type { Binding, Config } from '../config.ts';
import { meterTokens } from '../drivers/session-file.ts';
import { askWords } from '../drivers/tool-words.ts';
import { workstationOf } from '../drivers/workstations.ts';
import type { Redactor } from '../format/redact.ts';
import { type ApprovalRecord, stricterMode } from '../journal/approvals.ts';
import type { Journal } from '../journal/journal.ts';
import { phoneTexts } from '../journal/state.ts';
import type { Log } from '../log.ts';
import { textItem } from '../plain-text.ts';
import type { Keys } from '../presence.ts';
import { isAlive } from '../process.ts';
import { pressInTerminal, terminalScreen } from '../tmux.ts';
import { createAfterTool } from './after-tool.ts';
import { createApprovals } from './approvals.ts';
import { createAuditLines } from './audit-lines.ts';
import { createBudgeting } from './budgets.ts';
import { toolsOf } from './danger/call.ts';
import { knownPlaces } from './danger/surroundings.ts';
import { createDialogs } from './dialogs.ts';
import type { Gates } from './gate-files.ts';
import { createOwnedAsks } from './owned/owned-asks.ts';
import { createPermissions } from './permissions.ts';
import { afterCommands } from './policy/judge.ts';
import type { JudgeOptions } from './policy/judge-now.ts';
import { watchPolicies } from './policy/watch.ts';
import type { Shows } from './question/question.ts';
import { createUngated } from './ungated.ts';

export interface GuardDeps {
  config: Config;
  journal: Journal;
  keys: Pick<Keys, 'typing'>;
  redactor: Redactor;
  judge: JudgeOptions['judge'];
  shows: Shows;
  /** The gates for the time without a daemon, and the mode that outlives the state directory. */
  gates: Pick<Gates, 'set' | 'kept'>;
  /** Whether a process is a person's terminal. */
  isInteractive(pid: number, agent: string): Promise<boolean>;
  clock: () => number;
  log: Log;
}

export interface GuardIo {
  /** The folder of the project's two files, and what makes it. */
  mailboxDir: string;
  prepare(): Promise<void>;
  send(item: OutboxItem): Promise<void>;
  /** A text, already without secrets, as a file. */
  sendFile(name: string, text: string, caption: string): Promise<void>;
  /** See `Turns.cancelled`. */
  onCancelled(why: string): void;
  /** A person sits at the terminal. */
  isPresent(): boolean;
  /** See `Turns.seenAt`. */
  seenAt(): number;
}

export async function joinGuard(binding: Binding, deps: GuardDeps, io: GuardIo) {
  const { mailboxDir, prepare, send } = io;
  const { config, journal, keys, redactor, gates, shows, isInteractive, clock, log } = deps;
  const key = projectKey(binding.mailbox, binding.project);
  const project = journal.project(key);
  const texts = () => phoneTexts(project);
  const record = (each: ApprovalRecord) => journal.append([{ p: key, at: clock(), ...each }]);

  // A state directory that was deleted must not switch approvals off: only the phone may.
  const mode = stricterMode(project.approvals.mode, await gates.kept(key));
  if (mode !== project.approvals.mode) {
    await record({ t: 'approvals', mode });
    log('warn', 'approvals stay on', { project: key, mode });
  }

  const policies = await watchPolicies({ dir: binding.dir, configDir: config.dirs.config, project: key, log });

  const show = (item: OutboxItem) =>
    send(item).catch((cause) => log('error', 'phone not told', { project: key, error: (cause as Error).message }));
  const notify = (about: 'after' | 'ungated' | 'switches', text: string) =>
    show(textItem(`${about}_${randomBytes(12).toString('hex')}`, 'answer', text));

  const audit = createAuditLines({ dir: mailboxDir, prepare, redactor, shows, clock, log });
  const budgets = createBudgeting({ project, record, send, meterTokens, policies: policies.at, clock });
  const asking = { project, record, send, show, policies: policies.read, judge: deps.judge, shows, clock, log };
  const fixed = knownPlaces(config.dirs, homedir());
  const approvals = await createApprovals({
    ...asking,
    fixed,
    isInteractive,
    audit: audit.decision,
    onMode: (next) => gates.set(key, next),
  });
  const owned = createOwnedAsks({
    ...asking,
    fixed,
    refusalOf: approvals.refusalOf,
    auditDecision: audit.decision,
    auditAnswer: audit.dialog,
    sendFile: io.sendFile,
  });
  const dialogs = createDialogs({
    project,
    record: (each) => journal.append([{ p: key, at: clock(), ...each }]),
    send,
    shows,
    refusalOf: approvals.refusalOf,
    audit: audit.dialog,
    keysFor: (agent) => workstationOf(agent)?.dialogs,
    // A key that is pressed for the owner is no sign of a person.
    terminal: { screen: terminalScreen, press: (pid, key) => keys.typing(pid, () => pressInTerminal(pid, key)) },
    isAlive,
    isPresent: io.isPresent,
    seenAt: io.seenAt,
    clock,
    onCancelled: io.onCancelled,
    log,
  });
  const permissions = createPermissions({
    ask: approvals.permission,
    isPresent: io.isPresent,
    onLeft(call, { pid }) {
      const { agent, event } = call;
      const { command, file } = toolsOf(agent);
      const text = command(event.input) ?? file(event.input) ?? '';
      dialogs.opened(call, pid, { kind: 'permission', title: askWords({ agent, ...event }, texts()), text });
    },
    clock,
  });
  const after = createAfterTool({
    dir: binding.dir,
    // A policy that was just broken must not switch a filter off.
    commands: async (call) => {
      const { user } = await policies.at(call);
      const { tool, server, input, result } = call.event;
      return afterCommands({ agent: call.agent, tool, server, input }, policies.user() ?? user, result === undefined);
    },
    redact: (text) => redactor(text).text,
    audit: (line) => audit.write({ kind: 'after', ...line }),
    notify,
    texts,
    clock,
  });
  const ungated = createUngated({
    mode: approvals.mode,
    clock,
    notify: async (textOf, call) => void notify('ungated', textOf(call ? await audit.describe(call) : '', texts())),
    audit: (line, call) => audit.write(audit.describe(call).then((text) => ({ kind: 'ungated', ...line, text }))),
  });

  return { key, texts, notify, policies, audit, budgets, approvals, owned, dialogs, permissions, after, ungated };
}
