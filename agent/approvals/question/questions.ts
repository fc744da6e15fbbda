// The questions that wait on the phone: bounded in number, in the journal before the phone sees them, settled once, by the first verdict.

import { randomBytes } from 'node:crypto';
import { wayOut } from '../../../protocol/hook.ts';
import type { OutboxItem, TextPart } from '../../../protocol/relay-api.ts';
import type { TurnAnswer } from '../../../protocol/turn-events.ts';
import type { ApprovalRecord, Verdict } from '../../journal/approvals.ts';
import { languageOf, maxTextOf, type ProjectState, phoneTexts } from '../../journal/state.ts';
import type { Log } from '../../log.ts';
import { textItem } from '../../plain-text.ts';
import { visible } from '../../visible.ts';
import { commandOf, type ToolCall } from '../danger/call.ts';
import { fileNow } from '../danger/surroundings.ts';
import type { Policies } from '../policy/policy.ts';
import { type Asked, type Decision, english, whysIn, wordsOf } from './asked.ts';
import { questionItem, questionKey, type Shows, verdictItem } from './question.ts';

export interface QuestionsOptions {
  project: ProjectState;
  /** Appends to the journal with project and time; resolves when the record is on the disk. */
  record(record: ApprovalRecord): Promise<void>;
  send(item: OutboxItem): Promise<void>;
  /** `send` for what changes no verdict: a failure is logged. Never rejects. */
  show(item: OutboxItem): Promise<void>;
  shows: Shows;
  /** Whether a process is a person's terminal, so that a dialog there can be answered. */
  isInteractive(pid: number, agent: string): Promise<boolean>;
  audit(decision: Decision): void;
  clock: () => number;
  log: Log;
}

export interface Question extends Asked {
  id: string;
  expiresAt: number;
  onTimeout: 'deny' | 'desk';
  /** As the phone shows it. */
  part: TextPart;
  /** It is in the outbox. */
  queued: boolean;
  /** It may be approved for the whole session. */
  always: boolean;
  /** Edit… was tapped: the phone has a message whose reply runs instead. */
  editing: boolean;
  /** Set with the first verdict; a second one comes too late. */
  settling: boolean;
  resolve(answer: TurnAnswer): void;
}

interface HowSettled {
  by?: string;
  /** Shown below the verdict: the command that runs instead, or what changed. */
  detail?: string;
  /** Of what runs instead. */
  hash?: string;
  /** The arguments that run instead. */
  runs?: Readonly<Record<string, unknown>>;
  /** Called when the verdict is in the journal, before the hook hears of it: the same call may come again at once. */
  onKept?: () => void;
}

const unreachedText = `The question has not reached the phone in time, because the relay or the chat platform cannot be reached, so this was denied. See \`wa-sync status\`. ${wayOut}`;
/** The journal or the outbox failed. */
export const brokenText = `The log of wa-sync says why: most often its disk is full. ${wayOut}`;

const unkeptText = `The question waited for the disk until its time was over, so this was denied. ${brokenText}`;

/** What the answer needs on its way to the host, before the host gives up. */
const hostMarginMs = 30_000;

/** A person answers one question after the other. More questions come from a loop, and each holds a hook, a call and a message. */
export const maxOpenQuestions = 50;

