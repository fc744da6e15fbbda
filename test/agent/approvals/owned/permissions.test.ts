// A permission request of an owned session: what the phone shows, who decides, and what a decision is bound to.

import { describe, expect, it } from 'vitest';
import { createQuestions } from '../../../../agent/approvals/question/questions.ts';
import { applyApproval } from '../../../../agent/journal/approvals.ts';
import type { OwnedTool, PermissionOption } from '../../../../agent/owned/owned.ts';
import { askWorld } from './world.ts';

// As the three agents asked in the recorded exchanges.
const gemini: PermissionOption[] = [
  { id: 'proceed_always', name: 'Allow for this session', kind: 'allowAlways' },
  { id: 'proceed_once', name: 'Allow', kind: 'allowOnce' },
  { id: 'cancel', name: 'Reject', kind: 'denyOnce' },
];
const codex: PermissionOption[] = [
  { id: 'allow_once', name: 'Yes, proceed', kind: 'allowOnce' },
  {
    id: 'accept_execpolicy_amendment',
    name: "Yes, and don't ask again for commands that start with `touch /opt/acp/srv-codex/allowed`",
    kind: 'allowAlways',
  },
  { id: 'cancel', name: 'No, and tell Codex what to do differently', kind: 'denyOnce' },
];
const shell: OwnedTool = { id: 't1', title: 'npm test', kind: 'execute', state: 'waiting' };

function scene(given?: Parameters<typeof askWorld>[0]) {
  const all = askWorld(given);
  const ends = new AbortController();
  const ask = (tool = shell, options = gemini, agent = 'gemini') =>
    all.shown(
      all.asks.permission({ tool, options }, { agent, session: 's1', cwd: '/home/dev/shop', signal: ends.signal }),
    );
  return { ...all, ends, ask };
}

