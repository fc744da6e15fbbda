// What follows the end of a turn: messages from the phone, the next task of a sprint, the wait for the phone, or the keyboard.
// Pure. Only the daemon uses this file.

import type { Sprint, SprintEnd } from '../../protocol/sprint.ts';
import { handOver, screenText } from './framing.ts';
import { wantsHold } from './hold.ts';
import { afterTask, nextTask, type SprintStep } from './sprint.ts';
import type { TurnOutcome, TurnView, WaitingMessage } from './view.ts';

export interface Continuation {
  /** The next prompt, word for word. */
  text: string;
  /** What the screen shows instead. */
  notice: string;
  messages: readonly WaitingMessage[];
}

export interface AfterTurn {
  next: Continuation | undefined;
  /** True when the hook waits for a prompt, because `next` is undefined. */
  holds: boolean;
  /** The sprint that continues; undefined = no sprint runs. */
  sprint: Sprint | undefined;
  /** Set when the sprint ended with this turn. */
  ended?: { sprint: Sprint; end: SprintEnd };
  /** The context window is nearly full. */
  warns: boolean;
  /** The open STOP has had its effect. */
  stopped: boolean;
}

/** The turn is settled: nothing runs. `view.stop` counts for it. */
export function afterTurn(outcome: TurnOutcome, view: TurnView, nonce: string): AfterTurn {
  const stopped = view.stop !== undefined;
  const step = stepOf(outcome, view);
  const sprint = step?.end ? undefined : step?.sprint;
  const base = {
    sprint,
    ...(step?.end ? { ended: { sprint: step.sprint, end: step.end } } : {}),
    warns: step?.warns ?? false,
    stopped,
  };
  // The host drops the continuation beyond its limit without an error, and accepts the next one.
  const { continuations, maxContinuations } = view;
  const budgetSkip =
    outcome.lost && maxContinuations !== undefined && continuations > 0 && continuations % (maxContinuations + 1) === 0;
  // The message waits for a turn that begins otherwise, and a hold could give nothing.
  if (view.takesNext === false) return { ...base, next: undefined, holds: false };
  const isOwned = view.bound?.owned === true;
  // A person pressed Esc: they want the keyboard, and an answer now would be lost as well.
  if (outcome.last || outcome.cancelled || (outcome.lost && !budgetSkip))
    return { ...base, next: undefined, holds: isOwned && !outcome.last };
  // The STOP was for the turn that has ended.
  const next = nextPrompt({ ...view, sprint, stop: undefined }, nonce);
  if (next) return { ...base, sprint: next.sprint, next: next.continuation, holds: false };
  return { ...base, next: undefined, holds: isOwned || wantsHold(view.hold) };
}

function stepOf(outcome: TurnOutcome, view: TurnView): SprintStep | undefined {
  const { sprint, stop } = view;
  if (!sprint) return undefined;
  const over = (end: SprintEnd): SprintStep => ({ sprint, end, warns: false });
  if (stop) return over(stop.type === 'abort' ? 'aborted' : 'stopped');
  if (outcome.cancelled || outcome.lost) return over('stopped');
  if (outcome.failed) return over('error');
  return afterTask(sprint, outcome, view);
}

/** The next prompt for the agent; undefined = none. Also used while a hook is held. */
export function nextPrompt(
  view: TurnView,
  nonce: string,
): { continuation: Continuation; sprint: Sprint | undefined } | undefined {
  const { sprint } = view;
  const given = handOver(view.waiting, view, nonce);
  if (given) {
    return {
      continuation: { ...given, notice: `${screenText(given.messages)}\n${blockedNotice}` },
      sprint: sprint && { ...sprint, turn: 'message' },
    };
  }
  if (!sprint) return undefined;
  const task = nextTask(sprint, view.sprintText, view.now);
  const notice = sprint.ending
    ? 'wa-sync: the sprint ends with a status.'
    : `wa-sync: sprint, task ${sprint.done + 1} of ${sprint.tasks}.`;
  return {
    continuation: { text: task.text, notice: `${notice}\n${blockedNotice}`, messages: [] },
    sprint: task.sprint,
  };
}

/** The hosts show a prompt that a hook gives as if it were an error. */
const blockedNotice = '(The next prompt of this session. "Blocked" and "failed" around these lines mean only that.)';
