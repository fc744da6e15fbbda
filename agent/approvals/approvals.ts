// Whether a tool may run: judges the call, asks the phone where it must, and takes the owner's answers. What is not approved
// does not run: every fault ends in a deny while approvals are on. Knows no tool's hook format.

import { createHash, randomBytes } from 'node:crypto';
import type { ControlRow } from '../../protocol/log.ts';
import type { OutboxItem, TextPart } from '../../protocol/relay-api.ts';
import type { HookCall, TurnAnswer, TurnEvent } from '../../protocol/turn-events.ts';
import type { ApprovalMode } from '../journal/approvals.ts';
import { visible } from '../visible.ts';
import { commandOf, jsonOf, type ToolCall, toolsOf } from './danger/call.ts';
import { readMode } from './modes.ts';
import { type JudgeOptions, judgeNow, movedPlace, whatChanged } from './policy/judge-now.ts';
import type { Policies } from './policy/policy.ts';
import { approvalPrefix, readAction, verdictText } from './question/question.ts';
import {
  auditWords,
  brokenText,
  createQuestions,
  type Decision,
  type GateHost,
  type Question,
  type QuestionsOptions,
} from './question/questions.ts';

export interface ApprovalsOptions extends QuestionsOptions, JudgeOptions {
  /** Makes a git checkpoint of the folder; undefined = a checkpoint cannot be made. */
  checkpoint(cwd: string): Promise<string | undefined>;
  /** The gates for the time without a daemon. Rejects = the mode must not be called changed. */
  onMode(mode: ApprovalMode): Promise<void>;
}

export type GateCall = HookCall & { event: Extract<TurnEvent, { type: 'gate' }> };

export interface Approvals {
  /** Holds until there is a verdict. Never rejects. */
  gate(call: GateCall, host: GateHost): Promise<TurnAnswer>;
  /** What the phone gets for a control about approvals; undefined = another control. */
  answer(control: ControlRow): Promise<OutboxItem[] | undefined>;
  /** STOP or abort, of the owner or of another program: what is asked is denied. */
  stopAll(by: 'owner' | 'file'): Promise<void>;
  /** Deadlines, and hooks that went away. Called by the daemon's clock. Never rejects. */
  tick(): Promise<void>;
  mode(): ApprovalMode;
  /** How many questions wait. */
  waiting(): number;
}

