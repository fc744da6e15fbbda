// What follows the end of a turn: the phone's messages, the next task of a sprint, the wait for the phone, or the keyboard.
// Pure; the daemon alone asks, because none of it works without it.

import { oneLine, splitLines } from '../../protocol/lines.ts';
import type { Sprint, SprintEnd } from '../../protocol/sprint.ts';
import { frameMessages } from './framing.ts';
import { wantsHold } from './hold.ts';
import { selectForTurn } from './select.ts';
import { afterTask, nextTask, type SprintStep } from './sprint.ts';
import { stopText } from './stop.ts';
import type { TurnOutcome, TurnView, WaitingMessage } from './view.ts';

export interface Continuation {
  /** The next prompt, word for word. */
  text: string;
  /** On the screen in its place. */
  notice: string;
  messages: readonly WaitingMessage[];
}

export interface AfterTurn {
  next: Continuation | undefined;
  /** Without a next prompt: wait for one. */
  holds: boolean;
  /** The sprint as it goes on; undefined = there is none. */
  sprint: Sprint | undefined;
  /** Set when it ended here, as it stood then. */
  ended?: { sprint: Sprint; end: SprintEnd };
  /** Its context window is nearly full. */
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
  // The one beyond the host's limit is dropped without a word, and the next works.
  const { continuations, maxContinuations } = view;
  const budgetSkip =
    outcome.lost && maxContinuations !== undefined && continuations > 0 && continuations % (maxContinuations + 1) === 0;
  // Somebody pressed Esc: whatever we answer now is lost as well, and the keyboard is wanted.
  if (outcome.cancelled || (outcome.lost && !budgetSkip)) return { ...base, next: undefined, holds: false };
  const next = nextPrompt({ ...view, sprint }, nonce);
  if (next) return { ...base, sprint: next.sprint, next: next.continuation, holds: false };
  return { ...base, next: undefined, holds: wantsHold(view.hold) };
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

/** What the agent could go on with now; undefined = nothing. Also asked while a hook is held. */
export function nextPrompt(
  view: TurnView,
  nonce: string,
): { continuation: Continuation; sprint: Sprint | undefined } | undefined {
  const { sprint, waiting, now, degraded, answeredAt } = view;
  const messages = selectForTurn(waiting);
  if (messages.length > 0) {
    const more = waiting.length - messages.length + view.further;
    const frame = frameMessages(messages, { now, nonce, more, degraded, answeredAt });
    const text = view.stop ? `${stopText(view.stop)}\n\n${frame}` : frame;
    return {
      continuation: { text, notice: screenText(messages), messages },
      sprint: sprint && { ...sprint, turn: 'message' },
    };
  }
  if (!sprint) return undefined;
  const task = nextTask(sprint, view.sprintText);
  const notice = sprint.ending
    ? 'wa-sync: the sprint ends with a status.'
    : `wa-sync: sprint, task ${sprint.done + 1} of ${sprint.tasks}.`;
  return { continuation: { text: task.text, notice, messages: [] }, sprint: task.sprint };
}

const shownChars = 400;

/** One entry, one line that says whose it is: the lines of its text are indented, so that none of them can say so. */
function screenText(messages: readonly WaitingMessage[]): string {
  const lines = messages.map(({ entry, fromOwner }) => {
    const text = entry.text.length > shownChars ? `${entry.text.slice(0, shownChars)}…` : entry.text;
    const shown = splitLines(text).map((line) => oneLine(line, 2 * shownChars));
    return `${fromOwner ? 'From the phone' : 'From another program'}: ${shown.join('\n  ')}`;
  });
  return lines.join('\n');
}
