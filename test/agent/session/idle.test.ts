// While no turn runs: what the owner is told of a message that waits, and how an order reaches an idle terminal.

import { describe, expect, it } from 'vitest';
import { eachTurns, now, p } from './turns-world.ts';

const { world, told, happens } = eachTurns();

describe('a message that no agent picks up', () => {
  const checks = async (afterMs: number) => {
    world.time += afterMs;
    await world.turns.checkProcess();
  };
  const comes = async (seq: number, text: string) => {
    const row = { seq, id: `msg_e_0_${seq}`, at: world.time, kind: 'message', text, expiresAt: now + 1e9 } as const;
    await world.journal.append([{ t: 'row', p, at: world.time, row }]);
  };
  const begins = async () => {
    const { context = '' } = await happens({ type: 'turnStart', prompt: 'go on' });
    await happens({ type: 'modelRequest', texts: [context] });
    await world.turns.exclusive(async () => {});
  };

  it('is told once until the next turn, and how it will be picked up', async () => {
    await checks(0);
    await checks(4_999);
    expect(told).toEqual([]);
    await checks(1);
    expect(told).toEqual([expect.stringMatching(/^to msg_e_0_1: It waits: no session/)]);
    await comes(2, 'and this');
    await checks(60_000);
    expect(told).toHaveLength(1);

    await begins();
    await happens({ type: 'turnEnd', answer: 'Done.' });
    await checks(60_000);
    expect(told).toHaveLength(1);
    await comes(3, 'one more');
    await checks(2_000);
    await checks(5_000);
    expect(told.slice(1)).toEqual([
      expect.stringMatching(/^to msg_e_0_3: It waits for the next turn of the coding agent/),
    ]);
  });

  it('is not told while a turn runs or an agent polls, and not what the owner knows to wait', async () => {
    world.isPolled = true;
    await checks(0);
    await checks(60_000);
    world.isPolled = false;
    await begins();
    await comes(2, 'while you work');
    await checks(0);
    await checks(60_000);
    // As a STOP does.
    await world.journal.append([{ t: 'parked', p, at: world.time, ids: ['msg_e_0_2'] }]);
    await happens({ type: 'turnEnd', answer: 'Done.' });
    expect(world.turns.status().turnRuns).toBe(false);
    await checks(0);
    await checks(60_000);
    const control = { type: 'command', name: 'later', args: 'this later' } as const;
    await world.journal.append([
      { t: 'row', p, at: world.time, row: { kind: 'control', id: 'msg_e_0_3', seq: 3, at: world.time, control } },
      { t: 'later', p, at: world.time, id: 'msg_e_0_3' },
    ]);
    expect(world.journal.project(p).waiting.size).toBe(2);
    await checks(0);
    await checks(60_000);
    expect(told).toEqual([]);
  });
});

describe('an order of the owner to an idle terminal', () => {
  const asks = async () => [await world.turns.steering.away(''), await world.turns.steering.sprint('s', '2')];
  const endATurn = async () => {
    await happens({ type: 'turnStart', prompt: 'go on' });
    await happens({ type: 'turnEnd', answer: 'Done.' });
  };

  it('that can be woken begins a turn there for a sprint, and away needs none', async () => {
    world.isTerminal = true;
    world.canWake = true;
    await endATurn();
    world.time += 5_000;
    const nudged: number[] = [];
    world.nudge = async (pid) => nudged.push(pid) > 0;
    expect(await asks()).toEqual([
      'Away is on: a message of yours wakes the idle terminal.',
      'Sprint of at most 2 tasks: the idle terminal was woken; it starts after the turn that began there.',
    ]);
    expect(nudged).toEqual([42]);
  });

  it('where somebody types is tried again until the terminal can be woken', async () => {
    world.isTerminal = true;
    world.canWake = true;
    await endATurn();
    const nudged: number[] = [];
    world.nudge = async (pid) => nudged.push(pid) > 0;
    world.keyAt = world.time + 1_000;
    expect((await asks())[1]).toBe('Sprint of at most 2 tasks: it starts as soon as nobody types at the terminal.');
    world.time += 5_000;
    await world.turns.checkProcess();
    expect(nudged).toEqual([]);
    world.time += 1_000;
    await world.turns.checkProcess();
    await world.turns.exclusive(async () => {});
    expect(nudged).toEqual([42]);
  });

  it('that nothing can wake is answered with what to do at the desk', async () => {
    world.isTerminal = true;
    await endATurn();
    expect(await asks()).toEqual([
      'Away is on, but the idle terminal cannot be woken from here: type wa:away there, so that the agent waits for your messages.',
      'Sprint of at most 2 tasks: it starts after the next turn at the terminal, which is idle and cannot be woken from here: type a prompt there.',
    ]);
  });

  it('types nothing where no person sits', async () => {
    world.canWake = true;
    let isNudged = false;
    world.nudge = async () => {
      isNudged = true;
      return true;
    };
    await endATurn();
    world.time += 5_000;
    expect(await asks()).toEqual([
      'Away is on: a turn in a terminal waits for your messages when it ends.',
      'Sprint of at most 2 tasks: it starts after the next turn of the coding agent.',
    ]);
    expect(isNudged).toBe(false);
  });
});
