// The contract of a sprint: what a finished turn does to it, when it ends and why, and what the agent is told next. Pure.

import type { Sprint, SprintEnd } from '../../protocol/sprint.ts';
import type { Texts } from '../../protocol/texts.ts';
import type { TurnOutcome, TurnView } from './view.ts';

export const sprintLimits = {
  defaultTasks: 5,
  maxTasks: 50,
  /** Share of the continuations that the host accepts in a row. The rest is for messages from the phone and the last turn. */
  continuations: 0.91,
  /** Share of the context window. */
  warnAt: 0.8,
  endAt: 0.95,
} as const;

export type Marker = 'done' | 'more' | 'question' | 'finished';

/** The marker in the last line of an answer, such as `wa: done`; undefined without such a line. */
export function markerOf(answer: string): Marker | undefined {
  return /^[\s`*_>-]*wa:\s*(done|more|question|finished)\b[\s`*_.!]*$/i
    .exec(answer.trimEnd().split('\n').at(-1) ?? '')?.[1]
    ?.toLowerCase() as Marker | undefined;
}

/** The answer as the phone shows it. */
export function withoutMarker(answer: string): string {
  if (markerOf(answer) === undefined) return answer;
  return answer.trimEnd().split('\n').slice(0, -1).join('\n').trimEnd();
}

export interface SprintOrder {
  tasks: number;
  goal: string;
  forMs?: number;
}

/** Reads `[n] [--for 90m] [goal]`; a text = the mistake. */
export function readOrder(args: string, texts: Texts): SprintOrder | string {
  let rest = ` ${args.trim()} `;
  let forMs: number | undefined;
  const limit = /\s--for\s+(\S+)\s/.exec(rest);
  if (limit) {
    const time = /^(\d{1,4})(m|min|h)$/i.exec(limit[1] ?? '');
    if (!time) return texts.sprint.badTime(limit[1] ?? '');
    forMs = Number(time[1]) * (time[2]?.toLowerCase() === 'h' ? 3_600_000 : 60_000);
    rest = rest.replace(limit[0], ' ');
  }
  rest = rest.trim();
  const count = /^(\d+)(?:\s+|$)/.exec(rest);
  const tasks = count ? Number(count[1]) : sprintLimits.defaultTasks;
  if (tasks < 1 || tasks > sprintLimits.maxTasks) return texts.sprint.badCount(sprintLimits.maxTasks, tasks);
  return { tasks, goal: count ? rest.slice(count[0].length).trim() : rest, ...(forMs === undefined ? {} : { forMs }) };
}

export interface SprintStep {
  /** The sprint after the turn. */
  sprint: Sprint;
  /** Set when the sprint is over. */
  end?: SprintEnd;
  /** The context window is nearly full, and the phone was not told yet. */
  warns: boolean;
}

/** `maxContinuations` undefined = the host has no limit. */
export type SprintMoment = Pick<TurnView, 'now' | 'continuations' | 'maxContinuations'>;

/** The effect of a finished turn on the sprint. The caller handles a STOP and a failed turn. */
export function afterTask(
  sprint: Sprint,
  outcome: TurnOutcome,
  { now, continuations, maxContinuations = Number.POSITIVE_INFINITY }: SprintMoment,
): SprintStep {
  const marker = markerOf(outcome.answer ?? '');
  if (sprint.turn === 'final') return { sprint, end: sprint.ending ?? 'maxTasks', warns: false };
  const isTask = sprint.turn === 'task';
  const finished = isTask && (marker === undefined || marker === 'done' || marker === 'finished');
  const share = outcome.contextShare ?? 0;
  const warns = share >= sprintLimits.warnAt && !sprint.warned;
  const next: Sprint = { ...sprint, done: sprint.done + (finished ? 1 : 0), ...(warns ? { warned: true } : {}) };
  const over = (end: SprintEnd): SprintStep => ({ sprint: next, end, warns: false });
  if (marker === 'question') return over('question');
  if (marker === 'finished') return over('goal');
  if (isTask) {
    const digest = digestOf(withoutMarker(outcome.answer ?? ''));
    next.idleTurns = outcome.toolCalls === 0 ? sprint.idleTurns + 1 : 0;
    next.lastAnswer = digest;
    // With the last task done, the sprint has its end.
    if (next.done < next.tasks) {
      if (sprint.lastAnswer === digest) return over('repeating');
      if (next.idleTurns >= 2) return over('noProgress');
    }
  }
  const ending: SprintEnd | undefined =
    next.done >= next.tasks || continuations >= Math.floor(maxContinuations * sprintLimits.continuations)
      ? 'maxTasks'
      : next.begun && next.forMs !== undefined && now >= next.startedAt + next.forMs
        ? 'timeout'
        : share >= sprintLimits.endAt
          ? 'context'
          : undefined;
  return { sprint: ending ? { ...next, ending } : next, warns };
}

/** The sprint with its next turn, and the prompt for the agent. `instructions` replaces the default instructions for a task. */
export function nextTask(
  sprint: Sprint,
  instructions: string | undefined,
  now: number,
): { sprint: Sprint; text: string } {
  if (sprint.ending) return { sprint: { ...sprint, turn: 'final' }, text: finalText(sprint) };
  const goal =
    sprint.goal === ''
      ? "Take the next open task of the project's task list."
      : `Take the next open task towards this goal of the owner: ${sprint.goal}`;
  const text = [
    `wa-sync sprint, task ${sprint.done + 1} of at most ${sprint.tasks}. No person is at the terminal; the owner reads your answers on a phone.`,
    goal,
    instructions ?? 'Do this one task completely, check it, and answer with a short status.',
    'End your answer with one last line: "wa: done" when the task is done, "wa: more" when the same task needs another turn, "wa: question" when you need an answer of the owner, "wa: finished" when no task is left.',
  ].join('\n');
  // Its time counts from its first task on, not from the order to an idle agent.
  const startedAt = sprint.begun ? sprint.startedAt : now;
  return { sprint: { ...sprint, begun: true, startedAt, turn: 'task' }, text };
}

function finalText({ ending, done }: Sprint): string {
  const why =
    ending === 'timeout'
      ? 'its time is over'
      : ending === 'context'
        ? 'your context window is nearly full'
        : 'its limit is reached';
  return `The wa-sync sprint ends here, because ${why} (${done} ${done === 1 ? 'task' : 'tasks'} done). Start no new task. Write the final status for the owner's phone: what is done, what is open, what needs a decision.`;
}

/** The last line of a sprint on the phone. */
export function endText({ done, tasks, startedAt }: Sprint, end: SprintEnd, now: number, texts: Texts): string {
  const { sprint, words } = texts;
  const took = words.duration(Math.max(1_000, now - startedAt));
  if (end === 'maxTasks' && done >= tasks) return sprint.allDone(took, tasks);
  return sprint.over(took, done, tasks, sprint.ends[end]);
}

/** For comparison only: FNV-1a over the text without white space. */
function digestOf(text: string): string {
  let hash = 0x811c9dc5;
  for (const char of text.replace(/\s+/g, ' ').trim()) {
    hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  }
  return hash.toString(36);
}
