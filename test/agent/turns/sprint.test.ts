import { describe, expect, it } from 'vitest';
import {
  afterTask,
  endText,
  markerOf,
  nextTask,
  readOrder,
  sprintLimits,
  withoutMarker,
} from '../../../agent/turns/sprint.ts';
import type { TurnOutcome } from '../../../agent/turns/view.ts';
import type { Sprint } from '../../../protocol/sprint.ts';
import { textsIn } from '../../../protocol/texts.ts';

const en = textsIn('en');

const now = 1_000_000;

function sprint(changes: Partial<Sprint> = {}): Sprint {
  return { id: 's', tasks: 3, done: 0, goal: '', startedAt: now, turn: 'task', idleTurns: 0, ...changes };
}

function outcome(answer: string, changes: Partial<TurnOutcome> = {}): TurnOutcome {
  return { answer, failed: false, cancelled: false, lost: false, toolCalls: 1, ...changes };
}

const step = (of: Sprint, answer: string, changes: Partial<TurnOutcome> = {}) =>
  afterTask(of, outcome(answer, changes), { now, continuations: 1 });

describe('the last line of an answer', () => {
  it.each([
    ['All green.\nwa: done', 'done'],
    ['All green.\n\n`wa: more`\n', 'more'],
    ['Which one?\n**WA: question.**', 'question'],
    ['wa: finished', 'finished'],
    ['wa: done\nand then', undefined],
    ['I will write wa: done later', undefined],
    ['', undefined],
  ])('of %j says %s', (answer, marker) => {
    expect(markerOf(answer)).toBe(marker);
  });

  it('is not shown on the phone', () => {
    expect(withoutMarker('All green.\n\nwa: done\n')).toBe('All green.');
    expect(withoutMarker('All green.')).toBe('All green.');
  });
});

describe('an order', () => {
  it.each([
    ['', { tasks: 5, goal: '' }],
    ['3', { tasks: 3, goal: '' }],
    ['3 make it green', { tasks: 3, goal: 'make it green' }],
    ['make 3 tests green', { tasks: 5, goal: 'make 3 tests green' }],
    ['2 --for 90m docs first', { tasks: 2, goal: 'docs first', forMs: 5_400_000 }],
    ['--for 2h', { tasks: 5, goal: '', forMs: 7_200_000 }],
  ])('%j is read', (args, order) => {
    expect(readOrder(args, en)).toEqual(order);
  });

  it.each(['0', '51', '--for soon', '3 --for 5d'])('%j is refused with what is wrong', (args) => {
    expect(typeof readOrder(args, en)).toBe('string');
  });
});

describe('a task turn', () => {
  it('counts when it is done, or says nothing about it', () => {
    expect(step(sprint(), 'A\nwa: done').sprint.done).toBe(1);
    expect(step(sprint(), 'A').sprint.done).toBe(1);
  });

  it('that needs another turn does not count', () => {
    expect(step(sprint(), 'A\nwa: more')).toMatchObject({ sprint: { done: 0 }, warns: false });
  });

  it('ends the sprint with a question, or when no task is left', () => {
    expect(step(sprint(), 'A?\nwa: question')).toMatchObject({ end: 'question', sprint: { done: 0 } });
    expect(step(sprint(), 'A\nwa: finished')).toMatchObject({ end: 'goal', sprint: { done: 1 } });
  });

  it('is the last but one at a limit: tasks, time, context, turns of the host', () => {
    const ending = (of: Sprint, changes: Partial<TurnOutcome> = {}, continuations = 1) =>
      afterTask(of, outcome('A', changes), { now, continuations, maxContinuations: 99 }).sprint.ending;
    expect(ending(sprint({ done: 2 }))).toBe('maxTasks');
    expect(ending(sprint({ begun: true, forMs: 60_000, startedAt: now - 60_000 }))).toBe('timeout');
    expect(ending(sprint({ forMs: 60_000, startedAt: now - 60_000 }))).toBeUndefined();
    expect(ending(sprint(), { contextShare: sprintLimits.endAt })).toBe('context');
    expect(ending(sprint(), {}, 90)).toBe('maxTasks');
    expect(ending(sprint())).toBeUndefined();
  });

  it('warns once when the context window is nearly full', () => {
    const first = step(sprint(), 'A', { contextShare: 0.8 });
    expect(first.warns).toBe(true);
    expect(step(first.sprint, 'B', { contextShare: 0.85 }).warns).toBe(false);
  });

  it('ends it after two without a tool, or with the same answer twice', () => {
    const idle = step(sprint({ tasks: 9 }), 'A', { toolCalls: 0 });
    expect(idle.end).toBeUndefined();
    expect(step(idle.sprint, 'B', { toolCalls: 0 }).end).toBe('noProgress');
    expect(step(step(idle.sprint, 'B').sprint, 'C', { toolCalls: 0 }).end).toBeUndefined();
    const first = step(sprint({ tasks: 9 }), 'Same  answer\nwa: done');
    expect(step(first.sprint, 'Same answer').end).toBe('repeating');
  });
});

