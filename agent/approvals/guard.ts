// Everything of approvals for one project in one place: the gate, what runs after a tool, budgets and the audit file.
// The daemon shows it every hook call; it never touches messages or turns.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { mailboxFolder } from '../../protocol/files.ts';
import type { ControlRow } from '../../protocol/log.ts';
import type { OutboxItem } from '../../protocol/relay-api.ts';
import type { HookCall, TurnAnswer } from '../../protocol/turn-events.ts';
import { meterTokens, sizeOf, toolsSince, watchCancel } from '../drivers/session-file.ts';
import { pathBelow } from '../fs/below.ts';
import type { ApprovalMode, ApprovalRecord } from '../journal/approvals.ts';
import type { ProjectState } from '../journal/state.ts';
import type { Log } from '../log.ts';
import { visible } from '../visible.ts';
import { type AfterTool, createAfterTool, type ToolEnd } from './after-tool.ts';
import { type Approvals, createApprovals } from './approvals.ts';
import { createAudit } from './audit.ts';
import { type Budgeting, budgetPrefix, createBudgeting } from './budgets.ts';
import { jsonOf, toolsOf } from './danger/call.ts';
import type { Surroundings } from './danger/rules.ts';
import { afterCommands } from './policy/judge.ts';
import type { JudgeOptions } from './policy/judge-now.ts';
import { onlyTools, type Policies, projectPolicyName, readPolicies, userPolicyName } from './policy/policy.ts';
import { hideBy, type Shows } from './question/question.ts';
import type { GateHost } from './question/questions.ts';
import { headAndTail } from './question/visible.ts';
import { makeCheckpoint } from './run.ts';
import { createSwitches } from './switches.ts';
import { createUngated, type ToolOfCall } from './ungated.ts';

export interface GuardOptions {
  project: ProjectState;
  /** The project's folder, and that of its two files. */
  dir: string;
  mailboxDir: string;
  prepare(): Promise<void>;
  configDir: string;
  home: string;
  /** Directories that no tool may touch unasked. */
  own: readonly string[];
  /** Values of variables, as a command may name these directories. */
  variables: NonNullable<Surroundings['variables']>;
  record(record: ApprovalRecord): Promise<void>;
  send(item: OutboxItem): Promise<void>;
  redact(text: string, as?: 'code'): { text: string; counts: Record<string, number> };
  judgeLarge: JudgeOptions['judgeLarge'];
  shows: Shows;
  onMode(mode: ApprovalMode): Promise<void>;
  /** Whether a process is a person's terminal. */
  isInteractive(pid: number, agent: string): Promise<boolean>;
  /** What keeps a coding agent from running wa-sync's hooks in this project, a sentence each. Never rejects. */
  switches(): Promise<string[]>;
  clock: () => number;
  log: Log;
}

export interface Guard {
  /** Every call, before anything is decided about it. */
  sees(call: HookCall): void;
  /** The gate of this call is about to be answered with yes. */
  passes(call: HookCall, answer: TurnAnswer): void;
  /** Refused before anything else sees the call: a budget is used up. */
  admit(call: HookCall): Promise<TurnAnswer | undefined>;
  /** True = something runs after this tool, for which its hook should be kept waiting. Never rejects. */
  runsAfter(call: HookCall): Promise<boolean>;
  /** What is added to the answer of a call; for a gate it may take as long as a person. Never rejects. */
  follow(call: HookCall, host: GateHost): Promise<TurnAnswer>;
  /** What the phone gets for a control about approvals; undefined = another control. A STOP is noted, and undefined. */
  answer(control: ControlRow): Promise<OutboxItem[] | undefined>;
  /** The STOP of another program that stands open in the inbox file, as of each look at it. */
  stoppedInFile(stop: { id: string; type: 'stop' | 'abort' } | undefined): Promise<void>;
  tick(): Promise<void>;
  /** Looks at the policies anew, for `status`. Never rejects. */
  readPolicies(): Promise<void>;
  /** `problems`: what of the policies could not be read when they were last looked at. */
  status(): { mode: ApprovalMode; asked: number; problems: string[] };
  stop(): Promise<void>;
}

