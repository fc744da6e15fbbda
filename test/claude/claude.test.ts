// Claude Code with our hooks and our product: what the owner writes reaches the model, what the model says reaches the phone, and nothing
// runs against a no.

import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { SimMessage } from '../../agent/dev/telegram-sim/sim.ts';
import type { HostHome } from '../hosts/home.ts';
import { until } from '../hosts/processes.ts';
import type { Product } from '../hosts/product.ts';
import { runPrint } from './harness.ts';
import { idle, test, testWith, type } from './stage.ts';

const shell = ['--allowedTools', 'Bash(*)'];

async function shows(product: Product, text: string): Promise<SimMessage> {
  const find = () => product.sim.messages().find((each) => each.from === 'bot' && each.text.includes(text));
  await until(() => find() !== undefined, 30_000);
  const found = find();
  if (found) return found;
  const all = product.sim.messages().map((each) => each.text);
  throw new Error(`The phone does not show ${text}: ${JSON.stringify(all)}`);
}

async function expectHeld(product: Product): Promise<void> {
  const isHeld = async () => (await product.wa('status')).stdout.includes('it waits for the phone');
  if (!(await until(isHeld, 30_000))) throw new Error('no turn is held');
}

const made = (home: HostHome, name = 'made.txt') =>
  stat(join(home.project, name)).then(
    () => true,
    () => false,
  );

describe('a message of the phone', () => {
  test('stands in the next print run, is answered once, and a failed turn is told with its error', async ({
    model,
    home,
    product,
  }) => {
    const id = await product.say('From the phone [[say: Read it.]]');
    expect(await runPrint(home, 'go on')).toMatchObject({ code: 0, stdout: 'Read it.\n' });
    const request = await model.waitForRequest('From the phone [[say');
    expect(request.texts.join('\n')).toContain("A message from the owner's phone, relayed by wa-sync");
    expect(await product.waitForAnswers(1)).toMatchObject([{ text: 'Read it.', replyTo: id }]);
    await product.waitForLadder({ answered: 1 });

    const bad = await product.say('This breaks [[error: 400]]');
    expect((await runPrint(home, 'go on')).code).toBe(1);
    const [, failure] = await product.waitForAnswers(2);
    expect(failure).toMatchObject({ replyTo: bad });
    expect(failure?.text).toContain('API Error: 400 Scripted error 400');
    await product.waitForLadder({ answered: 1, failed: 1 });
  });

  test('reaches a turn that runs, with the result of its tool', async ({ model, home, product }) => {
    const ran = runPrint(home, 'work [[shell: sleep 4]] [[say: Worked.]]', { args: shell });
    await model.waitForRequest('work [[shell');
    await product.say('While you work');
    expect((await ran).stdout).toBe('Worked.\n');
    const request = await model.waitForRequest((each) => each.texts.some((text) => text.includes('While you work')));
    expect(request.toolResults).toBe(1);
    expect(request.texts.at(-1)).toMatch(/^PostToolUse:Bash hook additional context: /);
    await product.waitForLadder({ answered: 1 });
  });
});

testWith({ hold: 'always' })(
  'a text of the phone is the next prompt of a held terminal, again and again, until the host takes no more',
  async ({ product, open }) => {
    const tui = await open();
    await type(tui, 'first turn [[say: At your service.]]');
    await tui.waitForScreen('● At your service.');
    await expectHeld(product);
    for (let turn = 1; turn <= 8; turn += 1) {
      const id = await product.sim.say(`Question ${turn}? [[say: Answer ${turn}.]]`);
      const answers = await product.waitForAnswers(turn + 1);
      expect(answers.at(-1)).toMatchObject({ text: `Answer ${turn}.`, replyTo: id });
    }
    await product.waitForLadder({ answered: 8 });
    // The ninth would be dropped: the keyboard is free instead.
    await idle(tui);
  },
);

