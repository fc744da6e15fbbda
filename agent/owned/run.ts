// One open session of an agent, as a host of the turn rules: what a hook would say, it says; what a held hook is answered with is
// its next prompt. One prompt runs at a time. Ends when the process ends, or when the messages go elsewhere.

import type { Texts } from '../../protocol/texts.ts';
import type { TurnEvent } from '../../protocol/turn-events.ts';
import { type Answer, createAnswer } from './answer.ts';
import { gateOf, nameOf, refusalIn } from './gate.ts';
import { createNotices } from './notices.ts';
import type {
  AgentQuestion,
  Asking,
  OwnedEvent,
  OwnedProcess,
  OwnedSession,
  OwnedTool,
  PermissionAnswer,
  PermissionRequest,
  PromptEnd,
  PromptPart,
  QuestionAnswer,
  SessionHandlers,
} from './owned.ts';
import { createTalk, type RunEnd, type TalkOptions } from './talk.ts';

/** What of a session the phone sees and answers. */
export interface OwnedPhone {
  /** In order, whether a prompt runs or not. */
  event(event: OwnedEvent): void;
  /** Never rejects. */
  permission(request: PermissionRequest, asking: Asking): Promise<PermissionAnswer>;
  /** Never rejects. */
  question(question: AgentQuestion, asking: Asking): Promise<QuestionAnswer>;
  /** The running prompt is cancelled: nothing is asked any more. */
  cancelled(session: string): void;
  /** A warning or an error; `isOurs` = in the words of wa-sync, else in those of the agent. */
  notice(text: string, isOurs: boolean): void;
  /** A text that came while no prompt ran: of a background task. */
  stray(text: string): void;
}

export interface RunOptions extends TalkOptions {
  process: OwnedProcess;
  /** Unpredictable: names the ends of its turns. */
  id: string;
  phone: OwnedPhone;
  /** In the language of the phone. */
  texts(): Texts['owned']['sessions'];
  /** The text of a prompt with the files that it names, as far as the agent takes them. */
  partsOf(text: string, can: OwnedProcess['can']): Promise<readonly PromptPart[]>;
  /** Before the first prompt counts as given. */
  onUsed(): Promise<void>;
}

export type OwnedRun = ReturnType<typeof createOwnedRun>;

interface Prompt {
  answer: Answer;
  text: string;
  tools: Map<string, OwnedTool>;
  /** Journals that the model has the prompt. */
  proof: Promise<unknown> | undefined;
  steering: Promise<unknown>;
  /** The reason of the last refusal, for an agent whose turn it ends. */
  denied: string | undefined;
  /** That its parts have taken so far; undefined = the agent has not said. */
  tokens: number | undefined;
  /** The agent has it. */
  isSent: boolean;
  cancelled: boolean;
  /** Why it was cancelled, where no person did. */
  error: string | undefined;
  /** The process is ended with the prompt, because a cancel leaves its command running. */
  endsProcess: boolean;
}

/** The turn rules hear at least this often that the agent lives. */
const lifeEveryMs = 60_000;
/** A cancel that the agent does not obey by then ends its process. */
const cancelWithinMs = 10_000;