describe('a permission request', () => {
  it("stands on the phone with its command and the agent's own options, and the id of the tapped one is the answer", async () => {
    const { ask, tap, labels, text, world, project } = scene();
    const { answer } = await ask();
    expect(labels()).toEqual([['♾ ✅ Allow for this session'], ['✅ Allow'], ['❌ Reject']]);
    expect(text()).toMatch(/^Run a command\?\nnpm test\nWaits until you answer\./);
    expect(project.approvals.open.size).toBe(1);
    await tap('✅ Allow');
    expect(await answer).toEqual({ option: 'proceed_once' });
    expect(text()).toMatch(/✅ Allowed\. You chose:\nAllow$/);
    expect(project.approvals.open.size).toBe(0);
    expect(world.audited).toMatchObject([
      { tool: 'run_shell_command', verdict: 'allowed', by: '1000001', text: 'npm test', option: 'Allow' },
    ]);
  });

  it('is refused with a reason for the model', async () => {
    const { ask, tap } = scene();
    const { answer } = await ask();
    await tap('❌ Reject');
    expect(await answer).toEqual({ option: 'cancel', why: 'The owner denied this on the phone.' });
  });

  it('takes a second tap for a rule that lasts, and shows what the rule covers in full', async () => {
    const { ask, tap, labels, text, world } = scene();
    const { answer } = await ask(shell, codex, 'codex');
    const lasting = labels()?.[1]?.[0] ?? '';
    expect(lasting).toBe("♾ ✅ Yes, and don't ask again for commands that start with `…");
    expect(text()).toContain('♾ = a rule of the agent that lasts');
    await tap(lasting);
    expect(text()).toContain(
      "Yes, and don't ask again for commands that start with `touch /opt/acp/srv-codex/allowed`",
    );
    await tap('Back');
    await tap(lasting);
    await tap('Yes, as a lasting rule');
    expect(await answer).toEqual({ option: 'accept_execpolicy_amendment' });
    expect(world.audited).toMatchObject([{ verdict: 'allowedLasting' }]);
    const revs = world.items.map(({ rev }) => rev);
    expect(revs).toEqual([...revs].sort((a, b) => (a ?? 0) - (b ?? 0)));
  });

  it('keeps the second tap bound to the rule that was shown with it', async () => {
    const two: PermissionOption[] = [
      ...gemini,
      { id: 'proceed_always_server', name: 'Allow all server tools', kind: 'allowAlways' },
    ];
    const { ask, tap, button, press } = scene();
    await ask(shell, two);
    const question = button('♾ ✅ Allow all server tools');
    await tap('♾ ✅ Allow for this session');
    const sure = button('Yes, as a lasting rule');
    await press(question);
    expect(await press(sure)).toContain('waits for no second tap');
  });

  it('offers no lasting rule for what a built-in rule finds, and says why it is dangerous', async () => {
    const { ask, labels, text } = scene();
    await ask({ ...shell, title: 'rm -rf ~/' });
    expect(text()).toContain('⚠');
    expect(labels()).toEqual([['✅ Allow'], ['❌ Reject']]);
  });

  it('is answered by the owner alone, and only for what was shown', async () => {
    const { ask, tap, button, press } = scene();
    await ask();
    expect(await tap('✅ Allow', '666')).toBe('Only the owner can answer this.');
    const other = button('✅ Allow').replace(/:[0-9a-f]{64}:/, `:${'0'.repeat(64)}:`);
    expect(await press(other)).toContain('another request');
  });

  it('has another hash with other options or other changes', async () => {
    const { ask, button } = scene();
    const hash = () => /:([0-9a-f]{64}):/.exec(button('✅ Allow'))?.[1];
    await ask();
    const first = hash();
    await ask(shell, gemini.slice(1));
    expect(hash()).not.toBe(first);
    await ask({ ...shell, kind: 'edit', diffs: [{ path: 'a', before: 'x', after: 'y' }] });
    const edit = hash();
    await ask({ ...shell, kind: 'edit', diffs: [{ path: 'a', before: 'x', after: 'z' }] });
    expect(hash()).not.toBe(edit);
  });

  it('tells a late tap what was decided', async () => {
    const { ask, tap, button, press } = scene();
    await ask();
    const action = button('✅ Allow');
    await tap('❌ Reject');
    expect(await press(action)).toBe('This was decided before: ❌ Denied. You chose.');
  });

  it('that the agent withdraws is closed on the phone and in the audit, and decides nothing', async () => {
    const { ask, ends, text, shown, world } = scene();
    const { answer } = await ask();
    await shown(Promise.resolve(ends.abort()).then(() => answer));
    expect(await answer).toEqual({ option: undefined });
    expect(text()).toContain('Over: the agent no longer asks');
    expect(world.audited).toMatchObject([{ verdict: 'gone' }]);
  });

  it('is cancelled by a STOP, of its own session where one is named', async () => {
    const { ask, asks, text } = scene();
    const { answer } = await ask();
    await asks.cancel('s2');
    expect(asks.waiting()).toBe(1);
    await asks.cancel();
    expect(await answer).toEqual({ option: undefined });
    expect(text()).toContain('⛔ Cancelled with its turn');
  });

  it('is denied or allowed at once by a policy of the user, which the audit says', async () => {
    const { ask, world } = scene();
    world.user = { rules: [{ do: 'deny', match: { command: 'npm *' }, reason: 'not here' }] };
    expect(await (await ask()).answer).toEqual({ option: 'cancel', why: 'Denied by the policy of wa-sync: not here.' });
    world.user = { rules: [{ do: 'allow', match: { command: 'npm test' } }] };
    expect(await (await ask()).answer).toEqual({ option: 'proceed_once' });
    expect(world.items).toEqual([]);
    expect(world.audited).toMatchObject([{ verdict: 'policy-deny' }, { verdict: 'policy-allow' }]);
  });

  it('is refused when the call is another one by the time of the yes', async () => {
    const { ask, tap, world, text } = scene();
    const { answer } = await ask();
    world.user = { rules: [{ do: 'deny', match: { command: 'npm *' } }] };
    await tap('✅ Allow');
    expect(await answer).toMatchObject({ option: 'cancel' });
    expect(text()).toContain('Denied, because this changed after you were asked');
  });

  it('is refused when it cannot be kept, and shown to nobody', async () => {
    const { ask, world } = scene();
    world.diskFull = true;
    expect(await (await ask()).answer).toMatchObject({ option: 'cancel' });
    expect(world.items).toEqual([]);
  });

  it('shows a change short, and whole on demand, without secrets in either', async () => {
    const lines = Array.from({ length: 400 }, (_, index) => `line ${index} of the new file`);
    const tool: OwnedTool = {
      id: 't2',
      kind: 'edit',
      title: 'Writing to new.txt',
      diffs: [{ path: '/home/dev/shop/new.txt', before: undefined, after: `token hunter2\n${lines.join('\n')}` }],
    };
    const { ask, tap, text, world } = scene();
    await ask(tool);
    expect(text()).toContain('characters left out');
    expect(text()).not.toContain('hunter2');
    await tap('Whole diff');
    expect(world.files).toEqual([{ name: 'change.diff', text: expect.stringContaining('+ line 399 of the new file') }]);
    expect(world.files[0]?.text).not.toContain('hunter2');
  });

  it('of an agent that wa-sync does not know is asked in the same way', async () => {
    const { ask, tap, text } = scene();
    const { answer } = await ask({ id: 't', name: 'frob', input: { path: '/etc/passwd' } }, gemini, 'unheard-of');
    expect(text()).toContain('Use the tool frob?');
    await tap('❌ Reject');
    expect((await answer).option).toBe('cancel');
  });

  it('beyond fifty open ones is refused with a reason, which the phone is told once', async () => {
    const { ask, tap, world, asks } = scene();
    for (let count = 0; count < 50; count++) await ask();
    world.items.length = 50;
    const refused = { option: 'cancel', why: expect.stringMatching(/^Denied: 50 requests already wait for the owner/) };
    expect(await (await ask()).answer).toEqual(refused);
    expect(await (await ask()).answer).toEqual(refused);
    const limit = '50 calls wait for your answer. Until one is answered, further ones are denied.';
    expect(world.items.slice(50).map(({ parts }) => parts[0]?.text)).toEqual([limit]);
    expect(world.audited).toMatchObject([{ verdict: 'too-many' }, { verdict: 'too-many' }]);
    await tap('✅ Allow');
    await ask();
    expect(asks.waiting()).toBe(50);
    expect(await (await ask()).answer).toEqual(refused);
    expect(world.items.filter(({ parts }) => parts[0]?.text === limit)).toHaveLength(1);
  });

  it('cannot imitate the owner or wa-sync by its names', async () => {
    const options: PermissionOption[] = [
      { id: 'a', name: 'Deny\u202e\nThe owner said yes', kind: 'allowOnce' },
      { id: 'b', name: 'x'.repeat(500), kind: 'denyOnce' },
      ...Array.from({ length: 15 }, (_, index) => ({ id: `c${index}`, name: 'hunter2', kind: 'allowOnce' as const })),
    ];
    const { ask, labels } = scene();
    await ask(shell, options);
    expect(labels()?.[0]).toEqual(['✅ Deny⟨U+202E⟩⏎The owner said yes']);
    expect(
      labels()
        ?.flat()
        .every((label) => label.length <= 64 && !label.includes('hunter2')),
    ).toBe(true);
    expect(labels()?.length).toBeLessThanOrEqual(8);
  });

  it('that a dead daemon left open is closed by the next one', async () => {
    const { ask, world, project } = scene();
    await ask();
    const [item] = world.items;
    if (!item) throw new Error('nothing was asked');
    project.outbox.set(item.key, { key: item.key, at: 0, state: 'posted', source: { kind: 'item', item } });
    const questions = createQuestions({
      project,
      record: async (record) => applyApproval(project.approvals, record, 0),
      send: async (each) => void world.items.push(each),
      show: async () => {},
      shows: { question: async () => undefined, hide: async (text) => ({ text, places: 0 }), diff: async () => '' },
      isInteractive: async () => false,
      audit: (line) => world.audited.push(line),
      clock: () => 0,
      log: () => {},
    });
    await questions.closeInterrupted();
    expect(project.approvals.open.size).toBe(0);
    expect(world.items.at(-1)).toMatchObject({
      slot: item.slot,
      parts: [{ text: expect.stringContaining('the daemon ended while this waited') }],
    });
    expect(world.items.at(-1)).not.toHaveProperty('buttons');
    expect(world.audited).toMatchObject([{ verdict: 'interrupted' }]);
  });

  it('without an option to refuse it can be cancelled', async () => {
    const { ask, tap } = scene();
    const { answer } = await ask(shell, [{ id: 'y', name: 'Yes', kind: 'allowOnce' }]);
    await tap('⛔ Cancel the request');
    expect(await answer).toEqual({ option: undefined });
  });
});
