// Asks the phone before a tool runs, and holds the hook until the owner, the clock or the host decides. What is not
// approved does not run: every fault ends in a deny while approvals are on. Knows no tool's hook format.

import { createHash, randomBytes } from 'node:crypto';
import type { ControlRow } from '../../protocol/log.ts';
import type { OutboxItem, TextPart } from '../../protocol/relay-api.ts';
import type { HookCall, TurnAnswer, TurnEvent } from '../../protocol/turn-events.ts';
import type { ApprovalMode, ApprovalRecord, Verdict } from '../journal/approvals.ts';
import type { ProjectState } from '../journal/state.ts';
import type { Log } from '../log.ts';
import { commandOf, type Surroundings, type ToolCall } from './builtin.ts';
import { type Judgement, judge } from './judge.ts';
import { readMode } from './modes.ts';
import type { Policies } from './policy.ts';
import {
  approvalPrefix,
  questionItem,
  questionKey,
  questionPart,
  readAction,
  verdictItem,
  verdictText,
} from './question.ts';
import { fileNow, lookAround } from './surroundings.ts';
import { visible } from './visible.ts';

export interface Decision {
  tool: string;
  verdict: Verdict | 'policy-deny' | 'policy-stop' | 'rewritten' | 'remembered';
  hash: string;
  session: string;
  why: readonly string[];
  /** Telegram user id, when a person decided. */
  by?: string;
}

export interface ApprovalsOptions {
  project: ProjectState;
  /** Appends to the journal with project and time; resolves when it is on the disk. */
  record(record: ApprovalRecord): Promise<void>;
  send(item: OutboxItem): Promise<void>;
  policies(): Promise<Policies>;
  /** `own` = the directories that a tool must not touch unasked. */
  fixed: Omit<Surroundings, 'cwd' | 'resolved'>;
  redact(text: string): string;
  /** The user of a private chat; undefined = a group. */
  ownerId: string | undefined;
  /** Whether a person sits at the coding agent's terminal, so that a dialog there can be answered. */
  isAtDesk(pid: number | undefined): Promise<boolean>;
  /** Makes a git checkpoint of the folder; undefined = there is none to make. */
  checkpoint(cwd: string): Promise<string | undefined>;
  audit(decision: Decision): void;
  /** The mode is on the disk; the gate files follow. Rejects = the mode must not be called changed. */
  onMode(mode: ApprovalMode): Promise<void>;
  clock: () => number;
  log: Log;
}

export interface GateHost {
  pid: number | undefined;
  /** The host ends the hook after this long. */
  maxMs: number | undefined;
  isGone(): boolean;
}

export type GateCall = HookCall & { event: Extract<TurnEvent, { type: 'gate' }> };

export interface Approvals {
  /** Holds until there is a verdict. Never rejects. */
  gate(call: GateCall, host: GateHost): Promise<TurnAnswer>;
  /** What the phone gets for a control of ours; undefined = not ours. */
  answer(control: ControlRow): Promise<OutboxItem[] | undefined>;
  /** STOP or abort: what is asked is denied. */
  stopAll(): Promise<void>;
  /** Deadlines, and hooks that went away. Called by the daemon's clock. Never rejects. */
  tick(): Promise<void>;
  mode(): ApprovalMode;
  /** How many questions wait. */
  waiting(): number;
}

interface Pending {
  id: string;
  call: ToolCall;
  session: string;
  cwd: string;
  hash: string;
  expiresAt: number;
  onTimeout: 'deny' | 'desk';
  judgement: Judgement;
  part: TextPart;
  host: GateHost;
  /** Set with the first verdict; a second one comes too late. */
  settling: boolean;
  resolve(answer: TurnAnswer): void;
}

/** What the answer needs on its way to the host, before the host gives up. */
const hostMarginMs = 30_000;

