// The turns of one project: takes hook events, one at a time, so that an event sees all that the one before it did, and carries
// out what the rules decide. A held hook waits outside the queue, a gate never enters it.

import type { HookCall, TurnAnswer } from '../../protocol/turn-events.ts';
import { driverOf } from '../drivers/registry.ts';
import { ranWords, runningWords, shortWords } from '../drivers/tool-words.ts';
import { phoneTexts } from '../journal/state.ts';
import { createQueue } from '../queue.ts';
import { decide, type TurnEffect } from '../turns/rules.ts';
import { sessionContext, terminalNews, unwakeableNotice } from '../turns/terminal.ts';
import type { TurnPlace } from '../turns/view.ts';
import { createAdoption } from './adoption.ts';
import { createHandOver } from './custody.ts';
import { createDesk, findTerminal } from './desk.ts';
import { createEnding, createSprintRecord } from './ending.ts';
import { createHeldTurn, type Held } from './held-turn.ts';
import { createNudge, createQueueRoute, createRoutes, type Routes } from './routes.ts';
import { createRuntime, currentStop, noneWaiting } from './runtime.ts';
import { createSettlement, placeNowOf, untilOf } from './settlement.ts';
import { carriedBy, isBusy, placeIn } from './state.ts';
import { createSteering } from './steering.ts';
import type { HookHost, Turns, TurnsOptions } from './types.ts';
import { createWatchdog } from './watchdog.ts';

type TurnStarted = Extract<TurnEffect, { type: 'turnStarted' }>;
type PlaceNow = () => Promise<TurnPlace>;

