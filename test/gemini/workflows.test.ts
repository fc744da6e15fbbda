// A project's own workflows, started from the phone by their names, each with a summary back.

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { handedOver } from './hand-over.ts';
import { test, type } from './stage.ts';

const startup = `---
description: Begin the day
---
# Startup

1. Read docs/plan.md.
2. Name the next task. [[say: Startup done: the next task is **42**.]]
`;
const implementTask = `description = "One task"
prompt = """
Implement task {{args}} of docs/plan.md.
Run the tests: !{npm test}
"""
`;
/** Far more than a summary holds. */
const report = Array.from({ length: 60 }, (_, index) => `Step ${index + 1} of the task is done and tested.`).join(' ');
const shutdown = 'Write what was done into docs/log.md. [[say: Shutdown done: everything is written down.]]\n';

test('/startup, /implement_task and /shutdown run as workflows of the project, each with a summary on the phone', async ({
  model,
  home,
  product,
  open,
}) => {
  const write = async (path: string, text: string) => {
    const file = join(home.project, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  };
  await write('.agents/workflows/startup.md', startup);
  await write('.gemini/commands/implement_task.toml', implementTask);
  await write('.agents/workflows/shutdown.md', shutdown);
  model.rule(({ userTexts }) =>
    userTexts.join().includes('Implement task') ? { text: `Task 42 is done. ${report}` } : undefined,
  );
  const tui = await open();
  const run = async (command: string, prompt: string) => {
    await product.say(command);
    await type(tui, prompt);
    const request = await model.waitForRequest(prompt);
    return handedOver(request).map(({ text }) => text.split('\n'));
  };

  expect(await run('/startup', 'begin')).toEqual([
    [
      '/startup',
      '[NONCE workflow /startup, follow it]',
      '# Startup',
      '',
      '1. Read docs/plan.md.',
      '2. Name the next task. [[say: Startup done: the next task is **42**.]]',
    ],
  ]);
  await product.waitForAnswers(1);
  expect(await run('/implement_task 42', 'continue')).toEqual([
    [
      '/implement_task 42',
      '[NONCE workflow /implement_task, follow it]',
      'Implement task 42 of docs/plan.md.',
      'Run the tests: !{npm test}',
      '',
      expect.stringMatching(/^\(wa-sync has not run what stands in !\{…\}/),
    ],
  ]);
  await product.waitForAnswers(2);
  expect(await run('/shutdown', 'finish')).toEqual([
    ['/shutdown', '[NONCE workflow /shutdown, follow it]', shutdown.trim()],
  ]);

  const [first, second, third] = await product.waitForAnswers(3);
  expect(first).toMatchObject({
    text: 'Startup done: the next task is 42.',
    entities: [{ type: 'bold', offset: 31, length: 2 }],
    buttons: [],
  });
  expect(second?.text.length).toBeLessThanOrEqual(500);
  expect(second?.text).toMatch(/^Task 42 is done\. Step 1 of the task is done and tested\. Step 2 .*/);
  expect(second?.buttons).toMatchObject([[{ label: 'Full answer' }]]);
  expect(third?.text).toBe('Shutdown done: everything is written down.');
  await product.waitForLadder({ answered: 3 });

  // The whole answer is one tap away.
  await product.sim.press(second?.messageId ?? 0, 'Full answer');
  const full = (await product.waitForAnswers(4)).slice(3);
  expect(full.map(({ text }) => text).join('\n')).toContain('Step 60 of the task is done and tested.');
});
