// Whether a tool may run: judges the call, asks the phone where it must, and takes the owner's answers. What is not approved
// does not run: every fault ends in a deny while approvals are on. Knows no tool's hook format.

import { oneLine } from '../../protocol/lines.ts';
import type { ControlRow } from '../../protocol/log.ts';
import type { OutboxItem, TextPart } from '../../protocol/relay-api.ts';
import type { HookCall, TurnAnswer, TurnEvent } from '../../protocol/turn-events.ts';
import { ranWords } from '../drivers/tool-words.ts';
import { type ApprovalMode, approvalModes } from '../journal/approvals.ts';
import { phoneTexts } from '../journal/state.ts';
import { textItem } from '../plain-text.ts';
import { visible } from '../visible.ts';
import { commandOf, type ToolCall, toolsOf } from './danger/call.ts';
import type { PermissionCall } from './permissions.ts';
import { type Change, type JudgeOptions, judgeNow, movedPlace, whatChanged, whysText } from './policy/judge-now.ts';
import type { Policies } from './policy/policy.ts';
import { type Asked, english, type GateHost, hashOf } from './question/asked.ts';
import { actionOf, approvalPrefix, readAction, withCode } from './question/question.ts';
import { brokenText, createQuestions, type Question, type QuestionsOptions } from './question/questions.ts';
import { makeCheckpoint } from './run.ts';

export interface ApprovalsOptions extends QuestionsOptions, JudgeOptions {
  /** The gates for the time without a daemon. Rejects = the mode must not be called changed. */
  onMode(mode: ApprovalMode): Promise<void>;
}

/** UTF-16 units of the agent's own reason. */
const reasonChars = 300;

export type GateCall = HookCall & { event: Extract<TurnEvent, { type: 'gate' }> };

