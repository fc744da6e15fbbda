// The main job on the real Codex: what the owner types on the phone reaches the model, and the answer the phone.

import { access, writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { textsOf } from '../helpers/models/codex.ts';
import { until } from '../hosts/processes.ts';
import { test, testWith, type } from './stage.ts';

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
const framed = /\[\w+ from the owner's phone · begin (msg_\S+) · sent [^\]]*\]\n(.*?)\n\[\w+ end \1\]/s;

test('a text of the phone goes with the next prompt, and its answer to the phone', async ({ model, product, open }) => {
  const tui = await open();
  const messageId = await product.say('Which tests fail? [[say: Two of them.]]');
  await type(tui, 'go on');
  const request = await model.waitForRequest('Which tests fail?');
  expect(request.userTexts[0]).toBe('go on');
  expect(framed.exec(textsOf(request.body.input))?.[2]).toBe('Which tests fail? [[say: Two of them.]]');
  expect(await product.waitForAnswers(1)).toMatchObject([{ text: 'Two of them.', replyTo: messageId }]);
  await product.waitForLadder({ answered: 1 });
});

test('a text of the phone goes into the running turn, at the end of a tool', async ({ model, home, product, open }) => {
  const [go, started] = [`${home.home}/go`, `${home.home}/started`];
  const tui = await open('-s', 'danger-full-access');
  await type(tui, `work [[shell: touch ${started}; until [ -e ${go} ]; do sleep 0.1; done]]`);
  await until(() => exists(started), 30_000);
  const messageId = await product.say('Do this as well. [[say: Both are done.]]');
  await writeFile(go, '');
  const request = await model.waitForRequest('Do this as well.');
  expect(request.toolResults).toBe(1);
  expect(textsOf(request.body.input)).toMatch(framed);
  expect(await product.waitForAnswers(1)).toMatchObject([{ text: 'Both are done.', replyTo: messageId }]);
  await product.waitForLadder({ answered: 1 });
});

test('a text of the phone begins a turn in the idle terminal, as the words of its user', async ({
  model,
  product,
  open,
}) => {
  const tui = await open();
  await type(tui, 'first turn [[say: At your service.]]');
  await product.waitForAnswers(1);
  await product.sim.say('-rf !ls /quit are only words [[say: Read it.]]');
  await tui.waitForScreen('• Read it.');
  const request = await model.waitForRequest('are only words');
  expect(request.userTexts).toEqual([expect.stringMatching(framed)]);
  expect((await product.waitForAnswers(2))[1]?.text).toBe('Read it.');
  await product.waitForLadder({ answered: 1 });
  expect(model.requests).toHaveLength(2);
});

test('a turn that fails is told with the error of the host, and its message is not called answered', async ({
  product,
  open,
}) => {
  const tui = await open();
  const messageId = await product.say('Fail. [[error: 400]]');
  await type(tui, 'go on');
  expect(await product.waitForAnswers(1)).toMatchObject([{ text: 'Failed: Scripted error 400', replyTo: messageId }]);
  await product.waitForLadder({ failed: 1 });
});

testWith({ hold: 'always' })(
  'a held end of a turn takes the next prompt from the phone',
  async ({ model, product, open }) => {
    const tui = await open();
    await type(tui, 'first turn [[say: Ready.]]');
    await product.waitForAnswers(1);
    for (const text of ['one', 'two']) {
      await product.sim.say(`Held ${text}. [[say: Done ${text}.]]`);
      const request = await model.waitForRequest(`Held ${text}.`);
      expect(request.userTexts.at(-1)).toMatch(/^<hook_prompt /);
    }
    expect((await product.waitForAnswers(3)).map(({ text }) => text)).toEqual(['Ready.', 'Done one.', 'Done two.']);
    await product.waitForLadder({ answered: 2 });
  },
);

test('a sprint of two tasks runs by itself, and ends with its status', async ({ model, product, open }) => {
  model.rule(({ userTexts, toolResults }) => {
    const text = userTexts.join('\n');
    if (text.includes('sprint ends here')) return { text: 'Everything is done.' };
    const task = /wa-sync sprint, task (\d+)/.exec(text)?.[1];
    if (task === undefined) return undefined;
    if (toolResults === 0) return { toolCall: { name: 'exec_command', args: { cmd: `echo ${task}` } } };
    return { text: `Task number ${task} works now.\nwa: done` };
  });
  const tui = await open();
  await type(tui, 'first turn [[say: Ready.]]');
  await product.waitForAnswers(1);
  await product.sim.say('/sprint 2 make it green');
  const texts = (await product.waitForAnswers(6)).map(({ text }) => text);
  expect(texts.filter((text) => !/^Sprint of|^Sprint over/.test(text))).toEqual([
    'Ready.',
    'Task 1 of 2 done:\nTask number 1 works now.',
    'Task 2 of 2 done:\nTask number 2 works now.',
    'Final status of the sprint:\nEverything is done.',
  ]);
  expect(texts.at(-1)).toMatch(/^Sprint over after .*: all 2 tasks are done\.$/);
});

test('STOP reaches the running turn, and /abort refuses its next tool', async ({ model, home, product, open }) => {
  const [go, never, started] = [`${home.home}/go`, `${home.home}/never`, `${home.home}/started`];
  const tui = await open('-s', 'danger-full-access');
  const wait = `touch ${started}; until [ -e ${go} ]; do sleep 0.1; done`;
  await type(tui, `work [[shell: ${wait}]] [[shell: touch ${never}]] [[say: Halted.]]`);
  await until(() => exists(started), 30_000);
  await product.sim.say('/abort');
  expect((await product.waitForAnswers(1))[0]?.text).toMatch(/^Abort requested/);
  await writeFile(go, '');
  await model.waitForRequest('STOP signal received from user');
  const texts = (await product.waitForAnswers(3)).map(({ text }) => text);
  expect(texts).toEqual(expect.arrayContaining(['Halted.', expect.stringMatching(/^Stopped after the running turn/)]));
  await expect(access(never)).rejects.toThrow();
});