export function createTurns(options: TurnsOptions): Turns {
  const { project, journal, inbox, clock, log } = options;
  const p = project.key;
  const enqueue = createQueue();
  const runtime = createRuntime(options);
  const { dispatch, viewOf, nonce, keepTurn } = runtime;
  const settlement = createSettlement(runtime);
  const sprints = createSprintRecord(options);
  const hand = createHandOver(runtime);
  const desk = createDesk(runtime);
  const held = createHeldTurn(runtime, hand, { keepSprint: sprints.keep, enqueue, desk, wake: () => routes.wake() });
  const nudge = createNudge(runtime, () => held.current() !== undefined, desk.look);
  const isHeld = () => held.current() !== undefined;
  const { queue } = options;
  const queued = queue && createQueueRoute(runtime, { queue, hand, keepSprint: sprints.keep, enqueue, isHeld });
  const routes: Routes = createRoutes(runtime, [held.route, nudge, ...(queued ? [queued] : [])]);
  const ending = createEnding(runtime, { settlement, sprints, held, desk });
  const steering = createSteering(runtime, { held, routes, sprints, desk });
  const { adopt, adoptBefore, adoptOpen, findUntold } = createAdoption(runtime, ending);
  const check = createWatchdog(runtime, { routes, held, desk, settlement, ending, sprints, adopt });

  /** `begins` = where in the session file, of a turn. `answered`: the host has its answer already, so nothing may be handed over. */
  async function run(
    call: HookCall,
    host: HookHost,
    { begins, answered = false }: { begins?: Promise<TurnPlace> | undefined; answered?: boolean } = {},
  ): Promise<TurnAnswer | Held> {
    const { type } = call.event;
    const starts = type === 'turnStart';
    const placeNow = () => begins ?? placeNowOf(call, host);
    if (!(await adoptBefore(call, host))) return {};
    if (starts && !isBusy(runtime.state)) await findUntold(await placeNow(), call.session);
    const moved = await isMoved(call, host);
    if (moved) {
      await adoptOpen();
      await bind(call, host, placeNow);
    }
    const isBound = () => runtime.state.bound?.id === call.session;
    if (isBound()) await noteEvent(call, host);
    for (;;) {
      const takes = !answered && (starts || type === 'toolEnd' || type === 'steerable');
      const decision = decide(call, viewOf(takes ? await inbox.waiting() : noneWaiting), nonce());
      const ends = decision.effects.findIndex((effect) => effect.type === 'turnEnded');
      if (call.event.type === 'turnEnd' && ends !== -1) {
        for (const effect of decision.effects.slice(0, ends)) await carryOut(effect, call, host, placeNow);
        return ending.endOfTurn(call.event, call, host);
      }
      // What the ended turn gives back belongs to the one that starts.
      const again = starts && ends !== -1;
      const effects = again ? decision.effects.slice(0, ends + 1) : decision.effects;
      for (const effect of effects) if (!(await carryOut(effect, call, host, placeNow))) return {};
      if (again) continue;
      if (effects.some((effect) => effect.type === 'waits')) {
        const waits = await held.hold(call, host);
        // A message wakes what is held; a sprint that was begun before does not.
        if (project.sprint) void routes.reach();
        return waits;
      }
      if (isBound()) {
        const { event } = call;
        if (event.type === 'dialog') options.onDialog(call, host.pid, event.dialog);
        if (event.type === 'gate' && event.asks !== undefined)
          options.onDialog(call, host.pid, { kind: 'question', title: '', text: event.asks });
        const news = terminalNews(event);
        if (news !== undefined && !desk.withholds()) await options.tell(`terminal_${call.session}_${clock()}`, news);
      }
      const handsOver = effects.some((effect) => effect.type === 'hand');
      if ((moved || effects.length > 0) && !handsOver) void keepTurn();
      return type === 'sessionStart' && isBound() ? greeting() : decision.answer;
    }
  }

  function greeting(): TurnAnswer {
    const { interactive, wakeable } = runtime.state;
    const needsWord = interactive && !wakeable && options.holdPolicy !== 'always';
    return { context: sessionContext, ...(needsWord ? { notice: unwakeableNotice(options.nudgeOff === true) } : {}) };
  }

  /**
   * /clear and resume give the same process a new session id: the binding moves with the process. A server has the sessions of several
   * terminals, and does not tell when one of them is closed: there the binding moves to the session that gets a prompt.
   */
  async function isMoved({ agent, session, event }: HookCall, { pid }: HookHost): Promise<boolean> {
    const { bound } = runtime.state;
    if (bound === undefined || pid === undefined || bound.pid !== pid || bound.id === session) return false;
    return !(await options.isServer?.(pid, agent)) || (event.type === 'turnStart' && !isBusy(runtime.state));
  }

  /** What stands in the session file before the binding is not told. */
  async function bind({ session, transcript, owned }: HookCall, { pid }: HookHost, placeNow: PlaceNow): Promise<void> {
    const toldTo = transcript === undefined ? undefined : { transcript, at: (await placeNow()).offset };
    dispatch({ type: 'bound', session: { id: session, pid, ...(owned ? { owned } : {}) }, toldTo });
  }

  async function noteEvent({ agent, event }: HookCall, { pid }: HookHost): Promise<void> {
    await findTerminal(runtime, agent, pid);
    dispatch({ type: 'called', agent, at: clock() });
    if (
      event.type === 'modelRequest' ||
      event.type === 'gate' ||
      event.type === 'permission' ||
      event.type === 'toolEnd' ||
      event.type === 'says'
    )
      dispatch({ type: 'modelSeen' });
    if (event.type === 'says') options.activity.said(event);
    if (event.type === 'gate') options.activity.running(runningWords({ agent, ...event }, phoneTexts(project)));
    if (event.type !== 'toolEnd') return;
    dispatch({ type: 'toolEnded' });
    options.activity.tool(shortWords({ agent, ...event }, phoneTexts(project)));
  }

  /** False = the hand-over did not happen, so the answer must not leave. */
  async function carryOut(effect: TurnEffect, call: HookCall, host: HookHost, placeNow: PlaceNow): Promise<boolean> {
    switch (effect.type) {
      case 'bind':
        if (held.current()?.call.session !== effect.session) held.release();
        await bind(call, host, placeNow);
        await noteEvent(call, host);
        log('info', 'session bound', { project: p, session: effect.session, pid: host.pid });
        return true;
      case 'waits':
        return true;
      case 'unbind':
        held.release();
        dispatch({ type: 'unbound' });
        return true;
      case 'turnStarted':
        await startTurn(effect, call, await placeNow());
        return true;
      case 'hand':
        return hand(effect.messages, call.session, placeIn(runtime.state) ?? (await placeNow()), host);
      case 'prove':
        await settlement.prove(effect.texts);
        return true;
      case 'turnEnded':
        await endOpen(effect.answer, call, placeNow);
        return true;
      case 'stopSpent':
        await ending.spendStop(
          call.event.type === 'gate'
            ? ranWords({ agent: call.agent, ...call.event }, phoneTexts(project), 'before')
            : undefined,
        );
        return true;
      case 'setAway':
        await journal.append([{ t: 'setting', p, at: clock(), name: 'away', value: effect.away }]);
        return true;
    }
  }

  async function endOpen(answer: string | undefined, call: HookCall, placeNow: PlaceNow): Promise<void> {
    const { event } = call;
    if (call.owned && (event.type === 'sessionEnd' || event.type === 'ready')) {
      // Its end came while nobody heard it.
      const found = await options.answerInFile?.(call, carriedBy(runtime.state));
      if (found) {
        dispatch({ type: 'modelSeen' });
        await settlement.prove(found.prompts);
      }
      await ending.endOpenTurn({ why: event.type === 'ready' ? event.why : event.reason, lagMs: 0, ...found });
      await sprints.end('error');
      return;
    }
    if (event.type !== 'turnStart') return ending.endOpenTurn({ answer });
    try {
      // A turn that the next one ends was over long ago, and the next one waits for its answer.
      await ending.endOpenTurn({ lagMs: 0, answer, until: untilOf(placeIn(runtime.state), await placeNow()) });
    } catch (cause) {
      // A full disk: it is settled later, and the host goes on all the same, with a turn that is not reported yet.
      dispatch({ type: 'endTold', id: undefined });
      await keepTurn();
      throw cause;
    }
  }

  async function startTurn(
    { continued, nudged, byHost }: TurnStarted,
    call: HookCall,
    place: TurnPlace,
  ): Promise<void> {
    if (continued) {
      dispatch({ type: 'turnContinued', at: clock() });
      // Whether the host took the prompt, its session file says.
      if (!call.owned && driverOf(call.agent)?.announcesNext === false) dispatch({ type: 'modelSeen' });
      // A task of a sprint carries no message, and its progress is shown all the same.
      if (project.sprint?.turn === 'task') options.activity.started();
      return;
    }
    dispatch({ type: 'turnStarted', place, at: clock(), nudged, byHost });
    if (!nudged && !byHost) dispatch({ type: 'personSeen', at: clock() });
    const { sprint } = project;
    if (sprint && sprint.turn !== 'message') await sprints.keep({ ...sprint, turn: 'message' });
  }

  /** Answered from what is in memory; what it means for the turn follows in the queue. */
  function answerNow(call: HookCall, host: HookHost): TurnAnswer {
    const { answer } = decide(call, viewOf(noneWaiting), nonce());
    later(() => run(call, host, { answered: true }));
    return answer;
  }

  function later(work: () => Promise<unknown>): void {
    enqueue(work).catch((cause) => log('error', 'hook work failed', { project: p, error: (cause as Error).message }));
  }

  return {
    steering,
    wake: routes.wake,
    async handle(call, host) {
      const { type } = call.event;
      // A person's prompt: Esc was pressed while the hook was held, and what it returns now is lost.
      if (type === 'turnStart' && held.current()?.call.session === call.session) held.release();
      const hasNews =
        type === 'toolEnd' &&
        !call.owned &&
        inbox.hasNews({ midTurn: true }) &&
        !currentStop(project, inbox.foreignStop());
      const waits = alwaysInOrder.has(type) || (type === 'sessionEnd' && call.owned) || hasNews;
      if (!waits) return answerNow(call, host);
      // What comes into the file from now on is of the turn that begins, whenever its event has its turn here.
      const begins = type === 'turnStart' ? placeNowOf(call, host) : undefined;
      const answer = await enqueue(() => run(call, host, { begins }));
      return 'untilAt' in answer ? answer.answer : answer;
    },
    exclusive: enqueue,
    checkProcess: () => enqueue(check),
    cancelled: (why) =>
      later(async () => {
        await ending.endOpenTurn({ cancelled: why });
        await sprints.end('stopped');
        await keepTurn();
        routes.wake();
      }),
    stoppedAlone: (ids) =>
      later(async () => {
        await sprints.end('stopped');
        await options.tell(`stopped_${ids[0]}`, phoneTexts(project).stop.byHooks);
      }),
    status: () => ({
      session: runtime.state.bound?.id ?? null,
      turnRuns: runtime.state.turn.phase === 'running',
      busy: isBusy(runtime.state),
      owned: runtime.state.bound?.owned === true,
      held: held.current() !== undefined,
      sprint: project.sprint ? { done: project.sprint.done, tasks: project.sprint.tasks } : null,
      away: desk.isAway(),
      present: runtime.state.interactive ? desk.isPresent() : null,
      wakeable: runtime.state.wakeable ?? null,
      follow: desk.follow(),
      withheld: project.withheld?.turns ?? 0,
    }),
    seenAt: () => runtime.state.seenAt,
    async stop() {
      routes.stop();
      if (held.current()) {
        const isOwned = runtime.state.bound?.owned === true;
        held.release();
        if (!isOwned) await options.tell(`released_${clock()}`, phoneTexts(project).turns.daemonEnds).catch(() => {});
      }
      // What was begun is finished.
      await enqueue(async () => {});
    },
  };
}

/** Answered when everything before them is done. */
const alwaysInOrder: ReadonlySet<string> = new Set(['turnStart', 'turnEnd', 'sessionStart', 'ready', 'steerable']);
