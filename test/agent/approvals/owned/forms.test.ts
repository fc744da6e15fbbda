// A form of an agent on the phone: choices, several choices, free text, and what is no answer.

import { describe, expect, it } from 'vitest';
import type { AgentQuestion } from '../../../../agent/owned/owned.ts';
import { owner } from '../world.ts';
import { askWorld } from './world.ts';

// As Claude Code and Codex asked in the recorded exchanges.
const colour: AgentQuestion = {
  text: 'Which colour?',
  fields: [
    {
      name: 'question_0',
      title: 'Colour',
      required: false,
      choices: [
        { value: 'Red', title: 'Red', description: 'a' },
        { value: 'Blue', title: 'Blue', description: 'b' },
      ],
    },
    { name: 'question_0_custom', title: 'Other', required: false },
  ],
};
const codex: AgentQuestion = {
  text: 'Codex needs your input to continue.',
  fields: [
    { name: 'q1', title: 'Which colour?', required: true, choices: [{ value: 'Red', title: 'Red' }] },
    { name: 'q1_note', title: 'Additional answer or note', required: false },
  ],
};
const several: AgentQuestion = {
  text: 'Set it up',
  fields: [
    {
      name: 'parts',
      title: 'Parts',
      required: true,
      several: true,
      choices: ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((value) => ({ value, title: value })),
    },
    { name: 'name', title: 'Name', required: true },
    { name: 'why', title: 'Reason', required: false },
  ],
};

function scene() {
  const all = askWorld();
  const ends = new AbortController();
  const ask = (question: AgentQuestion) =>
    all.shown(all.asks.question(question, { agent: 'claude', session: 's1', signal: ends.signal }));
  return { ...all, ends, ask };
}

describe('a question of an owned session', () => {
  it('with one choice is answered by one tap', async () => {
    const { ask, tap, text, labels, world, project } = scene();
    const { answer } = await ask(colour);
    expect(text()).toBe('The agent asks:\nWhich colour?\nColour\n1. Red: a\n2. Blue: b');
    expect(labels()).toEqual([['Red'], ['Blue'], ['✏️ Other…'], ['Skip', 'Decline']]);
    expect(project.approvals.open.size).toBe(1);
    await tap('Blue');
    expect(await answer).toEqual({ answers: { question_0: 'Blue' } });
    expect(text()).toContain('✅ Answered:\nColour: Blue');
    expect(world.audited).toMatchObject([{ answer: 'answered', by: owner }]);
  });

  it("takes the owner's own words, by the reply that its button opens", async () => {
    const { ask, tap, reply, last } = scene();
    const { answer } = await ask(colour);
    await tap('✏️ Other…');
    expect(last()).toMatchObject({ replyHint: 'Your answer', class: 'reply' });
    expect(await reply('  Octarine ')).toBeUndefined();
    expect(await answer).toEqual({ answers: { question_0_custom: 'Octarine' } });
  });

  it('keeps a note beside a required choice until the choice is made', async () => {
    const { ask, tap, reply, text } = scene();
    const { answer } = await ask(codex);
    await tap('✏️ Additional answer or note…');
    await reply('a dark one');
    expect(text()).toContain('✏️ a dark one');
    await tap('Red');
    expect(await answer).toEqual({ answers: { q1: 'Red', q1_note: 'a dark one' } });
  });

  it('with several fields goes from one to the next, and back', async () => {
    const { ask, tap, reply, text, labels } = scene();
    const { answer } = await ask(several);
    await tap('☐ b');
    await tap('☐ c');
    await tap('☑ c');
    await tap('More choices');
    await tap('☐ g');
    expect(labels()?.at(-1)).toEqual(['Next', 'Decline']);
    await tap('Next');
    expect(text()).toContain('Parts: b, g\n2 of 3: Name');
    expect(labels()).toEqual([['✏️ Answer…'], ['Back', 'Decline']]);
    await tap('Back');
    await tap('Next');
    await tap('✏️ Answer…');
    await reply('shop');
    expect(labels()).toEqual([['✏️ Answer…'], ['Back', 'Skip', 'Decline']]);
    await tap('Skip');
    expect(await answer).toEqual({ answers: { parts: ['b', 'g'], name: 'shop' } });
  });

  it('is declined by its button, and cancelled by a STOP or by the agent', async () => {
    const { ask, tap, asks, ends, text, shown } = scene();
    const first = await ask(colour);
    await tap('Decline');
    expect(await first.answer).toBe('declined');
    const second = await ask(colour);
    await asks.cancel();
    expect(await second.answer).toBe('cancelled');
    const third = await ask(colour);
    await shown(Promise.resolve(ends.abort()).then(() => third.answer));
    expect(await third.answer).toBe('cancelled');
    expect(text()).toContain('no longer asks');
  });

  it('takes a held text as the answer where it waits for words, and no other one', async () => {
    const { ask, asks, tap } = scene();
    const { answer } = await ask(several);
    expect(asks.writing()).toBeUndefined();
    await tap('☐ a');
    await tap('Next');
    await tap('✏️ Answer…');
    const id = asks.writing() ?? '';
    expect(await asks.use(id, '666', 'shop')).toBe('Only the owner can answer this.');
    expect(await asks.use('0', owner, 'shop')).toContain('no longer waits');
    expect(await asks.use(id, owner, 'shop')).toBeUndefined();
    await tap('Skip');
    expect(await answer).toEqual({ answers: { parts: ['a'], name: 'shop' } });
  });

  it('is answered by the owner alone', async () => {
    const { ask, tap } = scene();
    await ask(colour);
    expect(await tap('Red', '666')).toBe('Only the owner can answer this.');
  });

  it('shows no secret and nothing invisible, and fits into one message however long it is', async () => {
    const { ask, text, labels } = scene();
    const long = `hunter2\u200b${'x'.repeat(60_000)}`;
    const choices = Array.from({ length: 300 }, () => ({ value: long, title: long, description: long }));
    await ask({ text: long, fields: [{ name: 'f', title: long, required: false, choices }] });
    expect(text()).not.toMatch(/hunter2|\u200b/);
    expect(text().length).toBeLessThan(4096);
    expect(
      labels()
        ?.flat()
        .every((label) => label.length <= 64),
    ).toBe(true);
    expect(labels()?.length).toBeLessThanOrEqual(8);
  });
});
