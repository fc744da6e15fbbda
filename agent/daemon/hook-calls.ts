// One hook call through the parts of its project: budgets, turn rules, approvals. Decides nothing; keeps the deadline of
// events that never hold, and a gate closed when no judgement was possible.

import { hookLimits } from '../../protocol/limits.ts';
import type { HookCall, TurnAnswer } from '../../protocol/turn-events.ts';
import type { Gates } from '../approvals/gate-files.ts';
import { findBinding } from '../binding.ts';
import { driverOf, isGate, mayHold } from '../drivers/registry.ts';
import { createFolders } from '../drivers/session-folder.ts';
import { workstationOf } from '../drivers/workstations.ts';
import type { HookRun } from '../local-server/app.ts';
import type { Log } from '../log.ts';
import { isAlive } from '../process.ts';
import type { RunningProject } from './project.ts';

export interface HookCallsOptions {
  projects: readonly RunningProject[];
  gates: Gates;
  clock: () => number;
  log: Log;
}

/** What an answer needs from here to the launcher. */
const marginMs = 50;

/** Gives the tool's own JSON answer; never rejects. */
export function createHookCalls({ projects, gates, clock, log }: HookCallsOptions) {
  const bindings = projects.map((project) => project.binding);
  const folderOf = createFolders();

  /** Undefined = an unreadable payload. */
  async function answer(run: HookRun): Promise<object | undefined> {
    const { tool, event, payload, pid, maxSeconds, slowness, isGone } = run;
    const driver = driverOf(tool);
    const call = driver?.readCall(event, payload);
    if (!driver || !call) return undefined;
    const binding = await findBinding(await folderOf(call), bindings);
    const project = projects.find((each) => each.binding === binding);
    if (!project) return {};
    if (call.event.type === 'sessionEnd' && pid !== undefined) {
      project.mcp.sessionEnded(pid).catch((cause) => log('error', 'leases not given back', { error: String(cause) }));
    }
    if (pid !== undefined && project.owned.sessions.isOwn(pid)) return {};
    const { guard, turns } = project;
    const written = (said: TurnAnswer) => driver.writeAnswer(event, inForm(said, call));
    guard.sees(call);
    const answerMs = hookLimits.answerMs * slowness;
    const until = clock() + answerMs;
    // What a policy runs after a tool takes its time.
    const isHeld = await guard.runsAfter(call);
    if (isHeld) run.hold();
    const holds = isHeld || mayHold(tool, event);
    const deadline = createDeadline(holds ? undefined : answerMs);
    // Past the deadline the launcher is gone, or about to be: what is handed over then would be lost.
    let isLeft = false;
    const caller = {
      tool,
      pid,
      maxMs: maxSeconds * 1000,
      lockMs: hookLimits.fileLockMs * slowness,
      isGone: () => isLeft || isGone() || (!holds && clock() > until - marginMs),
      leave: () => {
        isLeft = true;
      },
    };
    const host = isHeld ? withAgent(caller) : caller;
    try {
      const refused: TurnAnswer | undefined = await deadline.within(guard.admit(call));
      if (refused?.deny !== undefined) return written(refused);
      // The turn rules go first. Only what asks a person must not begin before they have spoken.
      const asks = isGate(tool, event) || call.event.type === 'permission';
      const following = asks ? undefined : guard.follow(call, host);
      // Of a hook that is kept waiting they hear when it is answered, so that what comes meanwhile goes with the same result.
      if (isHeld) await following;
      if (isHeld && host.isGone()) return written((await following) ?? {});
      const turn: TurnAnswer = await deadline.within(
        turns.handle(call, host).catch((cause) => {
          // A full disk takes the messages from this answer, and not what keeps a result from the model.
          if (call.event.type !== 'toolEnd') throw cause;
          log('error', 'hook failed', { tool, hook: event, error: (cause as Error).message });
          return {};
        }),
      );
      if (turn.deny !== undefined || turn.halt !== undefined) return written(turn);
      const more: TurnAnswer = await deadline.within(following ?? guard.follow(call, withAgent(host)));
      // An abort that came while the owner was asked refuses the tool and ends the turn as well.
      const ended: TurnAnswer = more.deny !== undefined && isGate(tool, event) ? await turns.handle(call, host) : {};
      if (ended.halt !== undefined) return written(ended);
      const context = [turn.context, more.context].filter((text) => text !== undefined).join('\n\n');
      const said: TurnAnswer = { ...turn, ...more, ...(context === '' ? {} : { context }) };
      if (said.deny === undefined && said.halt === undefined) guard.passes(call, said);
      return written(said);
    } finally {
      deadline.clear();
    }
  }

  return async (run: HookRun): Promise<object> => {
    const { tool, event } = run;
    try {
      const answered = await answer(run);
      if (answered) return answered;
    } catch (cause) {
      log('error', 'hook failed', { tool, hook: event, error: (cause as Error).message });
    }
    const closed = isGate(tool, event) && gates.closed();
    return (closed && driverOf(tool)?.writeAnswer(event, { deny: gates.closedText })) || {};
  };
}

/** What takes the place of a result, in the form of its tool. */
function inForm(said: TurnAnswer, { agent, event }: HookCall): TurnAnswer {
  if (event.type !== 'toolEnd' || said.deny === undefined) return said;
  const result = workstationOf(agent)?.replacedResult?.(event.tool, event.server, said.deny);
  return result === undefined ? said : { ...said, result };
}

/** A launcher may outlive the coding agent that waits for it: then no agent hears the answer. */
function withAgent<H extends { pid: number | undefined; isGone(): boolean }>(host: H): H {
  return { ...host, isGone: () => host.isGone() || (host.pid !== undefined && !isAlive(host.pid)) };
}

/** The launcher gives up after `answerMs`; an answer after that would be counted as given and never read. */
function createDeadline(answerMs: number | undefined) {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Record<string, never>>((resolve) => {
    if (answerMs !== undefined) timer = setTimeout(() => resolve({}), answerMs);
  });
  return {
    within: <T>(work: Promise<T>): Promise<T | Record<string, never>> =>
      answerMs === undefined ? work : Promise.race([work, late]),
    clear: () => clearTimeout(timer),
  };
}