testWith({ nudge: 'off' })(
  'wa:away, typed without a slash, is answered with one line, and the terminal waits for the phone',
  async ({ model, product, open }) => {
    const tui = await open();
    await type(tui, 'wa:away');
    await model.waitForRequest('wa:away means: I leave the desk now');
    await expectHeld(product);
    const id = await product.sim.say('Are you there? [[say: Here.]]');
    const answers = () => product.waitForAnswers(1).then((all) => all.filter(({ replyTo }) => replyTo === id));
    await until(async () => (await answers()).length > 0, 30_000);
    expect(await answers()).toMatchObject([{ text: 'Here.' }]);
  },
);

testWith({ nudge: 'auto', hold: 'never' })(
  'an idle terminal is woken by a typed line, and the message goes with it',
  async ({ model, product, open }) => {
    const tui = await open();
    await type(tui, 'first turn [[say: Ready.]]');
    await tui.waitForScreen('● Ready.');
    await idle(tui);
    await product.waitForAnswers(1);
    const id = await product.sim.say('Wake up [[say: Awake.]]');
    await model.waitForRequest('Wake up');
    expect((await product.waitForAnswers(2)).at(-1)).toMatchObject({ text: 'Awake.', replyTo: id });
    await product.waitForLadder({ answered: 1 });
  },
);

testWith({ nudge: 'auto', hold: 'never' })(
  'an idle terminal outside of tmux is woken through its inbox socket, which is no sign of a person',
  async ({ model, product, open }) => {
    const tui = await open({ outsideTmux: true });
    await type(tui, 'first turn [[say: Ready.]]');
    await tui.waitForScreen('● Ready.');
    await idle(tui);
    await product.waitForAnswers(1);
    const id = await product.sim.say('Wake up [[say: Awake.]]');
    const request = await model.waitForRequest('Wake up');
    expect(request.texts.join('\n')).toContain('Another Claude session sent a message:');
    expect((await product.waitForAnswers(2)).at(-1)).toMatchObject({ text: 'Awake.', replyTo: id });
    await product.waitForLadder({ answered: 1 });
  },
);

testWith({ hold: 'always' })(
  'the phone reads what the model writes while the turn still runs, above the tool that runs',
  async ({ model, product, open }) => {
    let goOn = () => {};
    const waits = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    model.rule(async ({ texts, toolResults }) => {
      if (!texts.some((text) => text.includes('Long work'))) return undefined;
      if (toolResults > 0) {
        await waits;
        return { text: 'Long work done.' };
      }
      const input = { command: 'echo looked', description: 'x' };
      return { text: 'I look at the tests first.', toolCall: { name: 'Bash', input } };
    });
    const tui = await open({ args: shell });
    await type(tui, 'first turn [[say: Ready.]]');
    await tui.waitForScreen('● Ready.');
    await expectHeld(product);
    await product.sim.say('Long work');
    const { text } = await shows(product, 'I look at the tests first.');
    expect(text).toMatch(/^I look at the tests first\.\n\nWorking, \d+ s\n1 tool call: /);
    goOn();
    await shows(product, 'Long work done.');
    await shows(product, 'Done after');
  },
);

testWith({ hold: 'always' })(
  'a sprint of two tasks runs by itself, and STOP ends one',
  async ({ model, product, open }) => {
    let task = 0;
    model.rule(({ texts, toolResults }) => {
      if (!texts.some((text) => text.startsWith('Stop hook feedback:'))) return undefined;
      if (toolResults === 0)
        return { toolCall: { name: 'Bash', input: { command: `echo ${task}`, description: 'x' } } };
      task += 1;
      return { text: `Task ${task} went well.\nwa: done` };
    });
    const tui = await open({ args: shell });
    await type(tui, 'first turn [[say: Ready.]]');
    await tui.waitForScreen('● Ready.');
    await expectHeld(product);
    await product.sim.say('/sprint 2 all the tests');
    await shows(product, 'Task 1 of 2 done:');
    await shows(product, 'Task 2 of 2 done:');
    await expectHeld(product);

    let goOn = () => {};
    const waits = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    model.rule(async ({ texts }) => {
      if (!texts.some((text) => text.includes('Long work'))) return undefined;
      await waits;
      return { text: 'Long work done.' };
    });
    await product.sim.say('Long work');
    await model.waitForRequest('Long work');
    await product.sim.say('/stop');
    await shows(product, 'Stop requested');
    goOn();
    await shows(product, 'Stopped after');
  },
);

