// What the owner may ask for of an owned turn: its thoughts, changes and output, without a secret.

import { describe, expect, it } from 'vitest';
import type { OwnedEvent } from '../../../agent/owned/owned.ts';
import { createTurnDetails } from '../../../agent/phone/turn-details.ts';
import { typesetHere } from '../../../agent/relay/render.ts';
import { textsIn } from '../../../protocol/texts.ts';
import { redact } from './world.ts';

describe('the details of an owned turn', () => {
  const files: { name: string; text: string }[] = [];
  const details = () => {
    files.length = 0;
    return createTurnDetails({
      typesetter: typesetHere(redact, 4096),
      texts: () => textsIn('en').owned,
      changes: async (diffs) => diffs.map(({ path, after }) => `${path}\n+ ${redact(after)}`).join('\n'),
      async keepText(name, text) {
        files.push({ name, text });
        return { key: name, document: { path: '', name, caption: '' } };
      },
    });
  };
  const token = `ghp_${'A1b2C3d4E5'.repeat(4)}`;

  it('are offered when the turn has ended, and told whole without secrets', async () => {
    const all = details();
    const events: OwnedEvent[] = [
      { type: 'thought', text: `I look for ${token.slice(0, 9)}` },
      { type: 'thought', text: `${token.slice(9)} in the folder` },
      { type: 'tool', tool: { id: '1', title: 'npm test', output: `ok ${token}` } },
      { type: 'tool', tool: { id: '2', diffs: [{ path: 'a.ts', before: 'x', after: 'y' }] } },
    ];
    for (const event of events) all.see('turn_a', event);
    expect(all.offers('turn_a')).toMatchObject([[{ label: 'Thoughts' }, { label: 'Changes' }, { label: 'Output' }]]);
    expect(await all.tapped('turn:turn_a:thoughts', 'k')).toMatchObject({
      item: { parts: [{ text: 'I look for [redacted:github-token] in the folder' }] },
    });
    await all.tapped('turn:turn_a:changes', 'k');
    await all.tapped('turn:turn_a:output', 'k');
    expect(files).toEqual([
      { name: 'changes.diff', text: 'a.ts\n+ y' },
      { name: 'output.txt', text: '## npm test\nok [redacted:github-token]' },
    ]);
  });

  it('have room for a change that the agent says again and again, and for the next one', async () => {
    const all = details();
    const large = { path: 'large.txt', before: undefined, after: 'x'.repeat(700_000) };
    for (let again = 0; again < 5; again++) all.see('turn_a', { type: 'tool', tool: { id: '1', diffs: [large] } });
    all.see('turn_a', { type: 'tool', tool: { id: '2', diffs: [{ path: 'a.ts', before: 'x', after: 'y' }] } });
    all.see('turn_a', { type: 'tool', tool: { id: '3', diffs: [large, large] } });
    await all.tapped('turn:turn_a:changes', 'k');
    expect(files[0]?.text.match(/^\S+(?=\n\+ )/gm)).toEqual(['large.txt', 'a.ts']);
  });

  it('of a turn that runs hold back what could be the beginning of a secret', async () => {
    const all = details();
    all.see('turn_a', {
      type: 'thought',
      text: `${'The tests of the shop are green again, because the price is rounded once. '.repeat(2)}so it is ${token.slice(0, 20)}`,
    });
    const reply = await all.thoughts('k');
    expect(JSON.stringify(reply)).toContain('The tests of the shop');
    expect(JSON.stringify(reply)).not.toContain('ghp_');
  });

  it('of an earlier turn, or after a restart, are said to be gone; on the hook route there are none', async () => {
    const all = details();
    expect(await all.tapped('turn:turn_x:thoughts', 'k')).toMatchObject({
      item: { parts: [{ text: expect.stringContaining('the last turns only') }] },
    });
    expect(await all.thoughts('k')).toMatchObject({ item: { parts: [{ text: expect.stringContaining('/new') }] } });
    expect(await all.tapped('full:x', 'k')).toBeUndefined();
  });
});