export function createQuestions(options: QuestionsOptions) {
  const { project, shows, clock, log } = options;
  const waiting = new Map<string, Question>();
  /** Questions that wait and questions that are being asked. */
  let open = 0;
  let isLimitShown = false;

  function note({ call, hash, session, judgement }: Asked, verdict: Decision['verdict'], more: Partial<Decision> = {}) {
    options.audit({ tool: call.tool, verdict, hash, session, why: whysIn(english, judgement), ...more });
  }

  function denyOneMore(asked: Asked): TurnAnswer {
    if (asked.besideDialog) return {};
    note(asked, 'too-many');
    if (!isLimitShown) {
      isLimitShown = true;
      log('warn', 'too many approvals asked', { project: project.key, open });
      const text = phoneTexts(project).approvals.tooMany(maxOpenQuestions);
      void options.show(textItem(`notice_${randomBytes(12).toString('hex')}`, 'approval', text));
    }
    return {
      deny: `Denied: ${maxOpenQuestions} calls already wait for the owner's answer, and no more are asked. Wait for those, or ask for less at once.`,
    };
  }

  /** False = it was settled before. A verdict that cannot be journalled denies. */
  async function settle(
    question: Question,
    verdict: Verdict,
    answer: TurnAnswer,
    { by, detail, hash = question.hash, runs = question.judgement.input, onKept }: HowSettled = {},
  ): Promise<boolean> {
    if (question.settling) return false;
    question.settling = true;
    const { id, call } = question;
    try {
      await options.record({ t: 'decided', id, verdict });
    } catch (cause) {
      log('error', 'verdict not kept', { project: project.key, id, error: (cause as Error).message });
      waiting.delete(id);
      question.resolve(
        question.besideDialog
          ? {}
          : { deny: `wa-sync could not keep the verdict of the owner, so this was denied. ${brokenText}` },
      );
      return true;
    }
    waiting.delete(id);
    onKept?.();
    question.resolve(answer);
    log('info', 'approval decided', { project: project.key, id, tool: call.tool, verdict });
    note(question, verdict, { hash, ...wordsOf(call, runs), ...(by === undefined ? {} : { by }) });
    const shown = detail === undefined ? undefined : visible((await shows.hide(detail, phoneTexts(project))).text);
    await options.show(verdictItem(id, question.part, verdict, phoneTexts(project), shown));
    return true;
  }

  /** Settles a question whose time is over or whose hook is gone. True = settled now. */
  async function expireIfLate(question: Question): Promise<boolean> {
    const { id, call, host, expiresAt, onTimeout, besideDialog } = question;
    if (besideDialog) {
      const isOver = host.isGone();
      if (isOver || clock() >= expiresAt) await settle(question, isOver ? 'elsewhere' : 'desk', {});
      return isOver || clock() >= expiresAt;
    }
    if (host.isGone()) {
      await settle(question, 'withdrawn', { deny: 'The coding agent no longer waited for the answer.' });
      return true;
    }
    if (clock() < expiresAt) return false;
    const isAtDesk =
      onTimeout === 'desk' && host.pid !== undefined && (await options.isInteractive(host.pid, call.agent));
    if (isAtDesk) {
      await settle(question, 'desk', { ask: true, notice: 'The question on the phone was not answered in time.' });
    } else {
      // A key that is still open was never on the phone.
      const isUnsent = project.openKeys.has(questionKey(id));
      const deny = isUnsent ? unreachedText : 'The owner did not answer in time, so this was denied.';
      await settle(question, 'timeout', { deny: question.queued ? deny : unkeptText });
    }
    return true;
  }

  async function ask(asked: Asked, user: Policies['user'], checkpoint: string | undefined): Promise<TurnAnswer> {
    const { call, hash, judgement, host, besideDialog } = asked;
    const id = randomBytes(6).toString('hex');
    const waitMs = Math.min(user.timeoutSeconds * 1000, host.maxMs - hostMarginMs);
    if (waitMs <= 0 && besideDialog) return {};
    if (waitMs <= 0)
      return {
        deny: `The coding agent does not wait long enough for an answer of the owner. Install its hooks anew with \`wa-sync hooks install\`. ${wayOut}`,
      };
    const expiresAt = clock() + waitMs;
    const onTimeout = besideDialog ? 'desk' : user.onTimeout;
    const runs: ToolCall = { ...call, input: judgement.input ?? call.input };
    const texts = phoneTexts(project);
    const shown = await shows.question({
      call: runs,
      why: whysIn(texts, judgement),
      fileNow: await fileNow(runs, asked.cwd),
      hidesFile: judgement.rules.includes('secret-file'),
      maxText: maxTextOf(project),
      waits: texts.words.duration(waitMs),
      onTimeout,
      language: languageOf(project),
      checkpoint,
    });
    if (!shown && besideDialog) return {};
    if (!shown) {
      note(asked, 'unshown');
      return {
        deny: 'Denied: this call is too large to be shown to the owner in time. Split it, or ask for less at once.',
      };
    }
    const { part, hides } = shown;
    // Only a call that was shown whole, and in which no rule finds anything, is approved for more than once.
    const always = judgement.rules.length === 0 && !hides;
    // Journal, wait, question: an answer may be here before `send` returns.
    await options.record({
      t: 'asked',
      approval: { id, tool: call.tool, hash, expiresAt, ...(besideDialog ? { besideDialog } : {}) },
    });
    const verdict = new Promise<TurnAnswer>((resolve) => {
      waiting.set(id, {
        ...asked,
        id,
        expiresAt,
        onTimeout,
        part,
        queued: false,
        always,
        editing: false,
        settling: false,
        resolve,
      });
    });
    log('info', 'approval asked', { project: project.key, id, tool: call.tool });
    try {
      await options.send(questionItem({ id, hash }, part, { always, edit: commandOf(runs) !== undefined }, texts));
      const question = waiting.get(id);
      if (question) question.queued = true;
    } catch (cause) {
      log('error', 'question not sent', { project: project.key, id, error: (cause as Error).message });
      const deny = `wa-sync could not ask the owner, so this was denied. ${brokenText}`;
      const question = waiting.get(id);
      if (question) await (besideDialog ? settle(question, 'elsewhere', {}) : settle(question, 'withdrawn', { deny }));
    }
    return verdict;
  }

  return {
    /** Notes the words of the call as well. */
    note: (asked: Asked, verdict: Decision['verdict']) =>
      note(asked, verdict, wordsOf(asked.call, asked.judgement.input)),
    /**
     * Holds until there is a verdict. Beyond `maxOpenQuestions` it denies at once, and the phone is told once. Rejects when the question
     * cannot be journalled.
     */
    async ask(asked: Asked, user: Policies['user'], checkpoint: string | undefined): Promise<TurnAnswer> {
      if (open >= maxOpenQuestions) return denyOneMore(asked);
      open += 1;
      try {
        return await ask(asked, user, checkpoint);
      } finally {
        open -= 1;
        if (open === 0) isLimitShown = false;
      }
    },
    /** Undefined = its hook no longer waits. */
    find(id: string): Question | undefined {
      const question = waiting.get(id);
      return question?.settling ? undefined : question;
    },
    /** Marks a question as one that waits for the owner's own command, on the phone as well. */
    async edit(question: Question): Promise<void> {
      const { id, hash, part, always } = question;
      question.editing = true;
      await options.show(questionItem({ id, hash }, part, { always, edit: true }, phoneTexts(project), true));
    },
    settle,
    expireIfLate,
    all: () => [...waiting.values()],
    /** Ends what a dead daemon left open: its hook has denied, or left the call to the dialog at the terminal. */
    async closeInterrupted(): Promise<void> {
      for (const { id, tool, hash, besideDialog } of [...project.approvals.open.values()]) {
        const verdict = besideDialog ? 'elsewhere' : 'interrupted';
        await options.record({ t: 'decided', id, verdict });
        const source = project.outbox.get(questionKey(id))?.source;
        const part = source?.kind === 'item' ? source.item.parts[0] : undefined;
        if (part) await options.send(verdictItem(id, part, verdict, phoneTexts(project)));
        options.audit({ tool, verdict, hash, session: '', why: [] });
      }
    },
  };
}
