// The terminal that waits for the phone: what the owner writes wakes the agent in the same session, and Esc gives the keyboard back.

import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { holdLock } from '../helpers/locked.ts';
import { until } from '../hosts/processes.ts';
import type { Tui } from '../hosts/tui.ts';
import { framedPrompts, holdModel, turnRequests } from './hand-over.ts';
import { type Stage, test, type } from './stage.ts';

async function expectHeld(product: { wa(...args: string[]): Promise<{ stdout: string }> }): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const { stdout } = await product.wa('status');
    if (stdout.includes('it waits for the phone')) return;
  }
  throw new Error('no turn is held');
}

/** A terminal that the owner has left: it had one turn, and waits for the phone. */
async function openHeld({ product, open }: Pick<Stage, 'product' | 'open'>): Promise<Tui> {
  const tui = await open();
  await type(tui, 'wa:away first turn [[say: At your service.]]');
  await expectHeld(product);
  return tui;
}

const pieces = 'Zeile mit "Anführung", \'Apostroph\', `code`, <b>fett</b> & \\ $HOME 🙏🏽\n';
const untouched = [
  `!rm -rf / is "no" command\n/x is none\n\n\`\`\`sh\necho "$(id)" <b>&amp;</b>\n\`\`\`\n${pieces}@README.md`,
  `/x is no command: 'single', "double" & <b>bold</b>\n!ls\n${pieces}👍`,
  `${pieces.repeat(80).slice(0, 4_095)}.`,
];

