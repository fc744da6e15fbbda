// A conversation of the real Gemini CLI that is opened over ACP again and again, while other Gemini CLIs start in the same project.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Stage, stageFor } from './stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await stageFor('gemini');
});
afterAll(() => stage?.close());

it('five loads of one session lose nothing', async () => {
  const words = ['alder', 'birch', 'cedar', 'douglas', 'elm'];
  const made = await stage.open();
  await made.session.prompt([{ text: 'The first word is acorn. [[say: ok]]' }]);
  await made.process.close();
  for (const word of words) {
    const { process, session, record } = await stage.open({ resume: made.session.id });
    expect(await session.prompt([{ text: `The next word is ${word}. [[say: heard ${word}]]` }])).toEqual({
      type: 'answered',
    });
    // Nothing of the replay.
    expect(record.text()).toBe(`heard ${word}`);
    // The start of another one is what deletes a conversation of two files.
    await (await stage.start()).close();
    await process.close();
  }
  const last = stage.bodies().at(-1) ?? '';
  expect(['acorn', ...words].filter((word) => !last.includes(`word is ${word}`))).toEqual([]);
});
