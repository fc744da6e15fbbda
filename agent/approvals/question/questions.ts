// The questions that wait on the phone: asked in the journal before the phone sees them, settled once, by the first verdict.

import { randomBytes } from 'node:crypto';
import { durationText } from '../../../protocol/duration.ts';
import { wayOut } from '../../../protocol/hook.ts';
import type { OutboxItem, TextPart } from '../../../protocol/relay-api.ts';
import type { TurnAnswer } from '../../../protocol/turn-events.ts';
import type { ApprovalRecord, Verdict } from '../../journal/approvals.ts';
import { maxTextOf, type ProjectState } from '../../journal/state.ts';
import type { Log } from '../../log.ts';
import { visible } from '../../visible.ts';
import { commandOf, jsonOf, type ToolCall } from '../danger/call.ts';
import { fileNow } from '../danger/surroundings.ts';
import type { Judgement } from '../policy/judge.ts';
import type { Places } from '../policy/judge-now.ts';
import type { Policies } from '../policy/policy.ts';
import { questionItem, questionKey, type Shows, verdictItem } from './question.ts';

export interface Decision {
  tool: string;
  verdict: Verdict | 'policy-deny' | 'policy-stop' | 'rewritten' | 'remembered' | 'too-many' | 'unshown';
  hash: string;
  session: string;
  why: readonly string[];
  /** What was judged, or runs instead; absent = not known any more. Whoever writes it down hides secrets in it. */
  text?: string;
  /** The call as it came, where something else runs. */
  before?: string;
  /** User id of the platform, when a person decided. */
  by?: string;
}

export interface QuestionsOptions {
  project: ProjectState;
  /** Appends to the journal with project and time; resolves when it is on the disk. */
  record(record: ApprovalRecord): Promise<void>;
  send(item: OutboxItem): Promise<void>;
  shows: Shows;
  /** Whether a person sits at the coding agent's terminal, so that a dialog there can be answered. */
  isAtDesk(pid: number | undefined, agent: string): Promise<boolean>;
  audit(decision: Decision): void;
  clock: () => number;
  log: Log;
}

export interface GateHost {
  pid: number | undefined;
  /** The host ends the hook after this long. */
  maxMs: number;
  isGone(): boolean;
  /** The coding agent went on without the answer: from now on it is gone. */
  leave(): void;
}

/** A call that waits for a person. */
export interface Asked {
  call: ToolCall;
  session: string;
  cwd: string;
  /** Of tool, server and the original arguments. */
  hash: string;
  judgement: Judgement;
  /** Where its paths led when it was asked. */
  places: Places;
  host: GateHost;
}

export interface Question extends Asked {
  id: string;
  expiresAt: number;
  onTimeout: 'deny' | 'desk';
  /** As the phone shows it. */
  part: TextPart;
  /** It may be approved for the whole session. */
  always: boolean;
  /** Set with the first verdict; a second one comes too late. */
  settling: boolean;
  resolve(answer: TurnAnswer): void;
}

export interface Questions {
  /** Holds until there is a verdict. Rejects when the question cannot be journalled. */
  ask(asked: Asked, user: Policies['user'], checkpoint: string | undefined): Promise<TurnAnswer>;
  /** Undefined = nobody waits for it any more. */
  find(id: string): Question | undefined;
  /** False = it was settled before. What cannot be journalled as approved is denied. */
  settle(question: Question, verdict: Verdict, answer: TurnAnswer, how?: HowSettled): Promise<boolean>;
  /** Settles it when its time is over or its hook is gone. */
  expireIfLate(question: Question): Promise<boolean>;
  all(): Question[];
  /** Denies what a dead daemon left open. */
  closeInterrupted(): Promise<void>;
}

export interface HowSettled {
  by?: string;
  /** Shown below the verdict: the command that runs instead, or what changed. */
  detail?: string;
  /** Of what runs instead. */
  hash?: string;
  /** The arguments that run instead. */
  runs?: Readonly<Record<string, unknown>>;
}

const tooDeep = '(arguments that nest too deep to be written down)';

/** A call as the audit names it. `input` = the arguments that run in place of its own. */
export function auditWords(call: ToolCall, input: ToolCall['input'] | undefined): { text: string; before?: string } {
  const wordsOf = (each: ToolCall) => commandOf(each) ?? jsonOf(each.input) ?? tooDeep;
  if (input === undefined) return { text: wordsOf(call) };
  return { text: wordsOf({ ...call, input }), before: wordsOf(call) };
}

const unreachedText = `The question has not reached the phone in time, because the relay or the chat platform cannot be reached, so this was denied. See \`wa-sync status\`. ${wayOut}`;
/** The journal or the outbox failed. */
export const brokenText = `The log of wa-sync says why: most often its disk is full. ${wayOut}`;

/** What the answer needs on its way to the host, before the host gives up. */
const hostMarginMs = 30_000;

