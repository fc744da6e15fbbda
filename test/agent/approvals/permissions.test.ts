// A dialog of the host that stands at the terminal and on the phone: the first answer counts, and a late tap is told.

import { expect, it } from 'vitest';
import { createApprovals } from '../../../agent/approvals/approvals.ts';
import { createPermissions, type PermissionCall } from '../../../agent/approvals/permissions.ts';
import { judgeHere } from '../../../agent/approvals/policy/judge-now.ts';
import { actionOf, questionPart, readAction, wholeDiff } from '../../../agent/approvals/question/question.ts';
import { applyApproval } from '../../../agent/journal/approvals.ts';
import { emptyProject } from '../../../agent/journal/state.ts';
import type { OutboxItem } from '../../../protocol/relay-api.ts';
import type { TurnEvent } from '../../../protocol/turn-events.ts';
import { privatePhone } from '../../helpers/private-phone.ts';

const owner = '1000001';
const session = { agent: 'claude', session: 's', transcript: undefined, cwd: '/home/dev/shop' };
const tool = { tool: 'Bash', server: undefined, input: { command: 'touch made.txt' } };
const dialog: PermissionCall = { ...session, event: { type: 'permission', ...tool } };

async function create() {
  const project = emptyProject('1000001.0');
  project.phone = { ...privatePhone, owner };
  const items: OutboxItem[] = [];
  let shown: () => void = () => {};
  const world = { isPresent: false, isGone: false };
  const hide = (text: string) => ({ text, places: 0 });
  const approvals = await createApprovals({
    project,
    record: async (record) => applyApproval(project.approvals, record, 0),
    send: async (item) => {
      items.push(item);
      shown();
    },
    show: async (item) => void items.push(item),
    policies: async () => ({
      user: { rules: [], onTimeout: 'deny', timeoutSeconds: 60 },
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
    isInteractive: async () => true,
    audit: () => {},
    onMode: async () => {},
    clock: () => 0,
    log: () => {},
  });
  const permissions = createPermissions({
    ask: approvals.permission,
    isPresent: () => world.isPresent,
    onLeft: () => {},
    clock: () => 0,
  });
  let taps = 0;
  return {
    items,
    world,
    permissions,
    /** The dialog opens; resolves when the question stands on the phone. */
    async open() {
      const isShown = new Promise<void>((resolve) => {
        shown = resolve;
      });
      const host = { pid: 1, maxMs: 86_400_000, isGone: () => world.isGone, leave: () => {} };
      const answer = permissions.decide(dialog, host);
      await isShown;
      return { answer, action: items.at(-1)?.buttons?.[0]?.[0]?.action ?? '' };
    },
    /** What the phone reads of the tap. */
    async tap(action: string, verb: 'approve' | 'deny') {
      taps += 1;
      const { id, hash } = readAction(action) ?? { id: '', hash: '' };
      const said = { type: 'button', action: actionOf(id, hash, verb), key: 'k', userId: owner } as const;
      const replies = await approvals.answer({ kind: 'control', seq: taps, id: `c${taps}`, at: 0, control: said });
      return replies?.[0]?.parts[0]?.text;
    },
  };
}

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
  const { open, tap, items, permissions } = await create();
  const { answer, action } = await open();
  permissions.sees(sees(event));
  const late = await tap(action, 'approve');
  expect(await answer).toEqual({});
  expect([late, items.at(-1)?.parts[0]?.text].join('\n')).toContain(over);
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
  world.isGone = true;
  await tap(action, 'approve');
  expect(await answer).toEqual({});
});
