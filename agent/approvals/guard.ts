// Everything of approvals for one project in one place: the gate, what runs after a tool, budgets and the audit file.
// The daemon shows it every hook call; it never touches messages or turns.

import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { mailboxFolder } from '../../protocol/files.ts';
import { projectKey } from '../../protocol/ids.ts';
import type { ControlRow } from '../../protocol/log.ts';
import type { OutboxItem } from '../../protocol/relay-api.ts';
import type { HookCall, TurnAnswer } from '../../protocol/turn-events.ts';
import type { Binding, Config } from '../config.ts';
import { meterTokens } from '../drivers/session-file.ts';
import { askWords } from '../drivers/tool-words.ts';
import { verifyAll, workstationOf } from '../drivers/workstations.ts';
import type { Redactor } from '../format/redact.ts';
import { pathBelow } from '../fs/below.ts';
import { type ApprovalRecord, stricterMode } from '../journal/approvals.ts';
import type { Journal } from '../journal/journal.ts';
import { phoneTexts } from '../journal/state.ts';
import type { Log } from '../log.ts';
import type { Keys } from '../presence.ts';
import { isAlive } from '../process.ts';
import { pressInTerminal, terminalScreen } from '../tmux.ts';
import { visible } from '../visible.ts';
import { createAfterTool, type ToolEnd } from './after-tool.ts';
import { createApprovals } from './approvals.ts';
import { createAudit } from './audit.ts';
import { budgetPrefix, createBudgeting } from './budgets.ts';
import { toolsOf } from './danger/call.ts';
import { knownPlaces } from './danger/surroundings.ts';
import { createDialogs, dialogPrefix } from './dialogs.ts';
import type { Gates } from './gate-files.ts';
import { createOwnedAsks } from './owned/owned-asks.ts';
import { createPermissions } from './permissions.ts';
import { afterCommands } from './policy/judge.ts';
import type { JudgeOptions } from './policy/judge-now.ts';
import {
  activePolicies,
  onlyTools,
  type Policies,
  projectPolicyName,
  readPolicies,
  userPolicyName,
} from './policy/policy.ts';
import { headAndTail, hideBy, type Shows, textItem } from './question/question.ts';
import { type Decision, type GateHost, hashOf } from './question/questions.ts';
import { createUngated, type ToolOfCall } from './ungated.ts';

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

export type Guard = Awaited<ReturnType<typeof guardProject>>;

/** UTF-16 units of a call in the audit. */
const shownChars = 2_000;