describe('with its last task done', () => {
  it('a sprint ends for that reason, whatever the last turns looked like', () => {
    const last = sprint({ tasks: 2, done: 1, idleTurns: 1, lastAnswer: 'x' });
    expect(step(last, 'A\nwa: done', { toolCalls: 0 })).toMatchObject({ sprint: { done: 2, ending: 'maxTasks' } });
  });

  it('its time is counted from its first task on, not from the order to an idle agent', () => {
    const ordered = sprint({ turn: 'none', startedAt: now - 90_000 });
    const first = nextTask(ordered, undefined, now).sprint;
    expect(first.startedAt).toBe(now);
    expect(nextTask(first, undefined, now + 60_000).sprint.startedAt).toBe(now);
  });
});

describe('what the agent is told', () => {
  it('is the next task towards the goal, and how to end its answer', () => {
    const { sprint: next, text } = nextTask(sprint({ turn: 'none', goal: 'green tests', done: 1 }), undefined, now);
    expect(next.turn).toBe('task');
    expect(text).toMatch(/^wa-sync sprint, task 2 of at most 3\./);
    expect(text).toContain('green tests');
    for (const marker of ['done', 'more', 'question', 'finished']) expect(text).toContain(`"wa: ${marker}"`);
  });

  it('takes the owner’s own words for how to work', () => {
    expect(nextTask(sprint(), 'Always run make test.', now).text).toContain('\nAlways run make test.\n');
  });

  it('is the final status at a limit, and that turn ends the sprint', () => {
    const { sprint: last, text } = nextTask(sprint({ done: 3, ending: 'maxTasks' }), undefined, now);
    expect(text).toContain('final status');
    expect(step(last, 'All done.')).toEqual({ sprint: last, end: 'maxTasks', warns: false });
    expect(endText(last, 'maxTasks', now + 120_000, en)).toBe('Sprint over after 2 min: all 3 tasks are done.');
    expect(endText({ ...last, done: 2 }, 'maxTasks', now + 120_000, en)).toBe(
      'Sprint over after 2 min, 2 of 3 tasks done: the limit of tasks is reached.',
    );
    expect(endText(last, 'repeating', now + 3_000, en)).toBe(
      'Sprint over after 3 s, 3 of 3 tasks done: the agent repeats its answer. What shall it do?',
    );
    expect(endText(last, 'stopped', now + 10, en)).toBe('Sprint over after 1 s, 3 of 3 tasks done: stopped.');
  });
});

it('a message from the phone between two tasks does not count as a task', () => {
  expect(step(sprint({ turn: 'message' }), 'Answered.', { toolCalls: 0 })).toMatchObject({
    sprint: { done: 0, idleTurns: 0 },
  });
});
