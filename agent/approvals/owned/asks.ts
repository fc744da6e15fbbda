// What an owned session asks of the owner, until it is answered: in the journal before the phone sees it, shown as one message that is
// edited in place, settled once, by the first who decides. There is no deadline, and no answer is no decision.

import { randomBytes } from 'node:crypto';
import { cutText } from '../../../protocol/lines.ts';
import type { OutboxItem, TextPart } from '../../../protocol/relay-api.ts';
import type { Texts } from '../../../protocol/texts.ts';
import type { ApprovalRecord, Verdict } from '../../journal/approvals.ts';
import { type ProjectState, phoneTexts } from '../../journal/state.ts';
import type { Log } from '../../log.ts';
import { textItem } from '../../plain-text.ts';
import { questionKey, verdictItem } from '../question/question.ts';
import { maxOpenQuestions } from '../question/questions.ts';

export interface AsksOptions {
  project: ProjectState;
  /** See `QuestionsOptions`. */
  record(record: ApprovalRecord): Promise<void>;
  send(item: OutboxItem): Promise<void>;
  show(item: OutboxItem): Promise<void>;
  log: Log;
}

export type Buttons = NonNullable<OutboxItem['buttons']>;

export interface Face {
  part: TextPart;
  buttons: Buttons;
}

export interface NewAsk<State> {
  tool: string;
  /** Of what is decided about; each button names it. */
  hash: string;
  session: string;
  state: State;
  /** The session no longer asks. */
  signal: AbortSignal;
}

export interface Ask<State, Value> extends Omit<NewAsk<State>, 'signal'> {
  readonly id: string;
  rev: number;
  /** Set with the first verdict; a second one comes too late. */
  settling: boolean;
  resolve(value: Value): void;
}

/** How it ended. `detail` = shown below the verdict; `by` = the user who decided. */
export interface Settled<Value> {
  verdict: Verdict;
  value: Value;
  detail?: string;
  by?: string;
}

interface Kind<State, Value> {
  /** Must give the message as it is now. */
  faceOf(ask: Ask<State, Value>, texts: Texts): Face;
  /** What the session gets where nothing was decided. */
  none: Value;
  /** What it gets for one more than `maxOpenQuestions`, which nobody is asked. */
  crowded(ask: Omit<NewAsk<State>, 'signal'>): Value;
  /** Of each, once, with its verdict. */
  audit(ask: Ask<State, Value>, settled: Settled<Value>): void;
}

export function createAsks<State, Value>(options: AsksOptions, { faceOf, none, crowded, audit }: Kind<State, Value>) {
  const { project, log } = options;
  const waiting = new Map<string, Ask<State, Value>>();
  let isLimitShown = false;

  function itemOf(ask: Ask<State, Value>): OutboxItem {
    const { part, buttons } = faceOf(ask, phoneTexts(project));
    const slot = questionKey(ask.id);
    const key = ask.rev === 1 ? slot : `${slot}_${ask.rev}`;
    return { key, class: 'approval', parts: [part], buttons, slot, rev: ask.rev };
  }

  /** False = it was settled before. A decision that cannot be journalled is none. */
  async function settle(ask: Ask<State, Value>, settled: Settled<Value>): Promise<boolean> {
    const { verdict, value, detail } = settled;
    if (ask.settling) return false;
    ask.settling = true;
    const { id, tool } = ask;
    try {
      await options.record({ t: 'decided', id, verdict });
    } catch (cause) {
      log('error', 'verdict not kept', { project: project.key, id, error: (cause as Error).message });
      waiting.delete(id);
      ask.resolve(none);
      const texts = phoneTexts(project);
      await options.show(verdictItem(id, faceOf(ask, texts).part, 'cancelled', texts));
      return false;
    }
    waiting.delete(id);
    ask.resolve(value);
    log('info', 'approval decided', { project: project.key, id, tool, verdict });
    audit(ask, settled);
    const texts = phoneTexts(project);
    await options.show(verdictItem(id, faceOf(ask, texts).part, verdict, texts, detail));
    return true;
  }

  async function refuseOneMore(given: Omit<NewAsk<State>, 'signal'>): Promise<Value> {
    if (!isLimitShown) {
      isLimitShown = true;
      log('warn', 'too many approvals asked', { project: project.key, open: waiting.size });
      const text = phoneTexts(project).approvals.tooMany(maxOpenQuestions);
      await options.show(textItem(`notice_${randomBytes(12).toString('hex')}`, 'approval', text));
    }
    return crowded(given);
  }

  async function ask({ signal, ...given }: NewAsk<State>): Promise<Value> {
    if (signal.aborted) return none;
    if (waiting.size >= maxOpenQuestions) return refuseOneMore(given);
    if (waiting.size === 0) isLimitShown = false;
    const id = randomBytes(6).toString('hex');
    let resolve: (value: Value) => void = () => {};
    const decided = new Promise<Value>((give) => {
      resolve = give;
    });
    const opened: Ask<State, Value> = { ...given, id, rev: 1, settling: false, resolve };
    // Before the record: what comes meanwhile counts against the bound.
    waiting.set(id, opened);
    try {
      await options.record({ t: 'asked', approval: { id, tool: given.tool, hash: given.hash } });
    } catch (cause) {
      waiting.delete(id);
      throw cause;
    }
    const withdraw = () => void settle(opened, { verdict: 'gone', value: none });
    signal.addEventListener('abort', withdraw, { once: true });
    if (signal.aborted) withdraw();
    log('info', 'approval asked', { project: project.key, id, tool: given.tool });
    if (!opened.settling) {
      await options.send(itemOf(opened)).catch(async (cause: Error) => {
        log('error', 'question not sent', { project: project.key, id, error: cause.message });
        await settle(opened, { verdict: 'cancelled', value: none });
      });
    }
    return decided.finally(() => signal.removeEventListener('abort', withdraw));
  }

  return {
    /** Waits for as long as it takes. Beyond `maxOpenQuestions` nothing is asked, and the phone is told once. Rejects when it cannot be journalled. */
    ask,
    /** The open one that a button names; a text = why there is none. */
    find(id: string, hash: string): Ask<State, Value> | string {
      const { approvals, question, owned } = phoneTexts(project);
      const found = waiting.get(id);
      if (found && !found.settling) return found.hash === hash ? found : owned.asks.otherRequest;
      const decided = project.approvals.decided.get(id);
      if (decided) return approvals.before(question.verdicts[decided.verdict].replace(/:$/, '.'));
      return owned.asks.tooLate;
    },
    settle,
    /** Shows what has changed in it. */
    async redraw(changed: Ask<State, Value>): Promise<void> {
      changed.rev += 1;
      await options.show(itemOf(changed));
    },
    /** The newest that `is` fits, and that still waits. */
    last: (is: (ask: Ask<State, Value>) => boolean) =>
      [...waiting.values()].findLast((each) => !each.settling && is(each)),
    /** STOP and /cancel: nothing is decided. Undefined = of every session. */
    async cancel(session: string | undefined): Promise<void> {
      for (const each of [...waiting.values()]) {
        if (session === undefined || each.session === session)
          await settle(each, { verdict: 'cancelled', value: none });
      }
    },
    size: () => waiting.size,
  };
}

/** Of a button. */
const labelUnits = 60;

export function labelOf(text: string): string {
  return cutText(text, labelUnits);
}
