// Carries out what the owner asks of the turns: STOP, sprint, away, later, continue. Journalled first; works outside the
// queue of hook events, so that a stuck event cannot delay it.

import type { Sprint } from '../../protocol/sprint.ts';
import { type HeldMessage, stopWordId } from '../journal/state.ts';
import { readOrder } from '../turns/sprint.ts';
import type { SprintRecord } from './ending.ts';
import type { HeldTurn } from './held-turn.ts';
import type { Routes } from './routes.ts';
import type { Runtime } from './runtime.ts';
import { isBusy } from './state.ts';
import type { Steering } from './types.ts';

export function createSteering(runtime: Runtime, held: HeldTurn, routes: Routes, sprints: SprintRecord): Steering {
  const { options } = runtime;
  const { project, journal, inbox, clock } = options;
  const p = project.key;

  /** What an agent that polls holds is parked for the case that it comes back. Gives how many others were parked. */
  async function park(beforeSeq: number): Promise<number> {
    const ids: string[] = [];
    let leased = 0;
    for (const { row, phase, parked } of project.messages.values()) {
      if (parked === 'parked' || row.seq >= beforeSeq) continue;
      if (phase === 'leased') leased += 1;
      if (phase === 'waiting' || phase === 'fetching' || phase === 'leased') ids.push(row.id);
    }
    if (ids.length > 0) await journal.append([{ t: 'parked', p, at: clock(), ids }]);
    return ids.length - leased;
  }

  /** Gives how many of them no agent holds. */
  async function release(): Promise<number> {
    const released = [...project.messages.values()].filter(({ parked }) => parked === 'parked');
    const ids = released.map(({ row }) => row.id);
    if (ids.length > 0) await journal.append([{ t: 'unparked', p, at: clock(), ids }]);
    return released.filter(({ phase }) => phase !== 'leased').length;
  }

  /** After a sleep the message that releases them may have come together with the STOP. */
  async function whatOfParked(parked: number, seq: number): Promise<string> {
    const isNewer = ({ row }: HeldMessage) => row.seq >= seq && !(project.sprint && row.stopWord);
    const isReleased = [...project.messages.values()].some(isNewer);
    if (isReleased) await release();
    if (parked === 0) return '';
    const [one, many] = isReleased
      ? ['goes with the one you sent since', 'go with what you sent since']
      : ['is parked: a new message or /continue releases it', 'are parked: a new message or /continue releases them'];
    return ` ${messages(parked)} from before it ${parked === 1 ? one : many}.`;
  }

  /** False = the idle terminal cannot be woken, or not now. */
  function rouse(): Promise<boolean> {
    return routes.reach(({ wakes }) => wakes);
  }

  function wokenText(): string {
    return options.nudge ? 'could not be woken now' : 'cannot be woken';
  }

  return {
    async stop({ seq, type }) {
      const rest = await whatOfParked(await park(seq), seq);
      // Not awaited, here and below: whoever answers the phone must not wait for a file that is locked.
      void inbox.refresh();
      // At once: the end of the running turn may never be seen.
      const over = await sprints.endUntold(type === 'abort' ? 'aborted' : 'stopped');
      if (isBusy(runtime.state)) {
        const what =
          type === 'abort'
            ? 'Abort requested: the next tool call is refused and the turn ends.'
            : 'Stop requested: the agent finishes its current action, writes a status and halts.';
        return { text: [what + rest, ...over].join(' '), spent: false };
      }
      if (over.length > 0) return { text: over.join(' ') + rest, spent: true };
      const now = held.current() ? 'the agent waits for your next message' : 'no turn is running';
      return { text: `Nothing to stop: ${now}.${rest}`, spent: true };
    },
    async sprint(id, args) {
      if (project.sprint) {
        const { done, tasks } = project.sprint;
        if (project.sprint.turn !== 'none')
          return `A sprint runs already, ${done} of ${tasks} tasks done. /stop ends it.`;
        return `A sprint of at most ${tasks} ${tasks === 1 ? 'task' : 'tasks'} waits for its first turn already. /stop ends it.`;
      }
      const order = readOrder(args);
      if (typeof order === 'string') return order;
      const now = clock();
      const { tasks, goal, forMs } = order;
      const limit = forMs === undefined ? {} : { untilAt: now + forMs };
      const sprint: Sprint = { id, tasks, done: 0, goal, startedAt: now, ...limit, turn: 'none', idleTurns: 0 };
      await journal.append([{ t: 'sprint', p, at: now, sprint }]);
      const time = forMs === undefined ? '' : `, for at most ${wholeTime(forMs)}`;
      const what = `Sprint of at most ${tasks} ${tasks === 1 ? 'task' : 'tasks'}${time}`;
      if (held.current()) {
        void routes.reach();
        return `${what}: it starts now.`;
      }
      if (isBusy(runtime.state)) return `${what}: it starts when the running turn ends.`;
      if (await rouse()) return `${what}: the idle terminal was woken; it starts after the turn that began there.`;
      return `${what}: the agent is idle at the terminal and ${wokenText()}; it starts after the next turn there.`;
    },
    async away(args) {
      const word = args.trim().toLowerCase();
      if (word !== '' && word !== 'on' && word !== 'off') return 'Write /away or /away_off.';
      const value = word !== 'off';
      await journal.append([{ t: 'setting', p, at: clock(), name: 'away', value }]);
      if (!value) {
        const was = held.current() !== undefined && options.holdPolicy !== 'always';
        if (was) held.release();
        return was ? 'Away is off: the keyboard is free again.' : 'Away is off.';
      }
      if (options.holdPolicy === 'never')
        return 'Away is on, but "hold" is "never" in config.json: no turn waits for you.';
      if (held.current()) return 'Away is on: the agent waits for your messages now.';
      if (isBusy(runtime.state)) return 'Away is on: when the running turn ends, the agent waits for your messages.';
      if (await rouse())
        return 'Away is on. The idle terminal was woken: after the turn that began there the agent waits for your messages.';
      return `Away is on, starting with the next turn at the terminal, which ${wokenText()}. Tip: type /wa:away there before you leave.`;
    },
    async later(id, text) {
      if (text.trim() === '') return 'Write /later and what the agent is to do after its running turn.';
      await journal.append([{ t: 'later', p, at: clock(), id }]);
      void inbox.refresh();
      routes.wake();
      return isBusy(runtime.state) ? 'Kept for after the running turn.' : 'Kept for the next turn.';
    },
    async unpark() {
      const released = await release();
      void inbox.refresh();
      routes.wake();
      return released === 0
        ? 'Nothing is parked.'
        : `${messages(released)} released; the agent is told that a STOP came in between.`;
    },
    async arrived(ids) {
      const rows = ids.flatMap((id) => project.messages.get(id)?.row ?? []);
      const stops = project.sprint ? rows.filter(({ stopWord }) => stopWord) : [];
      for (const { id } of stops) {
        if (!project.known.has(stopWordId(id))) await journal.append([{ t: 'stopWord', p, at: clock(), id }]);
      }
      if (rows.length > stops.length) await release();
    },
    async looked() {
      if (!inbox.foreignStop()) return;
      if (isBusy(runtime.state)) return;
      await park(Number.POSITIVE_INFINITY);
      if (project.sprint) await sprints.end('stopped');
      await inbox.settleForeignStops();
      await options.tell(
        `foreign_stop_${clock()}`,
        'Another program wrote a STOP into the inbox file; no turn was running.',
      );
    },
  };
}

/** As the owner may have written it: rounded, it would confirm another time. */
function wholeTime(ms: number): string {
  const minutes = ms / 60_000;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`;
}

function messages(count: number): string {
  return `${count} ${count === 1 ? 'message' : 'messages'}`;
}
