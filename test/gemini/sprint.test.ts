// The agent that works alone: a sprint runs, is interrupted, is stopped, and a tool is aborted.

import { access, writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import type { ModelServer } from '../helpers/models/gemini.ts';
import { until } from '../hosts/processes.ts';
import type { Tui } from '../hosts/tui.ts';
import { framedPrompts, turnRequests } from './hand-over.ts';
import { runHeadless } from './harness.ts';
import { type Stage, test, type } from './stage.ts';

/** Each task is one tool call and then an answer of its own. */
function workOnTasks(
  model: ModelServer,
  { last = Number.POSITIVE_INFINITY, wait }: { last?: number; wait?: string } = {},
) {
  model.rule(({ method, userTexts, toolResults }) => {
    const text = userTexts.join('\n');
    if (method !== 'streamGenerateContent') return undefined;
    if (text.includes('sprint ends here')) return { text: 'Everything is done.' };
    const task = Number(/wa-sync sprint, task (\d+)/.exec(text)?.[1] ?? Number.NaN);
    if (Number.isNaN(task) || framedTextIn(text)) return undefined;
    const command = wait && task === 2 ? `until [ -e ${wait} ]; do sleep 0.1; done` : `echo ${task}`;
    if (toolResults === 0) return { toolCall: { name: 'run_shell_command', args: { command } } };
    return { text: `Task number ${task} works now.\nwa: ${task >= last ? 'finished' : 'done'}` };
  });
}

const framedTextIn = (text: string) => /\[\w+ [\w' ]+ · begin msg_/.test(text);
const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
const yolo = { args: ['--approval-mode', 'yolo'] };

/** The owner has left a terminal after its first turn, and orders a sprint from the phone. */
async function sprintFromAway({ product, open }: Pick<Stage, 'product' | 'open'>, order: string): Promise<Tui> {
  const tui = await open(yolo);
  await type(tui, 'wa:away first turn [[say: Ready.]]');
  await product.waitForAnswers(1);
  await product.sim.say(order);
  return tui;
}

test('a sprint of three tasks runs by itself, rings for each, and ends with its status', async ({
  model,
  product,
  open,
}) => {
  workOnTasks(model);
  await sprintFromAway({ product, open }, '/sprint 3 make it green');
  const texts = (await product.waitForAnswers(7)).map(({ text }) => text);
  expect(texts.filter((text) => !/^Sprint of|^Sprint over/.test(text))).toEqual([
    'Ready.',
    'Task 1 of 3 done:\nTask number 1 works now.',
    'Task 2 of 3 done:\nTask number 2 works now.',
    'Task 3 of 3 done:\nTask number 3 works now.',
    'Final status of the sprint:\nEverything is done.',
  ]);
  expect(texts.at(-1)).toMatch(/^Sprint over after \d+ (?:s|min): all 3 tasks are done\.$/);
  expect(JSON.stringify(turnRequests(model).map(({ userTexts }) => userTexts))).toContain('make it green');
});

test('the agent ends a sprint that has no task left', async ({ model, product, open }) => {
  workOnTasks(model, { last: 2 });
  await sprintFromAway({ product, open }, '/sprint 9');
  const texts = (await product.waitForAnswers(5)).map(({ text }) => text);
  expect(texts.at(-1)).toMatch(
    /^Sprint over after \d+ (?:s|min), 2 of 9 tasks done: the agent says that no task is left\.$/,
  );
});

test('STOP in the middle ends it after the current turn, and what waited from before is parked', async ({
  model,
  home,
  product,
  open,
}) => {
  const go = `${home.home}/go`;
  workOnTasks(model, { wait: go });
  const tui = await sprintFromAway({ product, open }, '/sprint 5');
  await tui.waitForScreen('until [ -e');
  await product.sim.say('/later water the plants');
  await product.waitForAnswers(4);
  await product.sim.say('/stop');
  await product.waitForAnswers(5);
  // The phone is told before the file is written.
  const isParked = async () => {
    const [waiting, stop] = await product.inbox();
    return waiting?.parked === true && stop?.control === 'stop';
  };
  await until(isParked, 60_000);
  expect(await product.inbox()).toMatchObject([
    expect.objectContaining({ text: 'water the plants', parked: true, read: false }),
    expect.objectContaining({ control: 'stop', read: false }),
  ]);
  await writeFile(go, '');
  const request = await model.waitForRequest('STOP signal received from user');
  expect(request.userTexts.join('')).toContain('task 2 of at most 5');
  const texts = (await product.waitForAnswers(7)).map(({ text }) => text);
  expect(texts).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^Stop requested: .* 1 message from before it is parked.* Sprint over .*: stopped\.$/),
      expect.stringMatching(/^Stopped after the running turn/),
    ]),
  );
  const isStopRead = async () => (await product.inbox()).find(({ control }) => control === 'stop')?.read === true;
  expect(await until(isStopRead, 60_000)).toBe(true);
  const before = turnRequests(model).length;
  await product.sim.say('/continue');
  const next = await model.waitForRequest('water the plants');
  expect(framedPrompts(next)).toMatchObject([{ marks: expect.stringContaining('sent before the STOP') }]);
  expect(turnRequests(model)).toHaveLength(before + 1);
});