export async function guardProject(binding: Binding, deps: GuardDeps, io: GuardIo) {
  const { mailboxDir, prepare, send } = io;
  const { config, journal, keys, redactor, gates, shows, isInteractive, clock, log } = deps;
  const key = projectKey(binding.mailbox, binding.project);
  const project = journal.project(key);
  const texts = () => phoneTexts(project);
  const record = (each: ApprovalRecord) => journal.append([{ p: key, at: clock(), ...each }]);
  const hide = hideBy(redactor);

  // A state directory that was deleted must not switch approvals off: only the phone may.
  const mode = stricterMode(project.approvals.mode, await gates.kept(key));
  if (mode !== project.approvals.mode) {
    await record({ t: 'approvals', mode });
    log('warn', 'approvals stay on', { project: key, mode });
  }

  let policyProblems: string[] = [];
  let active: string[] = [];
  /** As it was when it could last be read. */
  let userPolicy: Policies['user'] | undefined;
  async function policies(): Promise<Policies> {
    const read = await readPolicies({
      user: join(config.dirs.config, userPolicyName),
      project: await pathBelow(binding.dir, mailboxFolder, projectPolicyName),
    });
    for (const problem of read.problems) {
      if (!policyProblems.includes(problem)) log('error', 'policy not read', { project: key, problem });
    }
    policyProblems = read.problems;
    active = activePolicies(read);
    if (!read.userUnread) userPolicy = read.user;
    return read;
  }
  await policies();
  /** One reading for everything that an event asks before its answer. A gate reads anew: it is judged by the policy at its end. */
  const policiesAt = new WeakMap<HookCall['event'], Promise<Policies>>();
  function policiesFor({ event }: HookCall): Promise<Policies> {
    const read = policiesAt.get(event) ?? policies();
    policiesAt.set(event, read);
    return read;
  }

  const show = (item: OutboxItem) =>
    send(item).catch((cause) => log('error', 'phone not told', { project: key, error: (cause as Error).message }));
  const notify = (about: 'after' | 'ungated' | 'switches', text: string) =>
    show(textItem(`${about}_${randomBytes(12).toString('hex')}`, 'answer', text));

  // Hidden before it is cut: no pattern finds half a secret.
  const auditText = async (text: string) => headAndTail(visible((await shows.hide(text)).text), shownChars);
  const describe = ({ agent, input }: Pick<ToolOfCall, 'agent' | 'input'>) => {
    const { command, file } = toolsOf(agent);
    return auditText(command(input) ?? file(input) ?? '');
  };
  const audit = createAudit({ dir: mailboxDir, prepare, redact: (text) => hide(text).text, clock, log });
  const budgets = createBudgeting({ project, record, send, meterTokens, policies: policiesFor, clock });
  function auditDecision({ text, before, ...decision }: Decision & { option?: string }): void {
    const line = async () => ({
      kind: 'decision' as const,
      ...decision,
      ...(text === undefined ? {} : { text: await auditText(text) }),
      ...(before === undefined ? {} : { before: await auditText(before) }),
    });
    audit.write(line());
  }
  const auditDialog = ({
    text,
    ...line
  }: {
    answer: string;
    by: string;
    session: string;
    title: string;
    text: string;
  }) => audit.write(auditText(text).then((shown) => ({ kind: 'dialog' as const, ...line, text: shown })));
  const asking = { project, record, send, show, policies, judge: deps.judge, shows, clock, log };
  const fixed = knownPlaces(config.dirs, homedir());
  const approvals = await createApprovals({
    ...asking,
    fixed,
    isInteractive,
    audit: auditDecision,
    onMode: (next) => gates.set(key, next),
  });
  const owned = createOwnedAsks({
    ...asking,
    fixed,
    refusalOf: approvals.refusalOf,
    auditDecision,
    auditAnswer: auditDialog,
    sendFile: io.sendFile,
  });
  const dialogs = createDialogs({
    project,
    record: (each) => journal.append([{ p: key, at: clock(), ...each }]),
    send,
    shows,
    refusalOf: approvals.refusalOf,
    audit: auditDialog,
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
      const { user } = await policiesFor(call);
      const { tool, server, input, result } = call.event;
      return afterCommands({ agent: call.agent, tool, server, input }, userPolicy ?? user, result === undefined);
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
    notify: async (textOf, call) => void notify('ungated', textOf(call ? await describe(call) : '', texts())),
    audit: (line, call) => audit.write(describe(call).then((text) => ({ kind: 'ungated', ...line, text }))),
  });

  /** What keeps the coding agent from running the gates although approvals are on, as of the last look. */
  let switches: readonly string[] = [];
  async function lookAtSwitches(): Promise<void> {
    const found = await verifyAll(binding.dir, homedir());
    for (const problem of found.filter((each) => !switches.includes(each))) {
      log('error', 'gates switched off', { problem });
      void notify('switches', texts().approvals.switchedOff(problem));
    }
    switches = found;
  }

  const stops = new Set<string>();
  let stopInFile: string | undefined;
  async function onStop(line: { what: string; id: string; by?: string }, by: 'owner' | 'file'): Promise<void> {
    audit.write({ kind: 'stop', ...line });
    after.hurry();
    await approvals.stopAll(by);
    // The owner's STOP cancels the prompt that asks, behind what it holds back: withdrawn before, the question would end the prompt first.
    if (by === 'file') await owned.cancel();
  }

  function afterTool(call: ToolEnd, host: GateHost): Promise<TurnAnswer> {
    const { agent, session, event } = call;
    const line = { kind: 'tool', tool: visible(event.tool), session, hash: hashOf(event) } as const;
    audit.write(describe({ agent, input: event.input }).then((text) => ({ ...line, text })));
    return after.run(call, host);
  }

  async function onTurnStart(call: HookCall): Promise<TurnAnswer> {
    after.turnStarts(call.session);
    const only = onlyTools(await policiesFor(call));
    const tools = only && `Only these tools may be used now: ${only.join(', ') || 'none'}.`;
    const all = [tools, after.take(call.session).context].filter((text) => text !== undefined);
    return all.length === 0 ? {} : { context: all.join('\n\n') };
  }

  function failed(call: HookCall, cause: unknown): void {
    log('error', 'guard failed', { project: key, event: call.event.type, error: (cause as Error).message });
  }

  return {
    /** What a text of the owner may be meant for: the question whose Edit… was tapped, or a form that waits for a text. */
    expects(): { id: string; as: 'command' | 'answer' } | undefined {
      const command = approvals.editing();
      if (command !== undefined) return { id: command, as: 'command' };
      const answer = owned.writing();
      return answer === undefined ? undefined : { id: answer, as: 'answer' };
    },
    /** Uses a text so. Undefined = done; a text = why not. */
    use: (id: string, userId: string, text: string): Promise<string | undefined> =>
      owned.writing() === id ? owned.use(id, userId, text) : approvals.runInstead(id, userId, text),
    /** What sessions that the daemon owns ask of the owner. */
    owned,
    refusalOf: approvals.refusalOf,
    /** The dialogs of the coding agent in its terminal. */
    dialogs,
    /** Every call, before anything is decided about it. */
    sees(call: HookCall): void {
      try {
        dialogs.sees(call);
        permissions.sees(call);
        ungated.sees(call);
      } catch (cause) {
        failed(call, cause);
      }
    },
    /** The gate of this call is about to be answered with yes. */
    passes({ agent, session, event }: HookCall, { input, allow }: TurnAnswer): void {
      if (event.type !== 'gate') return;
      const call = { agent, ...event, input: input ?? event.input };
      ungated.passed(session, call);
      if (allow) permissions.passed(session, call);
    },
    /** Refused before anything else sees the call: a budget is used up. */
    admit: budgets.admit,
    /** True = something runs after this tool, for which its hook should be kept waiting. Never rejects. */
    async runsAfter(call: HookCall): Promise<boolean> {
      const { event } = call;
      return event.type === 'toolEnd' && after.concerns({ ...call, event });
    },
    /** What is added to the answer of a call; for a gate it may take as long as a person. Never rejects. */
    async follow(call: HookCall, host: GateHost): Promise<TurnAnswer> {
      const { event } = call;
      try {
        if (event.type === 'gate') return await approvals.gate({ ...call, event }, host);
        if (event.type === 'permission') return await permissions.decide({ ...call, event }, host);
        if (event.type === 'toolEnd') return await afterTool({ ...call, event }, host);
        if (event.type === 'turnStart') return await onTurnStart(call);
        if (event.type === 'turnEnd') {
          const used = await budgets.turnEnded(call);
          audit.write({ kind: 'turn', session: call.session, ...used });
        }
        if (event.type === 'sessionEnd') await after.sessionEnds(call.session);
      } catch (cause) {
        failed(call, cause);
      }
      return {};
    },
    /** What the phone gets for a control about approvals; undefined = another control. A STOP is noted, and undefined. */
    async answer(control: ControlRow): Promise<OutboxItem[] | undefined> {
      const { id, control: said } = control;
      if (said.type === 'stop' || said.type === 'abort') {
        // The control comes again until the turn rules have handled it.
        if (stops.has(id)) return undefined;
        stops.add(id);
        await onStop({ what: said.type, id }, 'owner');
        return undefined;
      }
      if (said.type === 'button' && said.action.startsWith(budgetPrefix)) {
        return [await budgets.answer(`reply_${id}`, said.action)];
      }
      if (said.type === 'button' && said.action.startsWith(dialogPrefix)) {
        const text = await dialogs.answer(said.action, said.userId);
        return text === undefined ? [] : [textItem(`reply_${id}`, 'reply', text)];
      }
      const ofOwned = await owned.answer(control);
      if (ofOwned) return ofOwned;
      const before = approvals.mode();
      const items = await approvals.answer(control);
      if (approvals.mode() !== before) audit.write({ kind: 'mode', mode: approvals.mode() });
      return items;
    },
    /** The STOP of another program that stands open in the inbox file, as of each look at it. */
    async stoppedInFile(stop: { id: string; type: 'stop' | 'abort' } | undefined): Promise<void> {
      // The entry stands there until a turn has obeyed it, and denies only the questions that it finds.
      if (stop?.id === stopInFile) return;
      stopInFile = stop?.id;
      if (stop) await onStop({ what: stop.type, id: stop.id, by: 'another program' }, 'file');
    },
    async tick(): Promise<void> {
      await approvals.tick();
      void dialogs.tick();
      await ungated.look();
      if (approvals.mode() !== 'off') await lookAtSwitches();
    },
    /** Looks at the policies anew, for `status`. Never rejects. */
    async readPolicies(): Promise<void> {
      await policies();
    },
    /** `policies`: whose policies say something; `problems`: what of them could not be read when they were last looked at. */
    status: () => ({
      mode: approvals.mode(),
      asked: approvals.waiting() + owned.waiting(),
      policies: active,
      problems: [...policyProblems, ...switches],
    }),
    async stop(): Promise<void> {
      await after.stop();
      await dialogs.idle();
      await audit.flush();
    },
  };
}