/** Of a call in the audit. */
const shownChars = 2_000;

export async function createGuard(options: GuardOptions): Promise<Guard> {
  const { project, clock, log } = options;
  const redact = (text: string) => options.redact(text).text;
  let problems: string[] = [];
  /** As it was when it could last be read. */
  let userPolicy: Policies['user'] | undefined;
  async function policies(): Promise<Policies> {
    const paths = {
      user: join(options.configDir, userPolicyName),
      project: await pathBelow(options.dir, mailboxFolder, projectPolicyName),
    };
    const read = await readPolicies(paths);
    for (const problem of read.problems) {
      if (!problems.includes(problem)) log('error', 'policy not read', { project: project.key, problem });
    }
    problems = read.problems;
    if (!problems.some((problem) => problem.startsWith(paths.user))) userPolicy = read.user;
    return read;
  }
  /** One look for all that an event asks before its answer, but for a gate: that one is judged by what stands there in the end. */
  const policiesAt = new WeakMap<HookCall['event'], Promise<Policies>>();
  function policiesFor({ event }: HookCall): Promise<Policies> {
    const read = policiesAt.get(event) ?? policies();
    policiesAt.set(event, read);
    return read;
  }
  await policies();
  const { mailboxDir, prepare, shows } = options;
  const hide = hideBy(options.redact);
  // Hidden before it is cut: no pattern finds half a secret.
  const auditText = async (text: string) => headAndTail(visible((await shows.hide(text)).text), shownChars);
  const audit = createAudit({ dir: mailboxDir, prepare, redact: (text) => hide(text).text, clock, log });
  const budgets: Budgeting = createBudgeting({ ...options, meterTokens, policies: policiesFor });
  const approvals: Approvals = await createApprovals({
    project,
    record: options.record,
    send: options.send,
    policies,
    fixed: {
      home: options.home,
      own: options.own,
      variables: options.variables,
      secretsIn: (text) => total(options.redact(text).counts),
    },
    judgeLarge: options.judgeLarge,
    shows,
    isAtDesk: async (pid, agent) => pid !== undefined && (await options.isInteractive(pid, agent)),
    checkpoint: (cwd) => makeCheckpoint(cwd, clock()),
    audit({ text, before, ...decision }) {
      const given = Object.entries({ text, before }).flatMap(([key, value]) =>
        value === undefined ? [] : [{ key, value }],
      );
      const words = Promise.all(given.map(async ({ key, value }) => [key, await auditText(value)] as const));
      audit.write(words.then((pairs) => ({ kind: 'decision', ...decision, ...Object.fromEntries(pairs) })));
    },
    onMode: options.onMode,
    clock,
    log,
  });
  const after: AfterTool = createAfterTool({
    dir: options.dir,
    // A policy that was just broken must not switch a filter off.
    commands: async (call) => {
      const { user } = await policiesFor(call);
      const { agent, event } = call;
      const { tool, server, input, result } = event;
      return afterCommands({ agent, tool, server, input }, userPolicy ?? user, result === undefined);
    },
    redact,
    audit: (line) => audit.write({ kind: 'after', ...line }),
    watchCancel,
    tell: (key, text) =>
      options
        .send({ key, class: 'answer', parts: [{ text, entities: [] }] })
        .catch((cause) => log('warn', 'output not told', { project: project.key, error: (cause as Error).message })),
    clock,
  });
  const note = (key: string, text: string) => {
    options
      .send({ key, class: 'answer', parts: [{ text, entities: [] }] })
      .catch((cause) => log('error', 'phone not told', { project: project.key, error: (cause as Error).message }));
  };
  const ungated = createUngated({
    sizeOf,
    toolsSince,
    clock,
    mode: () => approvals.mode(),
    tell: (key, textOf, call) =>
      void (call ? describe(call) : Promise.resolve('')).then((words) => note(key, textOf(words))),
    audit: (line, call) => audit.write(describe(call).then((text) => ({ kind: 'ungated', ...line, text }))),
  });
  const switches = createSwitches({ look: options.switches, tell: note, clock, log });
  const stops = new Set<string>();
  let stopInFile: string | undefined;

  function describe({ agent, input }: Pick<ToolOfCall, 'agent' | 'input'>): Promise<string> {
    const { command, file } = toolsOf(agent);
    return auditText(command(input) ?? file(input) ?? '');
  }

  function afterTool(call: ToolEnd, host: GateHost): Promise<TurnAnswer> {
    const { tool, input } = call.event;
    const text = describe({ agent: call.agent, input });
    const line = { kind: 'tool', tool: visible(tool), session: call.session, hash: hashOf(input) } as const;
    audit.write(text.then((words) => ({ ...line, text: words })));
    return after.run(call, host);
  }

  async function onTurnStart(call: HookCall): Promise<TurnAnswer> {
    const { session } = call;
    after.turnStarts(session);
    const only = onlyTools(await policiesFor(call));
    const told = only ? `Only these tools may be used now: ${only.join(', ') || 'none'}.` : undefined;
    const { context } = after.take(session);
    const all = [told, context].filter((text) => text !== undefined);
    return all.length === 0 ? {} : { context: all.join('\n\n') };
  }

  return {
    sees(call) {
      try {
        ungated.sees(call);
      } catch (cause) {
        log('error', 'guard failed', { project: project.key, event: call.event.type, error: (cause as Error).message });
      }
    },
    passes({ agent, session, event }, { input }) {
      if (event.type === 'gate') ungated.passed(session, { agent, ...event, input: input ?? event.input });
    },
    admit: (call) => budgets.admit(call),
    async runsAfter(call) {
      const { event } = call;
      return event.type === 'toolEnd' && after.concerns({ ...call, event });
    },
    async follow(call, host) {
      const { event } = call;
      try {
        if (event.type === 'gate') return await approvals.gate({ ...call, event }, host);
        if (event.type === 'toolEnd') return await afterTool({ ...call, event }, host);
        if (event.type === 'turnStart') return await onTurnStart(call);
        if (event.type === 'turnEnd') {
          const used = await budgets.turnEnded(call);
          audit.write({ kind: 'turn', session: call.session, ...used });
        }
        if (event.type === 'sessionEnd') await after.sessionEnds(call.session);
        return {};
      } catch (cause) {
        log('error', 'guard failed', { project: project.key, event: event.type, error: (cause as Error).message });
        return {};
      }
    },
    async answer(control) {
      const { id, control: said } = control;
      if (said.type === 'stop' || said.type === 'abort') {
        // It is shown again until the turn rules have spent it.
        if (stops.has(id)) return undefined;
        stops.add(id);
        audit.write({ kind: 'stop', what: said.type, id });
        after.hurry();
        await approvals.stopAll('owner');
        return undefined;
      }
      if (said.type === 'button' && said.action.startsWith(budgetPrefix)) {
        return [await budgets.answer(`reply_${id}`, said.action)];
      }
      const before = approvals.mode();
      const items = await approvals.answer(control);
      if (approvals.mode() !== before) audit.write({ kind: 'mode', mode: approvals.mode() });
      return items;
    },
    async stoppedInFile(stop) {
      // It stands there until a turn has obeyed it, and denies what was asked before it only.
      if (stop?.id === stopInFile) return;
      stopInFile = stop?.id;
      if (!stop) return;
      audit.write({ kind: 'stop', what: stop.type, id: stop.id, by: 'another program' });
      after.hurry();
      await approvals.stopAll('file');
    },
    async tick() {
      await approvals.tick();
      await ungated.look();
      if (approvals.mode() !== 'off') await switches.look();
    },
    async readPolicies() {
      await policies();
    },
    status: () => ({
      mode: approvals.mode(),
      asked: approvals.waiting(),
      problems: [...problems, ...switches.problems()],
    }),
    async stop() {
      await after.stop();
      await audit.flush();
    },
  };
}

function total(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function hashOf(input: object): string {
  return createHash('sha256')
    .update(jsonOf(input) ?? 'nests too deep')
    .digest('hex');
}
