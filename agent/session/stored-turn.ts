// The state of a turn as a line of the journal, which is the memory of a restarted daemon, and back. Pure.

import type { EndedTurn, StoredTurn } from '../journal/records.ts';
import type { Hand, ProjectState } from '../journal/state.ts';
import type { TurnPlace } from '../turns/view.ts';
import { running, type Turn, type TurnState, unknownTerminal } from './state.ts';

export function restoreState(project: ProjectState, now: number): TurnState {
  const { turn: stored } = project;
  const given = givenIn(project);
  const carried = given.map(({ id }) => id);
  const place = stored?.place ?? (given[0] && placeOf(given[0].hand));
  const text = stored?.offered;
  const runs = stored?.runs || carried.length > 0;
  let turn: Turn = { phase: 'idle' };
  if (place && text !== undefined)
    turn = { phase: 'offered', text, place, at: now, queued: stored?.queued, carried, modelSeen: false };
  else if (place && runs) turn = { ...running(place, carried), ...begunBy(project, carried) };
  return {
    bound: stored?.bound && { ...stored.bound, pid: stored.bound.pid },
    agent: stored?.agent,
    ...unknownTerminal,
    turn: turn.phase === 'idle' ? turn : { ...turn, told: stored?.told },
    chain: { length: 0, quiet: 0, answer: '', fromPhone: turn.phase === 'offered' },
    stale: stored?.stale ?? [],
    toldTo: stored?.toldTo,
    isFresh: true,
    startedAt: now,
    answeredAt: 0,
    lastEventAt: now,
  };
}

/** Every turn of an owned session began with a prompt of wa-sync; the model has that prompt where one of its messages is proved. */
function begunBy({ turn, messages }: ProjectState, carried: readonly string[]) {
  if (!turn?.bound?.owned) return {};
  const isProved = carried.length === 0 || carried.some((id) => messages.get(id)?.phase === 'injected');
  return { continued: true, modelSeen: isProved };
}

export function toStoredTurn({ bound, agent, turn, toldTo, stale: all }: TurnState): StoredTurn {
  const stale = all.length === 0 ? {} : { stale: all };
  if (turn.phase === 'idle') return { bound, agent, runs: false, toldTo, ...stale };
  const { phase, place, told } = turn;
  return {
    bound,
    agent,
    runs: phase === 'running',
    place,
    offered: phase === 'offered' ? turn.text : undefined,
    ...(phase === 'offered' && turn.queued ? { queued: true } : {}),
    told,
    toldTo,
    ...stale,
  };
}

/** What turns carry, in the order in which it was given. */
export function givenIn(project: ProjectState): { id: string; hand: Hand }[] {
  return [...project.messages.values()]
    .flatMap(({ row, phase, hand }) =>
      hand && (phase === 'handed' || phase === 'injected') ? { id: row.id, hand } : [],
    )
    .sort((a, b) => a.hand.offset - b.hand.offset);
}

/** `told` = the answer that the phone has or gets. */
export interface TurnEnd extends EndedTurn {
  told?: { id: string; text: string };
}

/** Ends that the turns do not know of, such as those of hooks alone. */
export function toldIn({ ended, outbox }: ProjectState): TurnEnd[] {
  return [...ended].flatMap(([id, end]) => {
    const { source } = outbox.get(id) ?? {};
    return source?.kind === 'file' ? { ...end, told: { id, text: source.answer.text } } : [];
  });
}

/** Where hooks alone began turns, which is the end of the turn before. */
export function begunIn(project: ProjectState): TurnEnd[] {
  return givenIn(project).flatMap(({ hand: { transcript, offset, starts } }) =>
    starts && transcript ? { transcript, at: offset } : [],
  );
}

/** Where a turn began that only the hand-over knows of. */
export function placeOf({ tool, transcript, offset }: Hand): TurnPlace {
  return { tool, transcript: transcript ?? undefined, offset };
}
