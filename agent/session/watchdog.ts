// Notices what no event tells: a coding agent that is gone, a turn without a sign of life, a hold at its end, a prompt that the host
// never started, a message that waits at an idle agent. Called by the daemon's clock, in the queue of the events.

import { sizeOf } from '../drivers/session-file.ts';
import { isHeldBack, phoneTexts } from '../journal/state.ts';
import { pickUpText } from '../turns/terminal.ts';
import type { Adopting } from './adoption.ts';
import { type Desk, findTerminal } from './desk.ts';
import type { Ending, SprintRecord } from './ending.ts';
import type { HeldTurn } from './held-turn.ts';
import type { Routes } from './routes.ts';
import { currentStop, type Runtime } from './runtime.ts';
import { type Settlement, turnRecord } from './settlement.ts';
import { isBusy } from './state.ts';

export interface WatchdogParts {
  routes: Routes;
  held: HeldTurn;
  desk: Desk;
  settlement: Settlement;
  ending: Ending;
  sprints: SprintRecord;
  /** Takes what hooks did without the daemon. */
  adopt(how?: Adopting): Promise<void>;
}

/** A running turn without any event for this long is told once: a dialog may wait in the terminal. */
const silentAfterMs = 5 * 60_000;
/** The end of a turn has an event of its own, which may be on its way. */
const failedAfterMs = 2_000;
/** A prompt that the host has not started by then is lost. */
const offeredForMs = 90_000;
/** Delay before the phone is told how a message at an idle agent will be picked up: where no terminal is idle, a turn may begin. */
const patienceMs = 5_000;
/** Where the terminal can be woken, a person may just be typing there. */
const typistPatienceMs = 20_000;

export function createWatchdog(
  runtime: Runtime,
  { routes, held, desk, settlement, ending, sprints, adopt }: WatchdogParts,
): () => Promise<void> {
  const { options, dispatch, keepTurn } = runtime;
  const { project, clock, log } = options;
  const p = project.key;
  const said = () => phoneTexts(project).turns;
  let waitsSince: number | undefined;
  /** `startedAt` of the last turn since which the phone was told. */
  let pickUpTold: number | undefined;

  /** `startedAt` of the turn whose silence the phone was told. */
  let silentTurn: number | undefined;

  /** Size of the session file when it was read last. */
  let readTo: number | undefined;

  /** A turn that ended with an error which the host tells to no hook: the session file says so. */
  async function endFailed(): Promise<void> {
    const { turn, lastEventAt } = runtime.state;
    if (turn.phase !== 'running' || clock() - lastEventAt < failedAfterMs) return;
    const size = await sizeOf(turn.place.transcript);
    if (size === readTo) return;
    readTo = size;
    if ((await turnRecord(turn.place))?.isOver) {
      await ending.endOpenTurn({ lagMs: 0 });
      await sprints.end('error');
      await keepTurn();
      routes.wake();
    }
  }

  async function tellSilence(): Promise<void> {
    const { bound, turn, startedAt, lastEventAt } = runtime.state;
    if (turn.phase !== 'running' || silentTurn === startedAt || clock() - lastEventAt < silentAfterMs) return;
    silentTurn = startedAt;
    await options.tell(`silent_${lastEventAt.toString(36)}`, said()[bound?.owned ? 'silentOwned' : 'silent']);
  }

  function cannotProve(cause: Error): void {
    log('warn', 'not proved', { project: p, error: cause.message });
  }

  /** Wakes an idle terminal for what waits: a person typed there, or something stood in the prompt, when it came. */
  function wake(): void {
    if (isBusy(runtime.state) || routes.isAttended()) return;
    const hasWork = oldest() !== undefined || project.sprint !== undefined;
    // Not awaited: the turn that begins there waits in the queue of the events.
    if (hasWork) void routes.reach(({ wakes }) => wakes);
  }

  /** Tells once per turn how a waiting message will be picked up, unless a route or a new turn takes it soon. */
  async function tellPickUp(): Promise<void> {
    const { bound, startedAt, wakeable, interactive } = runtime.state;
    const id = oldest();
    if (id === undefined || isBusy(runtime.state) || routes.isAttended()) {
      waitsSince = undefined;
      return;
    }
    waitsSince ??= clock();
    const patience = wakeable ? typistPatienceMs : interactive ? 0 : patienceMs;
    if (pickUpTold === startedAt || clock() - waitsSince < patience) return;
    pickUpTold = startedAt;
    const terminal = { isOpen: bound !== undefined, isTerminal: interactive ?? false, wakeable: wakeable ?? false };
    const { holdPolicy: policy, nudgeOff = false } = options;
    const text = pickUpText({ ...terminal, policy, nudgeOff }, phoneTexts(project));
    // Made of the message, so that a restart does not tell it again.
    await options.tell(`waits_${id}`, text, id);
  }

  /** Without those whose owner was told already: sent with `/later`, parked by a STOP, or asked about. */
  function oldest(): string | undefined {
    for (const each of project.waiting.values()) if (!isHeldBack(each) && !each.later) return each.row.id;
    return undefined;
  }

  async function check(): Promise<void> {
    await adopt();
    // The event that would have proved it may have gone to the daemon before this one.
    if (runtime.state.turn.phase === 'running') await settlement.prove(undefined).catch(cannotProve);
    await endFailed();
    await tellSilence();
    await held.endIfBack();
    const current = held.current();
    if (current && (current.host.isGone() || clock() >= current.untilAt)) {
      held.release();
      if (!current.host.isGone()) await options.tell(`held_${current.untilAt}`, said().waitOver);
    }
    const { bound, turn, agent } = runtime.state;
    // After a restart no event has said what the terminal is.
    if (bound?.pid !== undefined && agent !== undefined) await findTerminal(runtime, agent, bound.pid);
    if (turn.phase === 'offered' && clock() - turn.at > offeredForMs) await ending.endOpenTurn({ lagMs: 0 });
    if (bound?.pid !== undefined && !bound.owned && !options.isAlive(bound.pid)) {
      log('info', 'coding agent gone', { project: p, pid: bound.pid, turn: turn.phase });
      held.release();
      await adopt({ isFresh: true });
      dispatch({ type: 'unbound' });
      if (isBusy(runtime.state)) await ending.endOpenTurn({ why: said().agentGone });
      await sprints.end('error');
      await keepTurn();
    }
    if (!isBusy(runtime.state) && currentStop(project, undefined)) await ending.spendStop();
    wake();
    await desk.check(oldest() !== undefined);
    await tellPickUp();
  }

  return check;
}