test('a text of the phone in the middle of a sprint is done before the next task', async ({
  model,
  home,
  product,
  open,
}) => {
  const go = `${home.home}/go`;
  workOnTasks(model, { wait: go, last: 3 });
  const tui = await sprintFromAway({ product, open }, '/sprint 5');
  await tui.waitForScreen('until [ -e');
  await product.sim.say('/later First this [[say: This is done.]]');
  await product.waitForAnswers(4);
  await writeFile(go, '');
  await model.waitForRequest('First this');
  const texts = (await product.waitForAnswers(8)).map(({ text }) => text);
  const position = (part: string) => texts.findIndex((text) => text.includes(part));
  expect(position('This is done.')).toBeGreaterThan(position('Task number 2'));
  expect(position('Task number 3')).toBeGreaterThan(position('This is done.'));
  expect(texts.at(-1)).toMatch(/3 of 5 tasks done: the agent says/);
});

test('/abort refuses the next tool and ends the turn', async ({ model, home, product, open }) => {
  const tui = await open(yolo);
  const go = `${home.home}/go`;
  const never = `${home.home}/never`;
  const started = `${home.home}/started`;
  const wait = `touch ${started}; until [ -e ${go} ]; do sleep 0.1; done`;
  await type(tui, `work [[shell: ${wait}]] [[shell: touch ${never}]] [[say: No.]]`);
  await until(() => exists(started), 30_000);
  await product.sim.say('/abort');
  expect((await product.waitForAnswers(1))[0]?.text).toMatch(/^Abort requested/);
  await writeFile(go, '');
  expect((await product.waitForAnswers(2)).at(-1)?.text).toBe('Failed: Aborted before a command ran.');
  await tui.waitForScreen('Aborted from the phone');
  await tui.waitForScreen('Type your message');
  expect(await exists(never)).toBe(false);
  expect(turnRequests(model)).toHaveLength(2);
  await type(tui, 'next turn [[say: Works again.]]');
  await tui.waitForScreen('✦ Works again.');
});

test('a headless run sprints as well, and ends', async ({ model, home, product }) => {
  workOnTasks(model);
  await product.sim.say('/sprint 2');
  expect((await product.waitForAnswers(1))[0]?.text).toMatch(
    /^Sprint of at most 2 tasks: it starts after the next turn of the coding agent/,
  );
  const run = await runHeadless(home, { prompt: 'first turn [[say: Ready.]]', ...yolo });
  expect(run.code).toBe(0);
  const texts = (await product.waitForAnswers(6)).map(({ text }) => text);
  expect(texts.slice(1, 5)).toEqual([
    'Ready.',
    'Task 1 of 2 done:\nTask number 1 works now.',
    'Task 2 of 2 done:\nTask number 2 works now.',
    'Final status of the sprint:\nEverything is done.',
  ]);
  expect(texts.at(-1)).toMatch(/^Sprint over after \d+ (?:s|min): all 2 tasks are done/);
});