export function createQuestions(options: QuestionsOptions): Questions {
  const { project, clock, log } = options;
  const waiting = new Map<string, Question>();

  async function settle(
    question: Question,
    verdict: Verdict,
    answer: TurnAnswer,
    how: HowSettled = {},
  ): Promise<boolean> {
    if (question.settling) return false;
    question.settling = true;
    const { id, call, session, judgement } = question;
    try {
      await options.record({ t: 'decided', id, verdict });
    } catch (cause) {
      log('error', 'verdict not kept', { project: project.key, id, error: (cause as Error).message });
      waiting.delete(id);
      question.resolve({ deny: `wa-sync could not keep the verdict of the owner, so this was denied. ${brokenText}` });
      return true;
    }
    waiting.delete(id);
    question.resolve(answer);
    log('info', 'approval decided', { project: project.key, id, tool: call.tool, verdict });
    const by = how.by === undefined ? {} : { by: how.by };
    const words = auditWords(call, how.runs ?? judgement.input);
    options.audit({
      tool: call.tool,
      verdict,
      hash: how.hash ?? question.hash,
      session,
      why: judgement.why,
      ...words,
      ...by,
    });
    const detail = how.detail === undefined ? undefined : visible((await options.shows.hide(how.detail)).text);
    await options
      .send(verdictItem(id, question.part, verdict, detail))
      .catch((cause) => log('warn', 'verdict not shown', { project: project.key, error: (cause as Error).message }));
    return true;
  }

  async function expire(question: Question): Promise<void> {
    if (question.host.isGone()) {
      await settle(question, 'withdrawn', { deny: 'Nobody waited for the answer any more.' });
      return;
    }
    const atDesk = question.onTimeout === 'desk' && (await options.isAtDesk(question.host.pid, question.call.agent));
    if (atDesk) await settle(question, 'desk', { ask: true, notice: 'Nobody answered on the phone.' });
    // Still open in the outbox: it never was on the phone.
    else if (project.openKeys.has(questionKey(question.id))) await settle(question, 'timeout', { deny: unreachedText });
    else await settle(question, 'timeout', { deny: 'The owner did not answer in time, so this was denied.' });
  }

  return {
    async ask(asked, user, checkpoint) {
      const { call, hash, judgement, host } = asked;
      const id = randomBytes(6).toString('hex');
      const waitMs = Math.min(user.timeoutSeconds * 1000, host.maxMs - hostMarginMs);
      if (waitMs <= 0)
        return {
          deny: `The coding agent does not wait long enough for an answer of the owner. Install its hooks anew with \`wa-sync hooks install\`. ${wayOut}`,
        };
      const expiresAt = clock() + waitMs;
      const { onTimeout } = user;
      const shown: ToolCall = { ...call, input: judgement.input ?? call.input };
      const made = await options.shows.question({
        call: shown,
        why: judgement.why,
        fileNow: await fileNow(shown, asked.cwd),
        hidesFile: judgement.rules.includes('secret-file'),
        maxText: maxTextOf(project),
        waits: durationText(waitMs),
        onTimeout,
        checkpoint,
      });
      if (!made) {
        const unshown =
          'Denied: this call is too large to be shown to the owner in time. Split it, or ask for less at once.';
        options.audit({ tool: call.tool, verdict: 'unshown', hash, session: asked.session, why: judgement.why });
        return { deny: unshown };
      }
      const { part, hides } = made;
      // Only what was shown whole, and what no rule finds, is approved for more than once.
      const always = judgement.rules.length === 0 && !hides;
      // Journal, wait, question: an answer may be here before `send` returns.
      await options.record({ t: 'asked', approval: { id, tool: call.tool, hash, expiresAt } });
      const verdict = new Promise<TurnAnswer>((resolve) => {
        waiting.set(id, { ...asked, id, expiresAt, onTimeout, part, always, settling: false, resolve });
      });
      log('info', 'approval asked', { project: project.key, id, tool: call.tool });
      const offers = { always, edit: commandOf(shown) !== undefined };
      try {
        await options.send(questionItem({ id, hash }, part, offers));
      } catch (cause) {
        log('error', 'question not sent', { project: project.key, id, error: (cause as Error).message });
        const question = waiting.get(id);
        if (question)
          await settle(question, 'withdrawn', {
            deny: `wa-sync could not ask the owner, so this was denied. ${brokenText}`,
          });
      }
      return verdict;
    },
    find(id) {
      const question = waiting.get(id);
      return question?.settling ? undefined : question;
    },
    settle,
    async expireIfLate(question) {
      if (clock() < question.expiresAt && !question.host.isGone()) return false;
      await expire(question);
      return true;
    },
    all: () => [...waiting.values()],
    async closeInterrupted() {
      for (const { id, tool, hash } of [...project.approvals.open.values()]) {
        await options.record({ t: 'decided', id, verdict: 'interrupted' });
        const source = project.outbox.get(questionKey(id))?.source;
        const part = source?.kind === 'item' ? source.item.parts[0] : undefined;
        if (part) await options.send(verdictItem(id, part, 'interrupted'));
        options.audit({ tool, verdict: 'interrupted', hash, session: '', why: [] });
      }
    },
  };
}