/** Resolves when what a dead daemon left open is denied, before the first hook is served. */
export async function createApprovals(options: ApprovalsOptions) {
  const { project, clock, log } = options;
  const questions = createQuestions(options);
  const texts = () => phoneTexts(project);
  /** Approved for a session: session, hash of tool and arguments, what a policy made of these, and where they led. */
  const always = new Set<string>();
  await questions.closeInterrupted();

  async function decide({ agent, event, session, cwd }: GateCall, host: GateHost): Promise<TurnAnswer> {
    const call: ToolCall = { agent, tool: event.tool, server: event.server, input: event.input };
    const { policies, ...judged } = await judgeNow(call, cwd, project.approvals.mode, options);
    const asked: Asked = { ...judged, call, session, cwd, hash: hashOf(call), host };
    const { verdict, why, input, rules, checkpoint } = judged.judgement;
    if (verdict === 'stop') {
      questions.note(asked, 'policy-stop');
      return { halt: `Stopped by the policy of wa-sync: ${whysText(why, english)}.` };
    }
    if (verdict === 'deny') {
      questions.note(asked, 'policy-deny');
      return { deny: `Denied by the policy of wa-sync: ${whysText(why, english)}.` };
    }
    const ref = checkpoint ? await makeCheckpoint(cwd, clock()) : undefined;
    if (verdict === 'ask') {
      // What the rules find may have changed since.
      const isRemembered = rules.length === 0 && always.has(alwaysKey(asked));
      if (!isRemembered) return questions.ask(asked, policies.user, ref);
      questions.note(asked, 'remembered');
    }
    const isAllowed = verdict === 'ask';
    if (input) questions.note(asked, 'rewritten');
    if (ref) {
      const key = `checkpoint_${asked.hash.slice(0, 16)}_${clock().toString(36)}`;
      const before = ranWords(call, texts(), 'before');
      await options.send(textItem(key, 'reply', texts().approvals.checkpoint(before, ref)));
    }
    return { ...(isAllowed ? { allow: true as const } : {}), ...inputAnswer(input) };
  }

  /** Beside a dialog of the host: it asks already, so that the mode does not matter, and only what a policy forbids is decided unasked. */
  async function besideDialog({ agent, event, session, cwd }: PermissionCall, host: GateHost): Promise<TurnAnswer> {
    const call: ToolCall = { agent, tool: event.tool, server: event.server, input: event.input };
    const { question } = toolsOf(agent);
    // Its gate has shown the question, and only the terminal can answer it.
    if (call.server === undefined && call.tool === question?.tool) return {};
    const { policies, ...judged } = await judgeNow(call, cwd, project.approvals.mode, options);
    const reason = event.why === undefined ? [] : [{ reason: 'ofAgent', of: oneLine(event.why, reasonChars) } as const];
    const judgement = { ...judged.judgement, why: [...judged.judgement.why, ...reason] };
    const asked: Asked = { ...judged, judgement, call, session, cwd, hash: hashOf(call), host, besideDialog: true };
    const { verdict, why, rules, input } = judged.judgement;
    if (verdict === 'deny' || verdict === 'stop') {
      questions.note(asked, 'policy-deny');
      return { deny: `Denied by the policy of wa-sync: ${whysText(why, english)}.` };
    }
    if (rules.length > 0 || !always.has(alwaysKey(asked))) return questions.ask(asked, policies.user, undefined);
    questions.note(asked, 'remembered');
    return { allow: true, ...inputAnswer(input) };
  }

  /** Why this user's answer does not count; undefined = it does. */
  async function refusalOf(userId: string): Promise<string | undefined> {
    const { user, userUnread } = await options.policies();
    // In a group each user whom the relay admits may answer; while the phone is unknown, no user may.
    const owner = project.phone?.owner;
    if (owner === null && userUnread) {
      return texts().approvals.policyUnread;
    }
    const mayAnswer = user.approvers?.includes(userId) ?? (owner === null || owner === userId);
    return mayAnswer ? undefined : texts().approvals.onlyOwner;
  }

  /** What a button or a reply answers. A text = why it answers nothing; undefined = the question says that its time was over. */
  async function answered(action: string, userId: string) {
    const read = readAction(action);
    const refusal = await refusalOf(userId);
    const { approvals, question: said } = texts();
    if (!read || refusal !== undefined) return refusal ?? approvals.unknownButton;
    const question = questions.find(read.id);
    if (!question) {
      const decided = project.approvals.decided.get(read.id);
      if (decided) return approvals.before(said.verdicts[decided.verdict].replace(/:$/, '.'));
      return approvals.tooLate;
    }
    if (question.hash !== read.hash) return approvals.otherArguments;
    return (await questions.expireIfLate(question)) ? undefined : { question, answer: read.answer };
  }

  /** Undefined = the question itself shows what became of it. */
  async function tapped(action: string, userId: string): Promise<string | TextPart | undefined> {
    const found = await answered(action, userId);
    if (found === undefined || typeof found === 'string') return found;
    const { question, answer } = found;
    switch (answer) {
      case 'approve':
        await approve(question, 'approved', { by: userId });
        return undefined;
      case 'always':
        if (!question.always) return texts().approvals.eachTime;
        await approve(question, 'always', { by: userId, onKept: () => always.add(alwaysKey(question)) });
        return undefined;
      case 'deny':
        await questions.settle(question, 'denied', { deny: 'The owner denied this on the phone.' }, { by: userId });
        return undefined;
      case 'edit':
        return editPrompt(question);
    }
  }

  /** The owner said yes to what was shown; whether that is still what runs is looked at last. */
  async function approve(
    question: Question,
    verdict: 'approved' | 'always',
    how: { by: string; onKept?: () => void },
  ): Promise<void> {
    const now = await judgeNow(question.call, question.cwd, project.approvals.mode, options);
    const change = whatChanged(question, now);
    if (change !== undefined) return refuse(question, change, how.by);
    await questions.settle(question, verdict, { allow: true, ...inputAnswer(question.judgement.input) }, how);
  }

  async function refuse(question: Question, change: Change, by: string): Promise<void> {
    const deny = `Denied although the owner said yes, because this changed after the question: ${change(english)}.`;
    await questions.settle(question, 'changed', { deny }, { by, detail: change(texts()) });
  }

  async function editPrompt(question: Question): Promise<TextPart> {
    await questions.edit(question);
    const { call, judgement } = question;
    const { approvals } = texts();
    const command = commandOf({ ...call, input: judgement.input ?? call.input }) ?? '';
    const shown = visible((await options.shows.hide(command, texts())).text).slice(0, 2000) || approvals.emptyCommand;
    return withCode(approvals.replyWith, shown);
  }

  /** Without what rewrites a call: the words of the owner run as they are, so they are judged as they are. */
  async function asWritten(): Promise<Policies> {
    const policies = await options.policies();
    const rules = policies.user.rules.filter((rule) => rule.do !== 'rewrite');
    return { ...policies, user: { ...policies.user, rules } };
  }

  /** The owner's own words are the approval; only the policy may still forbid them. */
  async function edited(action: string, userId: string, text: string): Promise<string | undefined> {
    const found = await answered(action, userId);
    const { approvals } = texts();
    if (found === undefined) return approvals.lateCommand;
    if (typeof found === 'string') return `${found} ${approvals.notRun}`;
    const { question } = found;
    const command = text.trim();
    const now = question.judgement.input ?? question.call.input;
    const call = { ...question.call, input: toolsOf(question.call.agent).withCommand(now, command) };
    const judged = await judgeNow(call, question.cwd, 'off', { ...options, policies: asWritten });
    const { verdict, why } = judged.judgement;
    if (verdict === 'deny' || verdict === 'stop') {
      return approvals.forbidden(whysText(why, texts()));
    }
    const moved = movedPlace(question, judged);
    if (moved !== undefined) {
      await refuse(question, moved, userId);
      return undefined;
    }
    const how = { by: userId, detail: command, hash: hashOf(call), runs: call.input };
    await questions.settle(question, 'edited', { allow: true, input: { ...call.input } }, how);
    return undefined;
  }

  async function setMode(args: string): Promise<string> {
    const word = args.trim().toLowerCase();
    const mode = approvalModes.find((each) => each === word);
    const { approvals } = texts();
    if (mode === undefined) {
      const unknown = word === '' ? '' : `${approvals.unknownMode(word.slice(0, 40))} `;
      return `${unknown}${approvals.modes[project.approvals.mode]}`;
    }
    // On the way up the gates close first, on the way down the journal knows first: a crash leaves them closed.
    if (mode !== 'off') await options.onMode(mode);
    await options.record({ t: 'approvals', mode });
    if (mode === 'off') await options.onMode(mode);
    log('info', 'approvals', { project: project.key, mode });
    return approvals.modes[mode];
  }

  return {
    /** Holds until there is a verdict. Never rejects. */
    async gate(call: GateCall, host: GateHost): Promise<TurnAnswer> {
      try {
        return await decide(call, host);
      } catch (cause) {
        log('error', 'gate failed', { project: project.key, error: (cause as Error).message });
        if (project.approvals.mode === 'off') return {};
        return { deny: `wa-sync could not ask the owner, so this was denied. ${brokenText}` };
      }
    },
    /** Holds until there is a verdict, or the terminal was quicker. Never rejects. */
    async permission(call: PermissionCall, host: GateHost): Promise<TurnAnswer> {
      try {
        return await besideDialog(call, host);
      } catch (cause) {
        log('error', 'permission not asked', { project: project.key, error: (cause as Error).message });
        return {};
      }
    },
    /** What the phone gets for a control about approvals; undefined = another control. */
    async answer({ id, control }: ControlRow): Promise<OutboxItem[] | undefined> {
      const key = `reply_${id}`;
      if (control.type === 'command' && control.name === 'approvals') {
        return [textItem(key, 'reply', await setMode(control.args))];
      }
      if (control.type !== 'button' && control.type !== 'reply') return undefined;
      const { action, userId } = control;
      if (!action.startsWith(approvalPrefix)) return undefined;
      const reply = await (control.type === 'reply' ? edited(action, userId, control.text) : tapped(action, userId));
      if (reply === undefined) return [];
      if (typeof reply === 'string') return [textItem(key, 'reply', reply)];
      return [{ key, class: 'reply', parts: [reply], replyAction: action, replyHint: texts().approvals.replyHint }];
    },
    /** STOP or abort, of the owner or of another program: what is asked is denied. */
    async stopAll(by: 'owner' | 'file'): Promise<void> {
      const [verdict, deny] = stopVerdicts[by];
      for (const question of questions.all()) await questions.settle(question, verdict, { deny });
    },
    /** Deadlines, and hooks that went away. Called by the daemon's clock. Never rejects. */
    async tick(): Promise<void> {
      for (const question of questions.all()) {
        await questions
          .expireIfLate(question)
          .catch((cause) =>
            log('error', 'approval not ended', { project: project.key, error: (cause as Error).message }),
          );
      }
    },
    refusalOf,
    /** The question whose Edit… the owner tapped last, and that still waits. */
    editing: () => questions.all().findLast(({ editing, settling }) => editing && !settling)?.id,
    /** A text of the owner runs in place of the call in this question. Undefined = it does; a text = why not. */
    async runInstead(id: string, userId: string, text: string): Promise<string | undefined> {
      const question = questions.find(id);
      if (!question?.editing) return texts().approvals.questionOver;
      return edited(actionOf(id, question.hash, 'edit'), userId, text);
    },
    mode: () => project.approvals.mode,
    /** How many questions wait. */
    waiting: () => questions.all().length,
  };
}

const stopVerdicts = {
  owner: ['stopped', 'The owner said STOP on the phone, so this was denied.'],
  file: ['stoppedInFile', 'Another program wrote a STOP into the inbox file, so this was denied.'],
} as const;

/** `undefined` = the call runs as it came. */
function inputAnswer(input: Readonly<Record<string, unknown>> | undefined): TurnAnswer {
  return input ? { input: { ...input } } : {};
}

function alwaysKey({ session, hash, judgement, places }: Asked): string {
  return `${session} ${hash} ${JSON.stringify([judgement.input ?? null, ...places])}`;
}
