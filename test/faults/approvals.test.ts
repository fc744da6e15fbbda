// Approvals while the parts break, in the fault lab: the built program, a real relay, a coding agent as a process of its own.
// Nothing runs without a yes, and what is approved does run.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Approver, createApprover } from '../../scripts/chaos/approvals/approver.ts';
import { type ApprovalVerdict, type CallLedger, createCallLedger } from '../../scripts/chaos/approvals/calls.ts';
import { createRandom } from '../../scripts/chaos/random.ts';
import { runChaos } from '../../scripts/chaos/run.ts';
import { openStage, removeState, type Stage } from '../../scripts/chaos/stage.ts';
import { type Lab, openLab } from '../../scripts/lab/lab.ts';

const seed = 20260215;

describe('a tool call', () => {
  let lab: Lab;
  let stage: Stage;
  let ledger: CallLedger;
  let approver: Approver;
  beforeAll(async () => {
    lab = await openLab(() => {});
    stage = await openStage(lab, () => {});
    await stage.daemon.up();
    ledger = createCallLedger(Date.now);
    approver = await createApprover({ stage, ledger, random: createRandom(seed), waitMs: 9_000 });
    await approver.switchOn();
  });
  afterAll(async () => {
    await stage.close();
    await lab.close();
  });

  /** What it adds to the count. */
  async function counted(work: () => Promise<unknown>): Promise<ApprovalVerdict> {
    const before = ledger.verdict();
    await work();
    const change = Object.entries(ledger.verdict()).map(([name, value]) => {
      const was = before[name as keyof ApprovalVerdict];
      return [name, typeof value === 'number' ? value - (was as number) : value];
    });
    return Object.fromEntries(change) as ApprovalVerdict;
  }

  const nothing = { edited: 0, deniedDespiteYes: 0, ranWithoutYes: [], runTwice: [] };

  it('runs when the owner approves it in time, once, as it was shown or edited', async () => {
    const approved = await counted(async () => {
      for (const way of ['approve', 'twice', 'edit'] as const) await approver.call(way);
    });
    expect(approved).toEqual({ ...nothing, calls: 3, asked: 3, approved: 3, edited: 1, denied: 0 });
  });

  it('does not run when the owner says no, says STOP, says nothing, or says yes too late or to nobody', async () => {
    const denied = await counted(async () => {
      for (const way of ['deny', 'stop', 'denyThenApprove', 'hostKilled'] as const) await approver.call(way);
      await Promise.all([approver.call('silence'), approver.call('late')]);
    });
    expect(denied).toEqual({ ...nothing, calls: 6, asked: 6, approved: 0, denied: 6, deniedDespiteYes: 1 });
  });

  it('does not run when somebody else says yes, whom the relay or the policy does not know', async () => {
    const denied = await counted(() => Promise.all([approver.call('stranger'), approver.call('colleague')]));
    expect(denied).toEqual({ ...nothing, calls: 2, asked: 2, approved: 0, denied: 2 });
  });

  const fill = async () => {
    await stage.disk.fill();
    await stage.runDisk.fill();
    await stage.daemon.kill9();
  };
  const free = async () => {
    await stage.disk.free();
    await stage.runDisk.free();
    await stage.daemon.up();
  };
  const forget = async () => {
    await stage.daemon.kill9();
    await removeState(stage);
  };

  it.each<[string, () => unknown, () => unknown]>([
    ['the daemon is killed', () => stage.daemon.kill9(), () => stage.daemon.up()],
    ['the daemon is killed and its state directory deleted', forget, () => stage.daemon.up()],
    ['the daemon is killed and every disk is full', fill, free],
    ['the relay is killed', () => stage.relay.kill9(), () => stage.relay.up()],
    ['there is no network', () => stage.line.setDown(true), () => stage.line.setDown(false)],
  ])('does not run while %s, and a later one is asked and runs', async (_, breaks, heals) => {
    const denied = await counted(() =>
      approver.call('silence', async () => {
        await breaks();
        // While nobody can be asked.
        await approver.call('approve');
      }),
    );
    expect(denied).toEqual({ ...nothing, calls: 2, asked: 1, approved: 0, denied: 2 });
    await heals();
    // What the phone is told first of the fault may use up the time of the first question.
    let next = await counted(() => approver.call('approve'));
    for (let tries = 1; next.approved === 0 && tries < 5; tries += 1)
      next = await counted(() => approver.call('approve'));
    expect(next).toEqual({ ...nothing, calls: 1, asked: 1, approved: 1, denied: 0 });
  });
});

describe('tool calls', () => {
  it('do not run without a yes while the daemon is killed again and again', async () => {
    const lab = await openLab(() => {});
    const options = { seconds: 6, seed, only: 'kill -9 of the daemon', strands: ['approvals'] } as const;
    const { approvals, stories } = await runChaos(lab, { ...options, signal: new AbortController().signal });
    await lab.close();
    expect(approvals.calls).toBeGreaterThan(0);
    expect([approvals.ranWithoutYes, approvals.runTwice, stories]).toEqual([[], [], []]);
  });
});
