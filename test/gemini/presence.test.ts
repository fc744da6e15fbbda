// Whether somebody sits at the terminal, as the real CLI shows it: a terminal that was left is reached without /away, a key gives the
// keyboard back, and what a person reads there does not ring on the phone.

import { writeFile } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { until } from '../hosts/processes.ts';
import type { Product } from '../hosts/product.ts';
import { framedPrompts, handedOver } from './hand-over.ts';
import { testWith, type } from './stage.ts';

/** Resolves when `wa-sync status` says so of the session. */
async function waitForStatus(product: Product, what: RegExp): Promise<void> {
  let stdout = '';
  const says = async () => {
    stdout = (await product.wa('status')).stdout;
    return what.test(stdout);
  };
  if (await until(says, 100_000)) return;
  throw new Error(`wa-sync status does not say ${what}:\n${stdout}`);
}

describe('in tmux', () => {
  // Longer than a turn of a loaded machine, so that the second prompt comes while the person is there.
  const test = testWith({ nudge: 'auto', follow: 'auto', presence: { awayAfter: 30 } });

  test('a message to a session that nobody touched reaches the model, without /away, and what was read there comes as one summary', async ({
    model,
    product,
    open,
    annotate,
  }) => {
    const tui = await open();
    await type(tui, 'first turn [[say: One.]]');
    await tui.waitForScreen('✦ One.');
    await type(tui, 'second turn [[say: Two.]]');
    await tui.waitForScreen('✦ Two.');
    await waitForStatus(product, /nobody at the terminal/);
    expect((await product.waitForAnswers(1)).map(({ text }) => text)).toEqual([
      'While you were at the terminal, 2 turns; the last answer:\nTwo.',
    ]);

    const said = performance.now();
    const id = await product.sim.say('Are you there? [[say: Here I am.]]');
    expect(handedOver(await model.waitForRequest('Are you there?')).map(({ text }) => text)).toEqual([
      'Are you there? [[say: Here I am.]]',
    ]);
    await annotate(`in the model's request ${Math.round(performance.now() - said)} ms after the phone sent it`);
    // The desk sees who asked.
    await tui.waitForScreen('From the phone: Are you there?');
    await tui.waitForScreen('✦ Here I am.');
    expect((await product.waitForAnswers(2)).at(-1)).toMatchObject({ text: 'Here I am.', replyTo: id });
    await product.waitForLadder({ answered: 1 });
    // A turn of the phone waits for the phone.
    await waitForStatus(product, /it waits for the phone/);
  });
});

describe('where nothing wakes an idle terminal', () => {
  const test = testWith({ presence: { awayAfter: 4 } });

  test('a turn that ends while nobody is there waits for the phone by itself, and a key gives the keyboard back', async ({
    model,
    home,
    product,
    open,
  }) => {
    const tui = await open({ args: ['--approval-mode', 'yolo'] });
    await tui.waitForScreen('no message of the phone can wake it');
    const go = `${home.home}/go`;
    await type(tui, `work [[shell: until [ -e ${go} ]; do sleep 0.1; done]] [[say: Done.]]`);
    await tui.waitForScreen('until [ -e');
    await waitForStatus(product, /nobody at the terminal/);
    await writeFile(go, '');
    await waitForStatus(product, /it waits for the phone/);
    await tui.waitForScreen('any key ends the wait');
    await product.sim.say('And now? [[say: This.]]');
    expect(framedPrompts(await model.waitForRequest('And now?'))).toHaveLength(1);
    await tui.waitForScreen('✦ This.');
    await waitForStatus(product, /it waits for the phone/);
    await product.wa('away', 'on');

    await tui.key('h');
    await tui.waitForScreen('the keyboard is yours');
    const { stdout } = await product.wa('status');
    expect(stdout).toMatch(/ modes +not away,/);
    expect(stdout).not.toContain('it waits for the phone');
    await tui.key('BSpace');
    await type(tui, 'I am back [[say: Welcome.]]');
    await tui.waitForScreen('✦ Welcome.');
  });

  test('a prompt at the terminal ends away, and shows the texts of the phone that came with it', async ({
    product,
    open,
  }) => {
    await product.wa('away', 'on');
    const tui = await open();
    await product.say('From afar [[say: Both.]]');
    await type(tui, 'I am back');
    await tui.waitForScreen('welcome back, away is off');
    await tui.waitForScreen('From the phone: From afar');
    await tui.waitForScreen('✦ Both.');
    await type(tui, '/wa:back');
    await tui.waitForScreen('/wa:back');
    const { stdout } = await product.wa('status');
    expect(stdout).toMatch(/ modes +not away,/);
    expect(stdout).not.toContain('it waits for the phone');
  });
});
