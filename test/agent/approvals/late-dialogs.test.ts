// Dialogs of a host that appear only after its hook (Codex): who sits there is not kept waiting, the phone is asked for a short time, and
// then the terminal asks.

import { beforeEach, expect, it } from 'vitest';
import { createApprovals } from '../../../agent/approvals/approvals.ts';
import { createPermissions, type PermissionCall } from '../../../agent/approvals/permissions.ts';
import { judgeHere } from '../../../agent/approvals/policy/judge-now.ts';
import { actionOf, questionPart, readAction, wholeDiff } from '../../../agent/approvals/question/question.ts';
import { codex } from '../../../agent/drivers/codex/driver.ts';
import { applyApproval } from '../../../agent/journal/approvals.ts';
import { emptyProject } from '../../../agent/journal/state.ts';
import type { OutboxItem } from '../../../protocol/relay-api.ts';
import type { TurnAnswer } from '../../../protocol/turn-events.ts';
import { privatePhone } from '../../helpers/private-phone.ts';

const owner = '1000001';
const hide = (text: string) => ({ text, places: 0 });
const tool = { tool: 'Bash', server: undefined, input: { command: 'touch made' } } as const;
const call: PermissionCall = {
  ...{ agent: 'codex', session: 's', transcript: undefined, cwd: '/home/dev/shop' },
  event: { type: 'permission', ...tool, why: 'The tests need it', hidesDialog: true },
};

async function create() {
  const project = emptyProject('1000001.0');
  project.phone = { ...privatePhone, owner };
  const items: OutboxItem[] = [];
  const left: PermissionCall[] = [];
  const is = { now: 0, here: false, gone: false };
  const clock = () => is.now;
  const approvals = await createApprovals({
    ...{ project, clock, log: () => {}, onMode: async () => {}, isInteractive: async () => true, audit: () => {} },
    record: async (record) => applyApproval(project.approvals, record, is.now),
    send: async (item) => void items.push(item),
    show: async (item) => void items.push(item),
    policies: async () => ({
      user: { rules: [], onTimeout: 'deny', timeoutSeconds: 3_600 },
      project: { rules: [] },
      problems: [],
    }),
    fixed: { home: '/home/dev', own: [] },
    judge: (task) => judgeHere(task, () => 0),
    shows: {
      question: async (question) => questionPart(question, hide),
      hide: async (text) => hide(text),
      diff: async (diffs, language) => wholeDiff(diffs, hide, language),
    },
  });
  const permissions = createPermissions({
    ask: approvals.permission,
    isPresent: () => is.here,
    onLeft: (each) => void left.push(each),
    clock,
  });
  const maxMs = (codex.maxSeconds('PermissionRequest') ?? 0) * 1_000;
  const decides = () => permissions.decide(call, { pid: 1, maxMs, isGone: () => is.gone, leave: () => {} });
  return {
    ...{ is, items, left, permissions, decides, approvals },
    /** Resolves when the question stands on the phone. */
    async asked() {
      const answer = decides();
      while (items.length === 0) await new Promise((resolve) => setImmediate(resolve));
      return { answer, action: items[0]?.buttons?.[0]?.[0]?.action ?? '' };
    },
    async tap(action: string, verb: 'approve' | 'deny') {
      const { id, hash } = readAction(action) ?? { id: '', hash: '' };
      const control = { type: 'button', action: actionOf(id, hash, verb), key: 'k', userId: owner } as const;
      const answered = await approvals.answer({ kind: 'control', seq: 1, id: 'c', at: 0, control });
      return answered?.[0]?.parts[0]?.text;
    },
  };
}

let world: Awaited<ReturnType<typeof create>>;
beforeEach(async () => {
  world = await create();
});

const written = (answer: TurnAnswer) => codex.writeAnswer('PermissionRequest', answer);
const lastText = () => world.items.at(-1)?.parts[0]?.text;

it('whoever sits at the terminal gets its dialog at once, and the phone only hears of it', async () => {
  world.is.here = true;
  expect(written(await world.decides())).toEqual({});
  expect([world.items, world.left]).toEqual([[], [call]]);
});

it('a yes of the phone within the wait allows the call, with the reason of the agent in the question', async () => {
  const { answer, action } = await world.asked();
  expect(lastText()).toContain("the agent's reason: The tests need it");
  world.is.now = 19_000;
  await world.approvals.tick();
  await world.tap(action, 'approve');
  expect(written(await answer)).toMatchObject({ hookSpecificOutput: { decision: { behavior: 'allow' } } });
});

it('a no of the phone refuses the call, and the model reads who said so', async () => {
  const { answer, action } = await world.asked();
  await world.tap(action, 'deny');
  expect(written(await answer)).toMatchObject({
    hookSpecificOutput: { decision: { behavior: 'deny', message: 'The owner denied this on the phone.' } },
  });
});

it('after 20 seconds nothing is decided, the phone says that the terminal asks now, and so does a late tap', async () => {
  const { answer, action } = await world.asked();
  world.is.now = 20_000;
  await world.approvals.tick();
  expect(written(await answer)).toEqual({});
  expect(lastText()).toContain('the dialog waits at the terminal');
  expect(await world.tap(action, 'approve')).toContain('the dialog waits at the terminal');
});

it('what ended at the terminal meanwhile is over on the phone, and a late tap decides nothing', async () => {
  const { answer, action } = await world.asked();
  world.permissions.sees({ ...call, event: { type: 'toolEnd', ...tool, result: '' } });
  await world.approvals.tick();
  expect(written(await answer)).toEqual({});
  expect(lastText()).toContain('answered or cancelled in the terminal');
  expect(await world.tap(action, 'approve')).toContain('answered or cancelled in the terminal');
});

it('a call that the owner approved at its gate is not asked about again, once, in the same turn', async () => {
  world.permissions.passed('s', tool);
  expect(written(await world.decides())).toMatchObject({ hookSpecificOutput: { decision: { behavior: 'allow' } } });
  world.permissions.passed('s', tool);
  world.permissions.sees({ ...call, event: { type: 'turnStart', prompt: 'go on' } });
  world.is.here = true;
  expect(await world.decides()).toEqual({});
});