/** Resolves when what a dead daemon left open is denied, before the first hook is served. */
export async function createApprovals(options: ApprovalsOptions): Promise<Approvals> {
  const { project, clock, log } = options;
  const questions = createQuestions(options);
  /** Approved for a session: session, hash of tool and arguments, what a policy made of these, and where they led. */
  const always = new Set<string>();
  await questions.closeInterrupted();

  async function decide({ agent, event, session, cwd }: GateCall, host: GateHost): Promise<TurnAnswer> {
    const call: ToolCall = { agent, tool: event.tool, server: event.server, input: event.input };
    const { judgement, policies, places } = await judgeNow(call, cwd, project.approvals.mode, options);
    const hash = hashOf(call);
    const { verdict, why, input } = judgement;
    const words = auditWords(call, input);
    const note = (noted: Decision['verdict']) =>
      options.audit({ tool: call.tool, verdict: noted, hash, session, why, ...words });
    if (verdict === 'stop') {
      note('policy-stop');
      return { halt: `Stopped by the policy of wa-sync: ${sentence(why)}` };
    }
    if (verdict === 'deny') {
      note('policy-deny');
      return { deny: `Denied by the policy of wa-sync: ${sentence(why)}` };
    }
    const ref = judgement.checkpoint ? await options.checkpoint(cwd) : undefined;
    // What the rules find may have changed since.
    const remembered = judgement.rules.length === 0 && always.has(alwaysKey({ session, hash, judgement, places }));
    if (verdict === 'ask' && !remembered) {
      return questions.ask({ call, session, cwd, hash, judgement, places, host }, policies.user, ref);
    }
    if (verdict === 'ask') note('remembered');
    if (input) note('rewritten');
    if (ref) {
      const key = `checkpoint_${hash.slice(0, 16)}_${clock().toString(36)}`;
      await options.send(plain(key, `Checkpoint before ${call.tool}: ${ref}`));
    }
    return inputAnswer(input);
  }

  /** Why this user's answer does not count; undefined = it does. */
  async function refusalOf(userId: string): Promise<string | undefined> {
    const { user, userUnread } = await options.policies();
    // In a group each user whom the relay admits may answer; while the phone is unknown, no user may.
    const owner = project.phone?.owner;
    if (owner === null && userUnread) {
      return 'policy.json cannot be read, so wa-sync does not know who may answer this. Nothing was approved. `wa-sync approvals` names the mistake.';
    }
    const mayAnswer = user.approvers?.includes(userId) ?? (owner === null || owner === userId);
    return mayAnswer ? undefined : 'Only the owner can answer this. Nothing was approved.';
  }

  /** Undefined = the question itself shows what became of it. */
  async function tapped(action: string, userId: string): Promise<string | TextPart | undefined> {
    const read = readAction(action);
    const refusal = await refusalOf(userId);
    if (!read || refusal !== undefined) return refusal ?? unknownAnswer;
    const question = questions.find(read.id);
    if (!question) {
      const decided = project.approvals.decided.get(read.id);
      if (decided) return `This was decided before: ${verdictText(decided.verdict)}`;
      return 'Too late: the coding agent no longer waits for this. Nothing was approved.';
    }
    if (question.hash !== read.hash) return 'This button belongs to a call with other arguments. Nothing was approved.';
    if (await questions.expireIfLate(question)) return undefined;
    switch (read.answer) {
      case 'approve':
        await approve(question, 'approved', userId);
        return undefined;
      case 'always':
        if (!question.always) return 'wa-sync asks for this call each time. Nothing was approved.';
        if (await approve(question, 'always', userId)) always.add(alwaysKey(question));
        return undefined;
      case 'deny':
        await questions.settle(question, 'denied', { deny: 'The owner denied this on the phone.' }, { by: userId });
        return undefined;
      case 'edit':
        return editPrompt(question);
    }
  }

  /** The owner said yes to what was shown; whether that is still what runs is looked at last. False = it was not approved. */
  async function approve(question: Question, verdict: 'approved' | 'always', by: string): Promise<boolean> {
    const now = await judgeNow(question.call, question.cwd, project.approvals.mode, options);
    const change = whatChanged(question, now);
    if (change === undefined) return questions.settle(question, verdict, inputAnswer(question.judgement.input), { by });
    await refuse(question, change, by);
    return false;
  }

  async function refuse(question: Question, change: string, by: string): Promise<void> {
    const deny = `Denied although the owner said yes, because this changed after the question: ${change}.`;
    await questions.settle(question, 'changed', { deny }, { by, detail: change });
  }

  async function editPrompt({ call, judgement }: Question): Promise<TextPart> {
    const head = 'Answer this message with the command that runs instead. Now it is:';
    const command = visible(
      (await options.shows.hide(commandOf({ ...call, input: judgement.input ?? call.input }) ?? '')).text,
    );
    const shown = command.slice(0, 2000) || '(empty)';
    return {
      text: `${head}\n${shown}`,
      entities: [{ type: 'pre', offset: head.length + 1, length: shown.length }],
    };
  }

  /** Without what rewrites a call: the words of the owner run as they are, so they are judged as they are. */
  async function asWritten(): Promise<Policies> {
    const policies = await options.policies();
    const rules = policies.user.rules.filter((rule) => rule.do !== 'rewrite');
    return { ...policies, user: { ...policies.user, rules } };
  }

  /** The owner's own words are the approval; only the policy may still forbid them. */
  async function edited(action: string, userId: string, text: string): Promise<string | undefined> {
    const read = readAction(action);
    const refusal = await refusalOf(userId);
    if (!read || refusal !== undefined) return refusal ?? unknownAnswer;
    const question = questions.find(read.id);
    if (!question || question.hash !== read.hash) {
      return 'Too late: the coding agent no longer waits for this command. It was not run.';
    }
    if (await questions.expireIfLate(question))
      return 'Too late: the time to answer was over. The command was not run.';
    const command = text.trim();
    const now = question.judgement.input ?? question.call.input;
    const call = { ...question.call, input: toolsOf(question.call.agent).withCommand(now, command) };
    const { judgement, places } = await judgeNow(call, question.cwd, 'off', { ...options, policies: asWritten });
    if (judgement.verdict === 'deny' || judgement.verdict === 'stop') {
      return `Your policy forbids that command: ${sentence(judgement.why)} The question still waits.`;
    }
    const moved = movedPlace(question.places, places);
    if (moved !== undefined) {
      await refuse(question, moved, userId);
      return undefined;
    }
    const how = { by: userId, detail: command, hash: hashOf(call), runs: call.input };
    await questions.settle(question, 'edited', inputAnswer(call.input), how);
    return undefined;
  }

  async function setMode(args: string): Promise<string> {
    const asked = readMode(args);
    if (asked.mode === undefined) return asked.text(project.approvals.mode);
    const { mode } = asked;
    // On the way up the gates close first, on the way down the journal knows first: a crash leaves them closed.
    if (mode !== 'off') await options.onMode(mode);
    await options.record({ t: 'approvals', mode });
    if (mode === 'off') await options.onMode(mode);
    log('info', 'approvals', { project: project.key, mode });
    return asked.text(mode);
  }

  return {
    async gate(call, host) {
      try {
        return await decide(call, host);
      } catch (cause) {
        log('error', 'gate failed', { project: project.key, error: (cause as Error).message });
        if (project.approvals.mode === 'off') return {};
        return { deny: `wa-sync could not ask the owner, so this was denied. ${brokenText}` };
      }
    },
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
    async stopAll(by) {
      const [verdict, deny] = stopVerdicts[by];
      for (const question of questions.all()) await questions.settle(question, verdict, { deny });
    },
    async tick() {
      for (const question of questions.all()) {
        await questions
          .expireIfLate(question)
          .catch((cause) =>
            log('error', 'approval not ended', { project: project.key, error: (cause as Error).message }),
          );
      }
    },
    mode: () => project.approvals.mode,
    waiting: () => questions.all().length,
  };
}

const unknownAnswer = 'wa-sync does not know this button. Nothing was approved.';

const stopVerdicts = {
  owner: ['stopped', 'The owner said STOP on the phone, so this was denied.'],
  file: ['stoppedInFile', 'Another program wrote a STOP into the inbox file, so this was denied.'],
} as const;

/** `undefined` = the call runs as it came. */
function inputAnswer(input: Readonly<Record<string, unknown>> | undefined): TurnAnswer {
  return input ? { input: { ...input } } : {};
}

/** Two calls that cannot be written down are never the same. */
function hashOf({ tool, server, input }: ToolCall): string {
  const text = jsonOf([tool, server ?? null, input]) ?? randomBytes(32);
  return createHash('sha256').update(text).digest('hex');
}

function alwaysKey({
  session,
  hash,
  judgement,
  places,
}: Pick<Question, 'session' | 'hash' | 'judgement' | 'places'>): string {
  return `${session} ${hash} ${JSON.stringify([judgement.input ?? null, ...places])}`;
}

function sentence(why: readonly string[]): string {
  return `${why.join('; ') || 'no reason given'}.`;
}

function plain(key: string, text: string): OutboxItem {
  return { key, class: 'reply', parts: [{ text, entities: [] }] };
}
