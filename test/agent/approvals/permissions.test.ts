// A dialog of the host that stands at the terminal and on the phone: the first answer counts, and a late tap is told.

import { expect, it } from 'vitest';
import type { PermissionCall } from '../../../agent/approvals/permissions.ts';
import type { TurnEvent } from '../../../protocol/turn-events.ts';
import { dialogWorld } from './world.ts';

const session = { agent: 'claude', session: 's', transcript: undefined, cwd: '/home/dev/shop' };
const tool = { tool: 'Bash', server: undefined, input: { command: 'touch made.txt' } };
const dialog: PermissionCall = { ...session, event: { type: 'permission', ...tool } };

const create = () => dialogWorld(dialog, 86_400_000);
const sees = (event: TurnEvent) => ({ ...session, event });
const over = '▫️ Over: answered or cancelled in the terminal, or left to the dialog there.';

it('the phone is first: the call runs by the tap, and what the terminal does then changes nothing', async () => {
  const { open, tap, permissions } = await create();
  const { answer, action } = await open();
  await tap(action, 'approve');
  expect(await answer).toEqual({ allow: true });
  permissions.sees(sees({ type: 'toolEnd', ...tool, result: '' }));
  expect(await tap(action, 'deny')).toContain('This was decided before: ✅ Approved.');
});

it('the phone refuses: the model gets the no', async () => {
  const { open, tap } = await create();
  const { answer, action } = await open();
  await tap(action, 'deny');
  expect(await answer).toMatchObject({ deny: expect.any(String) });
});

it.each<[string, TurnEvent]>([
  ['the tool has run', { type: 'toolEnd', ...tool, result: '' }],
  ['the turn has ended', { type: 'turnEnd', answer: undefined }],
  ['the next prompt came', { type: 'turnStart', prompt: 'go on' }],
  ['the session has ended', { type: 'sessionEnd', reason: 'other' }],
])('the terminal is first, because %s: a late tap decides nothing, and is told so', async (_, event) => {
  const { open, tap, world, permissions } = await create();
  const { answer, action } = await open();
  permissions.sees(sees(event));
  const late = await tap(action, 'approve');
  expect(await answer).toEqual({});
  expect([late, world.items.at(-1)?.parts[0]?.text].join('\n')).toContain(over);
  expect(await tap(action, 'approve')).toBe(`This was decided before: ${over}`);
});

it('the terminal is not first because another call has run, or another session goes on', async () => {
  const { open, tap, permissions } = await create();
  const { answer, action } = await open();
  permissions.sees(sees({ type: 'toolEnd', ...tool, input: { command: 'ls' }, result: '' }));
  permissions.sees({ ...sees({ type: 'turnEnd', answer: undefined }), session: 'other' });
  await tap(action, 'approve');
  expect(await answer).toEqual({ allow: true });
});

it('a hook that Esc has killed is the terminal, too', async () => {
  const { open, tap, world } = await create();
  const { answer, action } = await open();
  world.gone = true;
  await tap(action, 'approve');
  expect(await answer).toEqual({});
});
