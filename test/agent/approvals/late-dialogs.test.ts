// Dialogs of a host that appear only after its hook (Codex): who sits there is not kept waiting, the phone is asked for a short time, and
// then the terminal asks.

import { beforeEach, expect, it } from 'vitest';
import type { PermissionCall } from '../../../agent/approvals/permissions.ts';
import { codex } from '../../../agent/drivers/codex/driver.ts';
import type { TurnAnswer } from '../../../protocol/turn-events.ts';
import { dialogWorld } from './world.ts';

const tool = { tool: 'Bash', server: undefined, input: { command: 'touch made' } } as const;
const call: PermissionCall = {
  ...{ agent: 'codex', session: 's', transcript: undefined, cwd: '/home/dev/shop' },
  event: { type: 'permission', ...tool, why: 'The tests need it', hidesDialog: true },
};

let scene: Awaited<ReturnType<typeof dialogWorld>>;
beforeEach(async () => {
  scene = await dialogWorld(call, (codex.maxSeconds('PermissionRequest') ?? 0) * 1_000);
  // Longer than the hook waits.
  scene.world.user = { timeoutSeconds: 3_600 };
});

const written = (answer: TurnAnswer) => codex.writeAnswer('PermissionRequest', answer);
const lastText = () => scene.world.items.at(-1)?.parts[0]?.text;

it('whoever sits at the terminal gets its dialog at once, and the phone only hears of it', async () => {
  scene.world.present = true;
  expect(written(await scene.decides())).toEqual({});
  expect([scene.world.items, scene.world.left]).toEqual([[], [call]]);
});

it('a yes of the phone within the wait allows the call, with the reason of the agent in the question', async () => {
  const { answer, action } = await scene.open();
  expect(lastText()).toContain("the agent's reason: The tests need it");
  scene.world.now = 19_000;
  await scene.approvals.tick();
  await scene.tap(action, 'approve');
  expect(written(await answer)).toMatchObject({ hookSpecificOutput: { decision: { behavior: 'allow' } } });
});

it('a no of the phone refuses the call, and the model reads who said so', async () => {
  const { answer, action } = await scene.open();
  await scene.tap(action, 'deny');
  expect(written(await answer)).toMatchObject({
    hookSpecificOutput: { decision: { behavior: 'deny', message: 'The owner denied this on the phone.' } },
  });
});

it('after 20 seconds nothing is decided, the phone says that the terminal asks now, and so does a late tap', async () => {
  const { answer, action } = await scene.open();
  scene.world.now = 20_000;
  await scene.approvals.tick();
  expect(written(await answer)).toEqual({});
  expect(lastText()).toContain('the dialog waits at the terminal');
  expect(await scene.tap(action, 'approve')).toContain('the dialog waits at the terminal');
});

it('what ended at the terminal meanwhile is over on the phone, and a late tap decides nothing', async () => {
  const { answer, action } = await scene.open();
  scene.permissions.sees({ ...call, event: { type: 'toolEnd', ...tool, result: '' } });
  await scene.approvals.tick();
  expect(written(await answer)).toEqual({});
  expect(lastText()).toContain('answered or cancelled in the terminal');
  expect(await scene.tap(action, 'approve')).toContain('answered or cancelled in the terminal');
});

it('a call that the owner approved at its gate is not asked about again, once, in the same turn', async () => {
  scene.permissions.passed('s', tool);
  expect(written(await scene.decides())).toMatchObject({ hookSpecificOutput: { decision: { behavior: 'allow' } } });
  scene.permissions.passed('s', tool);
  scene.permissions.sees({ ...call, event: { type: 'turnStart', prompt: 'go on' } });
  scene.world.present = true;
  expect(await scene.decides()).toEqual({});
});