describe('approvals', () => {
  const touch = 'Go [[shell: touch made.txt]] [[say: Finished.]]';

  test('a command waits for the phone, and runs without the dialog of the host', async ({ home, product, open }) => {
    await product.sim.say('/approvals all');
    await shows(product, 'Approvals: all.');
    const tui = await open();
    await type(tui, touch);
    const asked = await shows(product, 'touch made.txt');
    expect(await made(home)).toBe(false);
    await product.sim.press(asked.messageId, 'Approve');
    expect(await tui.waitForScreen('● Finished.')).not.toContain('Do you want to proceed?');
    expect(await made(home)).toBe(true);
    await shows(product, '✅ Approved.');
  });

  test('a command that is denied does not run, and the model reads why', async ({ model, home, product }) => {
    await product.sim.say('/approvals all');
    await shows(product, 'Approvals: all.');
    const ran = runPrint(home, touch, { args: shell });
    await product.sim.press((await shows(product, 'touch made.txt')).messageId, 'Deny');
    expect((await ran).stdout).toBe('Finished.\n');
    expect(await made(home)).toBe(false);
    await model.waitForRequest('The owner denied this on the phone.');
  });
});

test('a filter that fails withholds the result of a command and of a file from the model', async ({
  model,
  home,
  product: _,
}) => {
  const dir = join(home.home, '.config', 'wa-sync');
  await mkdir(dir, { recursive: true });
  const after = { run: 'exit 7', result: 'replace' };
  const rules = ['Bash', 'Read'].map((tool) => ({ tool, after }));
  await writeFile(join(dir, 'policy.json'), JSON.stringify({ rules }));
  const file = join(home.project, 'secret.txt');
  await writeFile(file, 'hush\n');
  model.rule(({ texts, toolResults }) => {
    if (!texts.some((text) => text.includes('Go'))) return undefined;
    if (toolResults === 0) return { toolCall: { name: 'Read', input: { file_path: file } } };
    return toolResults === 1
      ? { toolCall: { name: 'Bash', input: { command: 'printf hu; echo sh', description: 'x' } } }
      : { text: 'Finished.' };
  });
  const ran = await runPrint(home, 'Go', { args: shell });
  expect(ran.stdout).toBe('Finished.\n');
  const request = await model.waitForRequest((each) => each.toolResults === 2);
  const read = JSON.stringify(request.body);
  const withheld = ['Bash', 'Read'].map((tool) => read.includes(`The result of ${tool} is withheld by wa-sync`));
  expect([...withheld, read.includes('hush')]).toEqual([true, true, false]);
});

testWith({ presence: { awayAfter: 1 } })(
  'with approvals off the dialog of the host asks the phone, too, and the first answer counts',
  async ({ home, product, open }) => {
    const tui = await open();
    await type(tui, 'One [[shell: touch one.txt]] [[say: One is done.]]');
    await tui.waitForScreen('Do you want to proceed?');
    await product.sim.press((await shows(product, 'touch one.txt')).messageId, 'Approve');
    await tui.waitForScreen('● One is done.');
    expect(await made(home, 'one.txt')).toBe(true);

    await type(tui, 'Two [[shell: touch two.txt]] [[say: Two is done.]]');
    await tui.waitForScreen('touch two.txt');
    const second = await shows(product, 'touch two.txt');
    await tui.key('1');
    await tui.waitForScreen('● Two is done.');
    await shows(product, 'Over: answered or cancelled in the terminal');
    await expect(product.sim.press(second.messageId, 'Approve')).rejects.toThrow();
  },
);