describe('with the owner away', () => {
  test('a text of the phone is the next prompt of the idle terminal, in the same session, each time again', async ({
    model,
    product,
    open,
  }) => {
    const tui = await open();
    await type(tui, 'wa:away first turn [[say: At your service.]]');
    await tui.waitForScreen('Any key gives the keyboard back');
    await tui.waitForScreen('✦ At your service.');
    await expectHeld(product);
    const text = 'Mehrere Zeilen,\n"Anführung" & <b>emoji</b> 🙏 [[say: Read it.]]';
    const id = await product.sim.say(text);
    const request = await model.waitForRequest('Anführung');
    expect(framedPrompts(request)).toMatchObject([{ text }]);
    expect(request.body.contents.some(({ parts }) => parts.some((part) => part.text?.includes('first turn')))).toBe(
      true,
    );
    await tui.waitForScreen('✦ Read it.');
    const answers = await product.waitForAnswers(2);
    expect(answers.at(-1)).toMatchObject({ text: 'Read it.', replyTo: id });
    await product.waitForLadder({ answered: 1 });

    await product.sim.say('Second [[say: Again.]]');
    await tui.waitForScreen('✦ Again.');
    await product.waitForLadder({ answered: 2 });
    expect(turnRequests(model)).toHaveLength(3);
  });

  test('ten texts in a row are ten turns of one session, each answered', async ({ model, home, product, open }) => {
    await openHeld({ product, open });
    for (let turn = 1; turn <= 10; turn += 1) {
      const id = await product.sim.say(`Question ${turn}? [[say: Answer ${turn}.]]`);
      const answers = await product.waitForAnswers(turn + 1);
      expect(answers.at(-1)).toMatchObject({ text: `Answer ${turn}.`, replyTo: id });
    }
    await product.waitForLadder({ answered: 10 });
    const turns = turnRequests(model).slice(1);
    expect(turns.map((request) => framedPrompts(request).map(({ text }) => text))).toEqual(
      Array.from({ length: 10 }, (_, index) => [`Question ${index + 1}? [[say: Answer ${index + 1}.]]`]),
    );
    const last = JSON.stringify(turns.at(-1)?.body.contents);
    for (let turn = 1; turn < 10; turn += 1) expect(last).toContain(`Answer ${turn}.`);
    const sessions = (await home.sessionLines()).flatMap(({ sessionId }) => sessionId ?? []);
    expect(new Set(sessions).size).toBe(1);
  });

  test('a text with quotes, marks and emoji, with a ! or a //x in front, or of 4,096 characters, reaches the model untouched', async ({
    model,
    product,
    open,
  }) => {
    await openHeld({ product, open });
    for (const [index, text] of untouched.entries()) {
      await expectHeld(product);
      // A slash alone would ask for a workflow of that name.
      await product.sim.say(text.replace(/^\//, '//'));
      await product.waitForLadder({ answered: index + 1 });
    }
    expect(untouched.map((text) => text.length)).toContain(4_096);
    const turns = turnRequests(model).slice(1);
    expect(turns.map((request) => framedPrompts(request).map(({ text }) => text))).toEqual(
      untouched.map((text) => [text]),
    );
  });

  test('three texts in a burst are one turn', async ({ model, home, product, open }) => {
    await openHeld({ product, open });
    // Nothing wakes the turn before it stands in the file, so that the three come as near to each other as in any burst.
    const locked = await holdLock(join(home.project, '.gemini', 'wa_inbox.json'));
    try {
      await product.sim.say('One.');
      await product.sim.say('Two.');
      await product.sim.say('Three. [[say: All three.]]');
      await product.waitForLadder({ delivered: 3 });
    } finally {
      await locked.release();
    }
    const request = await model.waitForRequest('Three.');
    expect(framedPrompts(request).map(({ text }) => text)).toEqual(['One.', 'Two.', 'Three. [[say: All three.]]']);
    await product.waitForLadder({ answered: 3 });
    expect(turnRequests(model)).toHaveLength(2);
  });

  test('Esc gives the keyboard back, and a text that comes then waits for the next turn', async ({
    model,
    product,
    open,
  }) => {
    const tui = await openHeld({ product, open });
    await tui.waitForScreen('✦ At your service.');
    await tui.key('Escape');
    await tui.waitForScreen('Request cancelled.');
    await product.sim.say('Too late for the held hook. [[say: Here it is.]]');
    await product.waitForAnswers(2);
    expect((await product.waitForAnswers(2)).at(-1)?.text).toMatch(/^Your message did not reach the agent: Esc/);
    expect(await product.inbox()).toMatchObject([{ read: false, attempt: 1 }]);
    expect(turnRequests(model)).toHaveLength(1);
    await product.waitForLadder({ delivered: 1 });

    await type(tui, 'I am back');
    await tui.waitForScreen('✦ Here it is.');
    await product.waitForLadder({ answered: 1 });
  });
});

test('a turn that the phone started waits for the phone by itself, a turn of the desk does not', async ({
  model,
  product,
  open,
}) => {
  const tui = await open();
  await type(tui, 'desk turn [[say: For the desk.]]');
  await tui.waitForScreen('✦ For the desk.');
  expect((await product.wa('status')).stdout).not.toContain('it waits for the phone');
  await product.say('Told at the desk [[say: For both.]]');
  await type(tui, 'go on');
  await tui.waitForScreen('✦ For both.');
  expect((await product.wa('status')).stdout).not.toContain('it waits for the phone');

  await type(tui, 'wa:away one more [[say: Waiting.]]');
  await expectHeld(product);
  const answer = holdModel(model, { text: 'I am here.' });
  await product.sim.say('Are you there?');
  await model.waitForRequest('Are you there?');
  await product.wa('away', 'off');
  answer();
  await tui.waitForScreen('✦ I am here.');
  await expectHeld(product);
  await product.wa('away', 'off');
  await tui.waitForScreen('Type your message');
  expect((await product.wa('status')).stdout).not.toContain('it waits for the phone');
});

test('a text that comes while a tool runs stands in the next request of the same turn', async ({
  model,
  home,
  product,
  open,
}) => {
  const tui = await open({ args: ['--approval-mode', 'yolo'] });
  const go = `${home.home}/go`;
  const started = `${home.home}/started`;
  const wait = `touch ${started}; until [ -e ${go} ]; do sleep 0.1; done`;
  await type(tui, `work [[shell: ${wait}]] [[say: Done with both.]]`);
  // The screen shows the command before the tool runs.
  await until(
    () =>
      access(started).then(
        () => true,
        () => false,
      ),
    30_000,
  );
  await product.say('While you work');
  await writeFile(go, '');
  await model.waitForRequest('While you work');
  await tui.waitForScreen('✦ Done with both.');
  await product.waitForLadder({ answered: 1 });
  expect(turnRequests(model)).toHaveLength(2);
});

test('/wa:away in the terminal lets it wait for the phone, /wa:here brings the messages to another one', async ({
  model,
  product,
  open,
}) => {
  const first = await open();
  const second = await open();
  await type(first, '/wa:away');
  await expectHeld(product);
  expect((await product.waitForAnswers(1)).map(({ text }) => text)).toEqual(['ok']);
  await type(second, '/wa:here');
  await second.waitForScreen('✦ ok');
  await expectHeld(product);
  await first.waitForScreen('Type your message');
  await product.sim.say('For the second terminal. [[say: Second here.]]');
  await second.waitForScreen('✦ Second here.');
  expect(turnRequests(model).filter((request) => framedPrompts(request).length > 0)).toHaveLength(1);
});

test.for(['SIGTERM', 'SIGKILL'] as const)(
  'a daemon that ends by %s while a turn is held frees the terminal, and the answer is told once',
  async (name, { product, open }) => {
    const tui = await openHeld({ product, open });
    await product.waitForAnswers(1);
    await product.stopDaemon(name);
    await type(tui, 'second turn [[say: Without a daemon.]]');
    await tui.waitForScreen('✦ Without a daemon.');
    await product.startDaemon();
    await product.say('Back again [[say: With the daemon.]]');
    await type(tui, 'third turn');
    await tui.waitForScreen('✦ With the daemon.');
    const expected = name === 'SIGTERM' ? 4 : 3;
    const texts = (await product.waitForAnswers(expected)).map(({ text }) => text);
    expect(texts.filter((text) => !text.startsWith('wa-sync stops')).sort()).toEqual([
      'At your service.',
      'With the daemon.',
      'Without a daemon.',
    ]);
    expect(texts).toHaveLength(expected);
    await product.waitForLadder({ answered: 1 });
  },
);
