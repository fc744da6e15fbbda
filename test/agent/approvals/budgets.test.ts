import { describe, expect, it } from 'vitest';
import { createBudgeting } from '../../../agent/approvals/budgets.ts';
import type { Budgets } from '../../../agent/approvals/policy/policy.ts';
import { applyApproval } from '../../../agent/journal/approvals.ts';
import { emptyProject } from '../../../agent/journal/state.ts';
import type { OutboxItem } from '../../../protocol/relay-api.ts';
import type { TurnEvent } from '../../../protocol/turn-events.ts';

const minute = 60_000;

function create(budgets: Budgets) {
  const project = emptyProject('1.0');
  const world = { now: new Date(2026, 8, 21, 12).getTime(), tokens: 0, items: [] as OutboxItem[] };
  const budgeting = createBudgeting({
    project,
    policies: async () => ({
      user: { rules: [], onTimeout: 'deny', timeoutSeconds: 60, budgets },
      project: { rules: [] },
      problems: [],
    }),
    record: async (record) => applyApproval(project.approvals, record, world.now),
    send: async (item) => void world.items.push(item),
    meterTokens: async () => {
      const before = world.tokens;
      return async () => world.tokens - before;
    },
    clock: () => world.now,
  });
  const call = (event: TurnEvent) => ({ agent: 'gemini', session: 's', transcript: '/t', cwd: '/', event });
  return {
    world,
    project,
    start: () => budgeting.admit(call({ type: 'turnStart', prompt: 'go' })),
    model: () => budgeting.admit(call({ type: 'modelRequest', texts: [] })),
    end: () => budgeting.turnEnded(call({ type: 'turnEnd', answer: 'ok' })),
    /** As a session that the daemon runs itself. */
    owned: {
      start: () => budgeting.admit({ ...call({ type: 'turnStart', prompt: 'go' }), transcript: undefined }),
      end: (tokens: number) =>
        budgeting.turnEnded({ ...call({ type: 'turnEnd', answer: 'ok', tokens }), transcript: undefined }),
    },
    grant: (item: OutboxItem | undefined) => budgeting.answer('reply_1', item?.buttons?.[0]?.[0]?.action ?? ''),
  };
}

const refused = (limit: string) => ({ deny: expect.stringContaining(`(${limit})`) });

describe('a budget', () => {
  it('of turns refuses the next prompt, asks once, and grows once by the same amount when the owner allows it', async () => {
    const { start, end, grant, world } = create({ turns: 2 });
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await start()).toBeUndefined();
      await end();
    }
    expect([await start(), await start()]).toEqual([refused('2 turns'), refused('2 turns')]);
    expect(new Set(world.items.map(({ key }) => key)).size).toBe(1);
    const [item] = world.items;
    expect((await grant(item)).parts[0]?.text).toContain('As much again');
    expect((await grant(item)).parts[0]?.text).toContain('answered before');
    expect(await start()).toBeUndefined();
  });

  it('of minutes counts the running turn, and refuses its next model request', async () => {
    const { start, end, model, world } = create({ minutes: 10 });
    await start();
    world.now += 6 * minute;
    expect(await model()).toBeUndefined();
    expect(await end()).toEqual({ ms: 6 * minute, tokens: 0 });
    world.now += 60 * minute;
    await start();
    world.now += 4 * minute;
    expect(await model()).toEqual(refused('10 minutes'));
  });

  it('of tokens counts what the session file gained during the turn', async () => {
    const { start, end, model, world } = create({ tokens: 1000 });
    world.tokens = 50_000;
    await start();
    world.tokens += 900;
    expect(await model()).toBeUndefined();
    world.tokens += 100;
    expect(await model()).toEqual(refused('1000 tokens'));
    expect(await end()).toMatchObject({ tokens: 1000 });
    expect(await start()).toEqual(refused('1000 tokens'));
  });

  it('of tokens counts what the end of a turn tells, where there is no session file to read', async () => {
    const { owned } = create({ tokens: 1000 });
    await owned.start();
    expect(await owned.end(1000)).toMatchObject({ tokens: 1000 });
    expect(await owned.start()).toEqual(refused('1000 tokens'));
  });

  it('starts anew on the next day', async () => {
    const { start, world } = create({ turns: 1 });
    await start();
    expect(await start()).toEqual(refused('1 turns'));
    world.now += 24 * 60 * minute;
    expect(await start()).toBeUndefined();
  });

  it('refuses nothing when it is not set', async () => {
    const { start, model, world } = create({});
    for (let turn = 0; turn < 3; turn += 1) expect([await start(), await model()]).toEqual([undefined, undefined]);
    expect(world.items).toEqual([]);
  });
});
