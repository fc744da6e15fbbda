// Everything of approvals for one project in one place: the gate, what runs after a tool, budgets and the audit file.
// The daemon shows it every hook call; it never touches messages or turns.

import { homedir } from 'node:os';
import type { ControlRow } from '../../protocol/log.ts';
import type { OutboxItem } from '../../protocol/relay-api.ts';
import type { HookCall, TurnAnswer } from '../../protocol/turn-events.ts';
import type { Binding } from '../config.ts';
import { knownAs } from '../drivers/any-agent.ts';
import { verifyAll } from '../drivers/workstations.ts';
import { textItem } from '../plain-text.ts';
import { visible } from '../visible.ts';
import type { ToolEnd } from './after-tool.ts';
import { budgetPrefix } from './budgets.ts';
import { dialogPrefix } from './dialog-items.ts';
import { type GuardDeps, type GuardIo, joinGuard } from './guard-parts.ts';
import { onlyTools } from './policy/policy.ts';
import { type GateHost, hashOf } from './question/asked.ts';

export type Guard = Awaited<ReturnType<typeof guardProject>>;

export async function guardProject(binding: Binding, deps: GuardDeps, io: GuardIo) {
  const { log } = deps;
  const { key, texts, notify, policies, audit, budgets, approvals, owned, dialogs, permissions, after, ungated } =
    await joinGuard(binding, deps, io);

  /** What keeps the coding agent from running the gates although approvals are on, as of the last look. */
  let switches: readonly string[] = [];
  async function lookAtSwitches(): Promise<void> {
    const found = await verifyAll(binding.dir, homedir());
    for (const problem of found.filter((each) => !switches.includes(each))) {
      log('error', 'gates switched off', { problem });
      void notify('switches', texts().approvals.switchedOff(problem));
    }
    switches = found;
  }

  const stops = new Set<string>();
  let stopInFile: string | undefined;
  async function onStop(line: { what: string; id: string; by?: string }, by: 'owner' | 'file'): Promise<void> {
    audit.write({ kind: 'stop', ...line });
    after.hurry();
    await approvals.stopAll(by);
    // The owner's STOP cancels the prompt that asks, behind what it holds back: withdrawn before, the question would end the prompt first.
    if (by === 'file') await owned.cancel();
  }

  function afterTool(call: ToolEnd, host: GateHost): Promise<TurnAnswer> {
    const { agent, session, event } = call;
    const line = { kind: 'tool', tool: visible(event.tool), session, hash: hashOf(event) } as const;
    audit.write(audit.describe({ agent, input: event.input }).then((text) => ({ ...line, text })));
    return after.run(call, host);
  }

  async function onTurnStart(call: HookCall): Promise<TurnAnswer> {
    after.turnStarts(call.session);
    const only = onlyTools(await policies.at(call));
    const tools = only && `Only these tools may be used now: ${only.join(', ') || 'none'}.`;
    const all = [tools, after.take(call.session).context].filter((text) => text !== undefined);
    return all.length === 0 ? {} : { context: all.join('\n\n') };
  }

  function failed(call: HookCall, cause: unknown): void {
    log('error', 'guard failed', { project: key, type: call.event.type, error: (cause as Error).message });
  }

  return {
    /** What a text of the owner may be meant for: the question whose Edit… was tapped, or a form that waits for a text. */
    expects(): { id: string; as: 'command' | 'answer' } | undefined {
      const command = approvals.editing();
      if (command !== undefined) return { id: command, as: 'command' };
      const answer = owned.writing();
      return answer === undefined ? undefined : { id: answer, as: 'answer' };
    },
    /** Uses a text so. Undefined = done; a text = why not. */
    use: (id: string, userId: string, text: string): Promise<string | undefined> =>
      owned.writing() === id ? owned.use(id, userId, text) : approvals.runInstead(id, userId, text),
    /** What sessions that the daemon owns ask of the owner. */
    owned,
    refusalOf: approvals.refusalOf,
    /** The dialogs of the coding agent in its terminal. */
    dialogs,
    /** Every call, before anything is decided about it. */
    sees(call: HookCall): void {
      try {
        dialogs.sees(call);
        permissions.sees(call);
        ungated.sees(call);
      } catch (cause) {
        failed(call, cause);
      }
    },
    /** The gate of this call is about to be answered with yes. */
    passes({ agent, session, event }: HookCall, { input, allow }: TurnAnswer): void {
      if (event.type !== 'gate') return;
      const call = { agent, ...event, input: input ?? event.input };
      ungated.passed(session, call);
      if (allow) permissions.passed(session, call);
    },
    /** Refused before anything else sees the call: a budget is used up. */
    admit: budgets.admit,
    /** True = something runs after this tool, for which its hook should be kept waiting. Never rejects. */
    async runsAfter(call: HookCall): Promise<boolean> {
      const { event } = call;
      return event.type === 'toolEnd' && after.concerns({ ...call, event });
    },
    /** What is added to the answer of a call; for a gate it may take as long as a person. Never rejects. */
    async follow(call: HookCall, host: GateHost): Promise<TurnAnswer> {
      const { event } = call;
      try {
        if (event.type === 'gate') return await approvals.gate({ ...call, event }, host);
        if (event.type === 'permission') return await permissions.decide({ ...call, event }, host);
        // Of an agent without a driver, too: the daemon runs its sessions.
        if (event.type === 'toolEnd') return await afterTool({ ...call, agent: knownAs(call.agent), event }, host);
        if (event.type === 'turnStart') return await onTurnStart(call);
        if (event.type === 'turnEnd') {
          const used = await budgets.turnEnded(call);
          audit.write({ kind: 'turn', session: call.session, ...used });
        }
        if (event.type === 'sessionEnd') await after.sessionEnds(call.session);
      } catch (cause) {
        failed(call, cause);
      }
      return {};
    },
    /** What the phone gets for a control about approvals; undefined = another control. A STOP is noted, and undefined. */
    async answer(control: ControlRow): Promise<OutboxItem[] | undefined> {
      const { id, control: said } = control;
      if (said.type === 'stop' || said.type === 'abort') {
        // The control comes again until the turn rules have handled it.
        if (stops.has(id)) return undefined;
        stops.add(id);
        await onStop({ what: said.type, id }, 'owner');
        return undefined;
      }
      if (said.type === 'button' && said.action.startsWith(budgetPrefix)) {
        return [await budgets.answer(`reply_${id}`, said.action)];
      }
      if (said.type === 'button' && said.action.startsWith(dialogPrefix)) {
        const text = await dialogs.answer(said.action, said.userId);
        return text === undefined ? [] : [textItem(`reply_${id}`, 'reply', text)];
      }
      const ofOwned = await owned.answer(control);
      if (ofOwned) return ofOwned;
      const before = approvals.mode();
      const items = await approvals.answer(control);
      if (approvals.mode() !== before) audit.write({ kind: 'mode', mode: approvals.mode() });
      return items;
    },
    /** The STOP of another program that stands open in the inbox file, as of each look at it. */
    async stoppedInFile(stop: { id: string; type: 'stop' | 'abort' } | undefined): Promise<void> {
      // The entry stands there until a turn has obeyed it, and denies only the questions that it finds.
      if (stop?.id === stopInFile) return;
      stopInFile = stop?.id;
      if (stop) await onStop({ what: stop.type, id: stop.id, by: 'another program' }, 'file');
    },
    async tick(): Promise<void> {
      await approvals.tick();
      void dialogs.tick();
      await ungated.look();
      if (approvals.mode() !== 'off') await lookAtSwitches();
    },
    /** Looks at the policies anew, for `status`. Never rejects. */
    async readPolicies(): Promise<void> {
      await policies.read();
    },
    /** `policies`: whose policies say something; `problems`: what of them could not be read when they were last looked at. */
    status: () => ({
      mode: approvals.mode(),
      asked: approvals.waiting() + owned.waiting(),
      policies: policies.active(),
      problems: [...policies.problems(), ...switches],
    }),
    async stop(): Promise<void> {
      await after.stop();
      await dialogs.idle();
      await audit.flush();
    },
  };
}