export function createOwnedRun(options: RunOptions) {
  const { agent, cwd, process, phone, texts, clock, log } = options;
  let session: OwnedSession | undefined;
  let prompt: Prompt | undefined;
  let prompts = 0;
  let stray = '';
  const notices = createNotices(phone.notice, () => texts().failures);
  const talk = createTalk(options, () => session?.id ?? '');
  const { say, follow, isOver } = talk;

  async function give(open: OwnedSession, running: Prompt): Promise<PromptEnd> {
    const parts = await options.partsOf(running.text, process.can);
    if (running.cancelled) return { type: 'cancelled' };
    running.isSent = true;
    let end = await open.prompt(parts);
    while (end.type === 'cancelled' && !running.cancelled && running.denied !== undefined) {
      const reason = running.denied;
      running.denied = undefined;
      running.answer.breaks();
      end = await open.prompt([{ text: reason }]);
    }
    return end;
  }

  async function onePrompt(open: OwnedSession, text: string, greeting: string | undefined): Promise<string | RunEnd> {
    prompts += 1;
    const running = newPrompt();
    prompt = running;
    const start: TurnEvent = { type: 'turnStart', prompt: text };
    const started = await say(start);
    await talk.admitted(start, () => !running.cancelled);
    const more = await follow(start);
    const about = [greeting, text, started.context, more.context].filter((each) => each !== undefined);
    running.text = about.join('\n\n');
    const end = await give(open, running);
    await running.steering;
    const isDead = isOver() || (end.type === 'failed' && end.died);
    if (isDead && !running.cancelled) {
      await running.proof;
      prompt = undefined;
      await follow({ type: 'turnEnd', answer: undefined });
      return 'died';
    }
    // Whatever became of it: an agent that lives has had the prompt, and is not given it again.
    await prove(running);
    prompt = undefined;
    if (running.endsProcess && !isOver()) await process.close();
    const run = `${options.id}-${prompts}`;
    const answer = end.type === 'answered' ? running.answer.said() : undefined;
    const byItself = end.type === 'cancelled' && !running.cancelled ? texts().endedByAgent : undefined;
    const failure =
      end.type === 'failed' && !running.cancelled ? (end.says?.(texts().failures) ?? end.error) : undefined;
    const error = running.error ?? failure ?? byItself;
    notices.over(failure);
    const isCancelled = error === undefined && running.cancelled;
    const ended: TurnEvent = {
      ...{ type: 'turnEnd', answer, run, alone: true },
      ...(error === undefined ? {} : { error }),
      ...(isCancelled ? { cancelled: true } : {}),
      ...(running.tokens === undefined ? {} : { tokens: running.tokens }),
    };
    await follow(ended);
    return talk.next(ended);
  }

  function prove(running: Prompt): Promise<unknown> {
    running.proof ??= options
      .onUsed()
      .then(() => say({ type: 'modelRequest', texts: [running.text] }))
      .catch((cause) => log('error', 'owned session not kept', { error: (cause as Error).message }));
    return running.proof;
  }

  const asking = () => ({ agent, session: session?.id ?? '', cwd });

  function onTool(tool: OwnedTool): void {
    const running = prompt;
    if (!running) return;
    const before = running.tools.get(tool.id);
    const known = { ...before, ...tool };
    const hasEnded = known.state === 'done' || known.state === 'failed';
    // What a tool has said is the phone's; a turn may use thousands.
    running.tools.set(tool.id, hasEnded ? { id: tool.id, state: known.state } : { ...known, output: '', diffs: [] });
    if (!before) running.answer.breaks();
    if (known.state !== 'done' || before?.state === 'done') return;
    const ended: TurnEvent = { type: 'toolEnd', tool: nameOf(known), input: { ...known.input } };
    void say(ended);
    void follow(ended);
    // Requests to the model are counted where hooks are: here the end of a tool comes before each further one.
    void talk.admit({ type: 'modelRequest', texts: [] }).then((refused) => {
      if (refused === undefined || prompt !== running || running.cancelled) return;
      running.error = texts().budget;
      cancel();
    });
  }

  function onEvent(event: OwnedEvent): void {
    phone.event(event);
    if (event.type === 'inserted' && prompt) void prove(prompt);
    if (event.type === 'tool') onTool(event.tool);
    if (event.type === 'tokens' && prompt) prompt.tokens = (prompt.tokens ?? 0) + event.tokens;
    if (event.type === 'text') {
      if (prompt) prompt.answer.add(event.text);
      else stray = (stray + event.text).slice(-strayChars);
    }
    if (event.type === 'idle') tellStray();
    if (event.type === 'notice') notices.take(event, prompt !== undefined);
    if (prompt && clock() - talk.saidAt() > lifeEveryMs) void say({ type: 'other' });
  }

  function tellStray(): void {
    if (stray.trim() !== '') phone.stray(stray.trim());
    stray = '';
  }

  const handlers: SessionHandlers = {
    event: onEvent,
    async permission(request, signal) {
      const running = prompt;
      if (running?.cancelled) return refusalIn(request);
      await say(gateOf(request));
      const { option, why, halt } = await phone.permission(request, { ...asking(), signal });
      if (running && prompt === running) {
        running.denied = why;
        if (halt !== undefined) {
          running.error = halt;
          cancel();
        }
      }
      return option;
    },
    question: (question, signal) => phone.question(question, { ...asking(), signal }),
  };

  /** Undefined = no prompt runs; else the text for the phone. */
  function cancel(): string | undefined {
    if (!prompt || !session) return undefined;
    const running = prompt;
    const isTold = running.cancelled;
    running.cancelled = true;
    const runsOn = [...running.tools.values()].some(({ state }) => state === 'running');
    running.endsProcess ||= runsOn && !process.can.cancelStopsTool;
    if (!isTold) phone.cancelled(session.id);
    if (!isTold && running.isSent) void obey(running, session);
    return texts()[running.endsProcess ? 'cancelledWithCommand' : 'cancelled'];
  }

  async function obey(running: Prompt, open: OwnedSession): Promise<void> {
    const isObeyed = await Promise.race([
      open.cancel().then(() => true),
      talk.pause(cancelWithinMs).then(() => false),
    ]).catch(() => false);
    if (!isObeyed && prompt === running && !isOver()) await process.close();
  }

  return {
    handlers,
    /** Serves the project until its end. `why` = what became of a turn that is still open; `greeting` = it is new to the agent. */
    async live(opened: OwnedSession, { why, isNew }: { why: string | undefined; isNew: boolean }): Promise<RunEnd> {
      session = opened;
      const { context } = await say({ type: 'sessionStart', source: 'owned' });
      let greeting = isNew ? context : undefined;
      let text = await talk.next({ type: 'ready', ...(why === undefined ? {} : { why }) });
      while (text !== 'released' && text !== 'died') {
        text = await onePrompt(opened, text, greeting);
        greeting = undefined;
      }
      return text;
    },
    /** Something waits: into the running prompt, where the agent takes it. */
    async steer(): Promise<'given' | 'nobody'> {
      const running = prompt;
      if (!running?.isSent || !session || running.cancelled || !process.can.steer) return 'nobody';
      const open = session;
      const given = say({ type: 'steerable' }).then(async ({ context }) => {
        if (context === undefined) return 'nobody';
        const became = await open.steer(context).catch(() => 'idle');
        // What went nowhere is unread again when the turn ends.
        if (became === 'injected') await say({ type: 'modelRequest', texts: [context] });
        return 'given';
      });
      running.steering = given;
      return (await given) as 'given' | 'nobody';
    },
    canSteer: () => prompt?.isSent === true && !prompt.cancelled && process.can.steer,
    cancel,
    isBusy: () => prompt !== undefined,
  };
}

/** Of what a background task says at its end. */
const strayChars = 16_000;

function newPrompt(): Prompt {
  return {
    answer: createAnswer(),
    text: '',
    tools: new Map(),
    proof: undefined,
    steering: Promise.resolve(),
    denied: undefined,
    tokens: undefined,
    isSent: false,
    cancelled: false,
    error: undefined,
    endsProcess: false,
  };
}