/** Denies what a dead daemon left open, before the first hook is served. */
export async function createApprovals(options: ApprovalsOptions): Promise<Approvals> {
  const { project, clock, log } = options;
  const pending = new Map<string, Pending>();
  /** Approved for a session: session, and hash of tool and arguments. */
  const always = new Set<string>();

  for (const approval of [...project.approvals.open.values()]) {
    await options.record({ t: 'decided', id: approval.id, verdict: 'interrupted' });
    const question = project.outbox.get(questionKey(approval.id))?.source;
    const part = question?.kind === 'item' ? question.item.parts[0] : undefined;
    if (part) await options.send(verdictItem(approval.id, part, 'interrupted'));
    options.audit({ tool: approval.tool, verdict: 'interrupted', hash: approval.hash, session: '', why: [] });
  }

  async function gate(call: GateCall, host: GateHost): Promise<TurnAnswer> {
    try {
      return await decide(call, host);
    } catch (cause) {
      log('error', 'gate failed', { project: project.key, error: (cause as Error).message });
      if (project.approvals.mode === 'off') return {};
      return { deny: 'wa-sync could not ask the owner, so this was denied. See its log.' };
    }
  }

  async function decide({ event, session, cwd }: GateCall, host: GateHost): Promise<TurnAnswer> {
    const call: ToolCall = { tool: event.tool, server: event.server, input: event.input };
    const policies = await options.policies();
    const world = await lookAround(call, options.fixed, cwd);
    const judgement = judge(call, policies, project.approvals.mode, world);
    const hash = hashOf(call);
    const { verdict, why, input } = judgement;
    const tell = (verdict: Decision['verdict']) => options.audit({ tool: call.tool, verdict, hash, session, why });
    if (verdict === 'stop') {
      tell('policy-stop');
      return { halt: `Stopped by the policy of wa-sync: ${sentence(why)}` };
    }
    if (verdict === 'deny') {
      tell('policy-deny');
      return { deny: `Denied by the policy of wa-sync: ${sentence(why)}` };
    }
    const ref = judgement.checkpoint ? await options.checkpoint(cwd) : undefined;
    if (verdict === 'ask' && !always.has(rememberedAs(session, hash))) {
      return ask({ call, session, cwd, hash, judgement, host }, policies, ref);
    }
    if (verdict === 'ask') tell('remembered');
    if (input) tell('rewritten');
    if (ref)
      await options.send(plain(`checkpoint_${hash.slice(0, 16)}_${clock().toString(36)}`, checkpointText(ref, call)));
    return input ? { input: { ...input } } : {};
  }

  async function ask(
    asked: Pick<Pending, 'call' | 'session' | 'cwd' | 'hash' | 'judgement' | 'host'>,
    { user }: Policies,
    checkpoint: string | undefined,
  ): Promise<TurnAnswer> {
    const { call, hash, judgement, host } = asked;
    const id = randomBytes(6).toString('hex');
    const waitMs = Math.min(user.timeoutSeconds * 1000, (host.maxMs ?? Number.POSITIVE_INFINITY) - hostMarginMs);
    if (waitMs <= 0) return { deny: 'The coding agent does not wait long enough for an answer of the owner.' };
    const expiresAt = clock() + waitMs;
    const shown: ToolCall = { ...call, input: judgement.input ?? call.input };
    const part = questionPart({
      call: shown,
      why: judgement.why,
      fileNow: await fileNow(shown, asked.cwd),
      redact: options.redact,
      waits: durationText(waitMs),
      onTimeout: user.onTimeout,
      checkpoint,
    });
    // Journal, wait, question: an answer may be here before `send` returns.
    await options.record({ t: 'asked', approval: { id, tool: call.tool, hash, expiresAt } });
    const verdict = new Promise<TurnAnswer>((resolve) => {
      pending.set(id, { ...asked, id, expiresAt, onTimeout: user.onTimeout, part, settling: false, resolve });
    });
    log('info', 'approval asked', { project: project.key, id, tool: call.tool });
    const offers = { always: !judgement.isDestructive, edit: commandOf(shown) !== undefined };
    try {
      await options.send(questionItem({ id, hash }, part, offers));
    } catch (cause) {
      log('error', 'question not sent', { project: project.key, id, error: (cause as Error).message });
      const entry = pending.get(id);
      if (entry) await settle(entry, 'withdrawn', { deny: 'wa-sync could not ask the owner, so this was denied.' });
    }
    return verdict;
  }

  /** The first one counts. What cannot be journalled as approved is denied. */
  async function settle(
    entry: Pending,
    verdict: Verdict,
    answer: TurnAnswer,
    how: { by?: string; edited?: string; hash?: string } = {},
  ): Promise<boolean> {
    if (entry.settling) return false;
    entry.settling = true;
    const { id, call, session, judgement } = entry;
    try {
      await options.record({ t: 'decided', id, verdict });
    } catch (cause) {
      log('error', 'verdict not kept', { project: project.key, id, error: (cause as Error).message });
      pending.delete(id);
      entry.resolve({ deny: 'wa-sync could not keep the verdict of the owner, so this was denied.' });
      return true;
    }
    pending.delete(id);
    entry.resolve(answer);
    log('info', 'approval decided', { project: project.key, id, tool: call.tool, verdict });
    const by = how.by === undefined ? {} : { by: how.by };
    options.audit({ tool: call.tool, verdict, hash: how.hash ?? entry.hash, session, why: judgement.why, ...by });
    const edited = how.edited === undefined ? undefined : visible(options.redact(how.edited));
    await options
      .send(verdictItem(id, entry.part, verdict, edited))
      .catch((cause) => log('warn', 'verdict not shown', { project: project.key, error: (cause as Error).message }));
    return true;
  }

  function approvedAnswer({ judgement }: Pending): TurnAnswer {
    return judgement.input ? { input: { ...judgement.input } } : {};
  }

  async function whoMay(userId: string): Promise<boolean> {
    const { approvers } = (await options.policies()).user;
    if (approvers) return approvers.includes(userId);
    return options.ownerId === undefined || options.ownerId === userId;
  }

  /** Undefined = the verdict is shown in the question itself. */
  async function tapped(action: string, userId: string): Promise<string | TextPart | undefined> {
    const read = readAction(action);
    const entry = read ? pending.get(read.id) : undefined;
    if (!read || !(await whoMay(userId))) return 'Only the owner can answer this. Nothing was approved.';
    if (!entry || entry.settling) {
      const decided = project.approvals.decided.get(read.id);
      return decided
        ? `This was decided before: ${verdictText(decided.verdict)}`
        : 'Too late: nobody waits for this any more. Nothing was approved.';
    }
    if (entry.hash !== read.hash) return 'This button belongs to other arguments. Nothing was approved.';
    if (isLate(entry)) {
      await expire(entry);
      return undefined;
    }
    switch (read.answer) {
      case 'approve':
        await settle(entry, 'approved', approvedAnswer(entry), { by: userId });
        return undefined;
      case 'always':
        if (entry.judgement.isDestructive) return 'This is asked each time. Nothing was approved.';
        if (await settle(entry, 'always', approvedAnswer(entry), { by: userId })) {
          always.add(rememberedAs(entry.session, entry.hash));
        }
        return undefined;
      case 'deny':
        await settle(entry, 'denied', { deny: 'The owner denied this on the phone.' }, { by: userId });
        return undefined;
      case 'edit':
        return editPrompt(entry);
    }
  }

  function editPrompt({ call, judgement }: Pending): TextPart {
    const head = 'Answer this message with the command that runs instead. Now it is:';
    const command = visible(options.redact(commandOf({ ...call, input: judgement.input ?? call.input }) ?? ''));
    const shown = command.slice(0, 2000) || '(empty)';
    return {
      text: `${head}\n${shown}`,
      entities: [{ type: 'pre', offset: head.length + 1, length: shown.length }],
    };
  }

  async function edited(action: string, userId: string, text: string): Promise<string | undefined> {
    const read = readAction(action);
    const entry = read ? pending.get(read.id) : undefined;
    if (!read || !(await whoMay(userId))) return 'Only the owner can answer this. Nothing was approved.';
    if (!entry || entry.settling || entry.hash !== read.hash) {
      return 'Too late: nobody waits for this command any more. It was not run.';
    }
    if (isLate(entry)) {
      await expire(entry);
      return 'Too late: the time for this was over. It was not run.';
    }
    const input = { ...(entry.judgement.input ?? entry.call.input), command: text.trim() };
    const call = { ...entry.call, input };
    const again = judge(call, await options.policies(), 'off', await lookAround(call, options.fixed, entry.cwd));
    if (again.verdict === 'deny' || again.verdict === 'stop') {
      return `Your policy forbids that command: ${sentence(again.why)} The question still waits.`;
    }
    await settle(entry, 'edited', { input }, { by: userId, edited: text.trim(), hash: hashOf(call) });
    return undefined;
  }

  function isLate(entry: Pending): boolean {
    return clock() >= entry.expiresAt || entry.host.isGone();
  }

  async function expire(entry: Pending): Promise<void> {
    if (entry.host.isGone()) {
      await settle(entry, 'withdrawn', { deny: 'Nobody waited for the answer any more.' });
      return;
    }
    const atDesk = entry.onTimeout === 'desk' && (await options.isAtDesk(entry.host.pid));
    if (atDesk) await settle(entry, 'desk', { ask: true, notice: 'Nobody answered on the phone.' });
    else await settle(entry, 'timeout', { deny: 'The owner did not answer in time, so this was denied.' });
  }

  async function setMode(args: string): Promise<string> {
    const asked = readMode(args);
    if (asked.mode === undefined) return asked.text(project.approvals.mode);
    const { mode } = asked;
    const before = project.approvals.mode;
    // On the way up the gates close first, on the way down the journal knows first: a crash leaves them closed.
    if (mode !== 'off') await options.onMode(mode);
    await options.record({ t: 'approvals', mode });
    if (mode === 'off') await options.onMode(mode);
    log('info', 'approvals', { project: project.key, mode, before });
    return asked.text(mode);
  }

  return {
    gate,
    async answer({ id, control }) {
      const key = `reply_${id}`;
      if (control.type === 'command' && control.name === 'approvals') return [plain(key, await setMode(control.args))];
      if (control.type === 'button' && control.action.startsWith(approvalPrefix)) {
        const reply = await tapped(control.action, control.userId);
        if (reply === undefined) return [];
        if (typeof reply === 'string') return [plain(key, reply)];
        return [{ key, class: 'reply', parts: [reply], replyAction: control.action }];
      }
      if (control.type === 'reply' && control.action.startsWith(approvalPrefix)) {
        const reply = await edited(control.action, control.userId, control.text);
        return reply === undefined ? [] : [plain(key, reply)];
      }
      return undefined;
    },
    async stopAll() {
      for (const entry of [...pending.values()]) {
        await settle(entry, 'stopped', { deny: 'The owner said STOP on the phone, so this was denied.' });
      }
    },
    async tick() {
      for (const entry of [...pending.values()]) {
        if (!isLate(entry) || entry.settling) continue;
        await expire(entry).catch((cause) =>
          log('error', 'approval not ended', { project: project.key, error: (cause as Error).message }),
        );
      }
    },
    mode: () => project.approvals.mode,
    waiting: () => pending.size,
  };
}

function hashOf({ tool, server, input }: ToolCall): string {
  return createHash('sha256')
    .update(JSON.stringify([tool, server ?? null, input]))
    .digest('hex');
}

function rememberedAs(session: string, hash: string): string {
  return `${session} ${hash}`;
}

function sentence(why: readonly string[]): string {
  return `${why.join('; ') || 'no reason given'}.`;
}

function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

function checkpointText(ref: string, { tool }: ToolCall): string {
  return `Checkpoint before ${tool}: ${ref}`;
}

function plain(key: string, text: string): OutboxItem {
  return { key, class: 'reply', parts: [{ text, entities: [] }] };
}
