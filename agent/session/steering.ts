// Carries out what the owner asks of the turns: STOP, sprint, away, later, continue. Journalled first; works outside the
// queue of hook events, so that a stuck event cannot delay it.

import type { Sprint } from '../../protocol/sprint.ts';
import type { Texts } from '../../protocol/texts.ts';
import { type HeldMessage, isHeldBack, phoneTexts, stopWordId } from '../journal/state.ts';
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

const isHere = ({ phase }: HeldMessage) => phase === 'waiting' || phase === 'fetching';
const isGiven = ({ phase }: HeldMessage) => phase === 'handed' || phase === 'leased';

export function createSteering(runtime: Runtime, { held, routes, sprints, desk }: SteeringParts): Steering {
  const { options } = runtime;
  const { project, journal, inbox, clock } = options;
  const p = project.key;
  const texts = () => phoneTexts(project);

  /** What was given without proof is parked for the case that it comes back. Gives how many others were parked. */
  async function park(beforeSeq: number): Promise<number> {
    const isOpen = (message: HeldMessage) =>
      !isHeldBack(message) && message.row.seq < beforeSeq && (isHere(message) || isGiven(message));
    const parked = [...project.messages.values()].filter(isOpen);
    const ids = parked.map(({ row }) => row.id);
    if (ids.length > 0) await journal.append([{ t: 'parked', p, at: clock(), ids }]);
    return parked.filter(isHere).length;
  }

  /** Gives how many of them no agent holds. `asked` = also those of which the owner was asked what they are for. */
  async function release({ asked = false } = {}): Promise<number> {
    const isReleased = (message: HeldMessage) => (asked ? isHeldBack(message) : message.parked === 'parked');
    const released = [...project.messages.values()].filter(isReleased);
    const ids = released.map(({ row }) => row.id);
    if (ids.length > 0) await journal.append([{ t: 'unparked', p, at: clock(), ids }]);
    return released.filter(isHere).length;
  }

  /** After a sleep the message that releases them may have come together with the STOP. */
  async function whatOfParked(parked: number, seq: number, { stop }: Texts): Promise<string> {
    const isNewer = ({ row, parked }: HeldMessage) =>
      row.seq >= seq && parked !== 'asked' && !(project.sprint && row.stopWord);
    const isReleased = [...project.messages.values()].some(isNewer);
    if (isReleased) await release();
    if (parked === 0) return '';
    return ` ${isReleased ? stop.parkedGo(parked) : stop.parked(parked)}`;
  }

  /** False = the idle terminal cannot be woken, or not now. */
  function rouse(): Promise<boolean> {
    return routes.reach(({ wakes }) => wakes);
  }

  const isTerminal = () => runtime.state.bound !== undefined && runtime.state.interactive === true;

  return {
    async stop({ seq, type, dialog = 'none' }, said = texts()) {
      const { stop } = said;
      const rest = await whatOfParked(await park(seq), seq, said);
      // Not awaited, here and below: whoever answers the phone must not wait for a file that is locked.
      void inbox.refresh();
      // At once: the end of the running turn may never be seen.
      const over = await sprints.endUntold(type === 'abort' ? 'aborted' : 'stopped', said);
      if (dialog === 'cancelled') {
        return { text: [stop.dialogCancelled + rest, ...over].join(' '), spent: true };
      }
      if (dialog === 'waits') {
        return { text: [stop.dialogWaits[type] + rest, ...over].join(' '), spent: !isBusy(runtime.state) };
      }
      if (isBusy(runtime.state)) {
        const owned = options.cancelOwned?.();
        if (owned !== undefined) return { text: [owned + rest, ...over].join(' '), spent: false };
        return { text: [stop.requested[type] + rest, ...over].join(' '), spent: false };
      }
      if (over.length > 0) return { text: over.join(' ') + rest, spent: true };
      return { text: (held.current() ? stop.nothingHeld : stop.nothing) + rest, spent: true };
    },
    async sprint(id, args, phone = texts()) {
      const { sprint: said, words } = phone;
      if (project.sprint) {
        const { done, tasks } = project.sprint;
        return project.sprint.turn === 'none' ? said.ordered(tasks) : said.runs(done, tasks);
      }
      const order = readOrder(args, phone);
      if (typeof order === 'string') return order;
      const now = clock();
      const { tasks, goal, forMs } = order;
      const limit = forMs === undefined ? {} : { forMs };
      const sprint: Sprint = { id, tasks, done: 0, goal, startedAt: now, ...limit, turn: 'none', idleTurns: 0 };
      await journal.append([{ t: 'sprint', p, at: now, sprint }]);
      const what = forMs === undefined ? said.what(tasks) : said.whatTimed(tasks, words.wholeTime(forMs));
      if (held.current()) {
        void routes.reach();
        return said.now(what);
      }
      if (isBusy(runtime.state)) return said.afterTurn(what);
      if (await rouse()) return said.woken(what);
      // The daemon's clock tries again.
      if (runtime.state.wakeable) return said.typing(what);
      if (!isTerminal()) return said.nextTurn(what);
      return said.idle(what);
    },
    async away(args, { modes } = texts()) {
      const word = args.trim().toLowerCase();
      if (word !== '' && word !== 'on' && word !== 'off') return modes.awayForms;
      const value = word !== 'off';
      await journal.append([{ t: 'setting', p, at: clock(), name: 'away', value }]);
      if (!value) {
        const isHeldForAway = options.holdPolicy !== 'always' && !runtime.state.bound?.owned;
        const was = held.current() !== undefined && isHeldForAway;
        if (was) held.release(backNotice);
        return was ? modes.awayOffFreed : modes.awayOff;
      }
      if (options.holdPolicy === 'never' && !runtime.state.bound?.owned) return modes.awayNever;
      if (held.current()) return modes.awayHeld;
      if (isBusy(runtime.state)) return modes.awayTurn;
      if (runtime.state.wakeable) return modes.awayWakes;
      if (!isTerminal()) return modes.awayNext;
      return modes.awayIdle;
    },
    async follow(args) {
      const word = args.trim().toLowerCase();
      const { modes } = texts();
      if (word === 'auto' || word === 'always' || word === 'never') {
        await journal.append([{ t: 'follow', p, at: clock(), follow: word }]);
        return modes.follow[word];
      }
      return word === '' ? modes.follow[desk.follow()] : modes.followForms;
    },
    async later(id, text) {
      const { modes } = texts();
      if (text.trim() === '') return modes.laterForm;
      await journal.append([{ t: 'later', p, at: clock(), id }]);
      void inbox.refresh();
      routes.wake();
      return isBusy(runtime.state) ? modes.laterTurn : modes.laterNext;
    },
    async unpark() {
      const released = await release({ asked: true });
      void inbox.refresh();
      routes.wake();
      const { modes } = texts();
      return released === 0 ? modes.nothingHeldBack : modes.released(released);
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
      if (isBusy(runtime.state)) {
        // A terminal hears of it by its hooks, and at the end of its turn.
        options.cancelOwned?.();
        return;
      }
      const parked = await park(Number.POSITIVE_INFINITY);
      if (project.sprint) await sprints.end('stopped');
      await inbox.settleForeignStops();
      const { stop } = texts();
      const rest = parked === 0 ? '' : ` ${stop.parked(parked)}`;
      await options.tell(`foreign_stop_${clock()}`, stop.foreign + rest);
    },
  };
}
