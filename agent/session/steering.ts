// Carries out what the owner asks of the turns: STOP, sprint, away, later, continue. Journalled first; works outside the
// queue of hook events, so that a stuck event cannot delay it.

import type { Sprint } from '../../protocol/sprint.ts';
import { type HeldMessage, isHeldBack, stopWordId } from '../journal/state.ts';
import { backNotice } from '../turns/hold.ts';
import { readOrder } from '../turns/sprint.ts';
import type { Desk } from './desk.ts';
import type { SprintRecord } from './ending.ts';
import type { HeldTurn } from './held-turn.ts';
import type { Routes } from './routes.ts';
import type { Runtime } from './runtime.ts';
import { isBusy } from './state.ts';
import type { Steering } from './types.ts';

export interface SteeringParts {
  held: HeldTurn;
  routes: Routes;
  sprints: SprintRecord;
  desk: Pick<Desk, 'follow'>;
}

export function createSteering(runtime: Runtime, { held, routes, sprints, desk }: SteeringParts): Steering {
  const { options } = runtime;
  const { project, journal, inbox, clock } = options;
  const p = project.key;

  /** What an agent that polls holds is parked for the case that it comes back. Gives how many others were parked. */
  async function park(beforeSeq: number): Promise<number> {
    const ids: string[] = [];
    let leased = 0;
    for (const message of project.messages.values()) {
      const { row, phase } = message;
      if (isHeldBack(message) || row.seq >= beforeSeq) continue;
      if (phase === 'leased') leased += 1;
      if (phase === 'waiting' || phase === 'fetching' || phase === 'leased') ids.push(row.id);
    }
    if (ids.length > 0) await journal.append([{ t: 'parked', p, at: clock(), ids }]);
    return ids.length - leased;
  }

  /** Gives how many of them no agent holds. `asked` = also those of which the owner was asked what they are for. */
  async function release({ asked = false } = {}): Promise<number> {
    const isReleased = (message: HeldMessage) => (asked ? isHeldBack(message) : message.parked === 'parked');
    const released = [...project.messages.values()].filter(isReleased);
    const ids = released.map(({ row }) => row.id);
    if (ids.length > 0) await journal.append([{ t: 'unparked', p, at: clock(), ids }]);
    return released.filter(({ phase }) => phase !== 'leased').length;
  }

  /** After a sleep the message that releases them may have come together with the STOP. */
  async function whatOfParked(parked: number, seq: number): Promise<string> {
    const isNewer = ({ row, parked }: HeldMessage) =>
      row.seq >= seq && parked !== 'asked' && !(project.sprint && row.stopWord);
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

  const isTerminal = () => runtime.state.bound !== undefined && runtime.state.interactive === true;

  return {
    async stop({ seq, type, dialog = 'none' }) {
      const rest = await whatOfParked(await park(seq), seq);
      // Not awaited, here and below: whoever answers the phone must not wait for a file that is locked.
      void inbox.refresh();
      // At once: the end of the running turn may never be seen.
      const over = await sprints.endUntold(type === 'abort' ? 'aborted' : 'stopped');
      if (dialog === 'cancelled') {
        const what = `Stopped: the dialog in the terminal was cancelled, and the turn with it.${rest}`;
        return { text: [what, ...over].join(' '), spent: true };
      }
      if (dialog === 'waits') {
        const what = `A dialog waits in the terminal and can be answered only there. The ${type} takes effect after that.`;
        return { text: [what + rest, ...over].join(' '), spent: !isBusy(runtime.state) };
      }
      if (isBusy(runtime.state)) {
        const owned = options.cancelOwned?.();
        if (owned !== undefined) return { text: [owned + rest, ...over].join(' '), spent: false };
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
      const limit = forMs === undefined ? {} : { forMs };
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
      // The daemon's clock tries again.
      if (runtime.state.wakeable) return `${what}: it starts as soon as nobody types at the terminal.`;
      if (!isTerminal()) return `${what}: it starts after the next turn of the coding agent.`;
      return `${what}: it starts after the next turn at the terminal, which is idle and cannot be woken from here: type a prompt there.`;
    },
    async away(args) {
      const word = args.trim().toLowerCase();
      if (word !== '' && word !== 'on' && word !== 'off') return 'Write /away or /away_off.';
      const value = word !== 'off';
      await journal.append([{ t: 'setting', p, at: clock(), name: 'away', value }]);
      if (!value) {
        const isHeldForAway = options.holdPolicy !== 'always' && !runtime.state.bound?.owned;
        const was = held.current() !== undefined && isHeldForAway;
        if (was) held.release(backNotice);
        return was ? 'Away is off: the keyboard is free again.' : 'Away is off.';
      }
      if (options.holdPolicy === 'never' && !runtime.state.bound?.owned)
        return 'Away is on, but "hold" is "never" in config.json: no turn waits for you.';
      if (held.current()) return 'Away is on: the agent waits for your messages now.';
      if (isBusy(runtime.state)) return 'Away is on: when the running turn ends, the agent waits for your messages.';
      if (runtime.state.wakeable) return 'Away is on: a message of yours wakes the idle terminal.';
      if (!isTerminal()) return 'Away is on: a turn in a terminal waits for your messages when it ends.';
      return 'Away is on, but the idle terminal cannot be woken from here: type /wa:away there, so that the agent waits for your messages.';
    },
    async follow(args) {
      const word = args.trim().toLowerCase();
      if (word === 'auto' || word === 'always' || word === 'never') {
        await journal.append([{ t: 'follow', p, at: clock(), follow: word }]);
        return followTexts[word];
      }
      return word === '' ? followTexts[desk.follow()] : 'It is /follow auto, /follow always or /follow never.';
    },
    async later(id, text) {
      if (text.trim() === '') return 'Write /later and what the agent is to do after its running turn.';
      await journal.append([{ t: 'later', p, at: clock(), id }]);
      void inbox.refresh();
      routes.wake();
      return isBusy(runtime.state) ? 'Kept for after the running turn.' : 'Kept for the next turn.';
    },
    async unpark() {
      const released = await release({ asked: true });
      void inbox.refresh();
      routes.wake();
      return released === 0
        ? 'Nothing is held back.'
        : `${messages(released)} released. The agent is told of a STOP that came in between.`;
    },
    async arrived(ids) {
      const rows = ids.flatMap((id) => {
        const message = project.messages.get(id);
        return message && message.parked !== 'asked' ? message.row : [];
      });
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

const followTexts = {
  auto: 'Follow is auto: while you are at the terminal, the turns that you begin there are not sent; when you leave, one message says what they came to.',
  always: 'Follow is always: each turn is sent, also while you are at the terminal.',
  never: 'Follow is never: turns that are begun at the terminal are not sent. Those that you begin here are.',
} as const;

/** As the owner may have written it: rounded, it would confirm another time. */
function wholeTime(ms: number): string {
  const minutes = ms / 60_000;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`;
}

function messages(count: number): string {
  return `${count} ${count === 1 ? 'message' : 'messages'}`;
}
