// The sprint as the journal has it, and what the phone hears of it.

import type { Sprint, SprintEnd } from '../../protocol/sprint.ts';
import type { AfterTurn } from '../turns/after-turn.ts';
import { endText } from '../turns/sprint.ts';
import type { TurnsOptions } from './types.ts';

export type SprintRecord = ReturnType<typeof createSprintRecord>;

export function createSprintRecord({ project, journal, clock, log, tell }: TurnsOptions) {
  const p = project.key;

  async function keep(sprint: Sprint | undefined): Promise<void> {
    if (sprint === project.sprint) return;
    await journal.append([{ t: 'sprint', p, at: clock(), sprint: sprint ?? null }]);
  }

  async function tellEnd(sprint: Sprint | undefined, end: SprintEnd): Promise<void> {
    if (!sprint) return;
    log('info', 'sprint ended', { project: p, sprint: sprint.id, end, done: sprint.done });
    await tell(`sprint_${sprint.id}`, endText(sprint, end, clock()));
  }

  async function end(why: SprintEnd): Promise<void> {
    const { sprint } = project;
    if (!sprint) return;
    await keep(undefined);
    await tellEnd(sprint, why);
  }

  return { keep, tellEnd, end };
}

/** The line above the report of a turn; '' = a turn outside the sprint. */
export function sprintLead(sprint: Sprint, after: AfterTurn | undefined): string {
  if (sprint.turn === 'final') return 'Final status of the sprint:';
  if (sprint.turn !== 'task') return '';
  const finished = ((after?.sprint ?? after?.ended?.sprint)?.done ?? 0) > sprint.done;
  return finished
    ? `Task ${sprint.done + 1} of ${sprint.tasks} done:`
    : `Task ${sprint.done + 1} of ${sprint.tasks}, not finished yet:`;
}
