// The message that shows a turn while it runs: typing first, then tools and time, never faster than the chat allows.

import { beforeEach, describe, expect, it } from 'vitest';
import type { Progress } from '../../../agent/phone/progress.ts';
import { privatePhone } from '../../helpers/private-phone.ts';
import { eachTurn } from './world.ts';

const { world, sent, texts, create, pass } = eachTurn((text) => text.replaceAll('hunter2', '[redacted]'));
let progress: Progress;
beforeEach(() => {
  progress = create();
});

describe('while a turn runs, the phone', () => {
  it('sees typing only, when the turn is short', async () => {
    progress.started();
    await pass(7_000);
    progress.ended(false);
    await pass(60_000);
    expect({ typed: world.typed, sent }).toEqual({ typed: 2, sent: [] });
  });

  it('sees one message edited in place, whose rev rises, and how it ended', async () => {
    progress.started();
    progress.tool('read_file');
    await pass(8_000);
    progress.tool('run_shell_command');
    await pass(5_000);
    progress.ended(false);
    await pass(60_000);
    expect(new Set(sent.map((item) => item.slot)).size).toBe(1);
    expect(sent.map((item) => [item.class, item.rev])).toEqual([
      ['progress', 1],
      ['progress', 2],
      ['progress', 3],
    ]);
    expect(texts()).toEqual([
      'Working, 8 s\n1 tool call: read_file',
      'Working, 13 s\n2 tool calls: read_file, run_shell_command',
      'Done after 13 s, 2 tool calls.',
    ]);
  });

  it('sees the same message go on when the turn is given another message of the phone', async () => {
    progress.started();
    await pass(8_000);
    progress.tool('read_file');
    progress.started();
    await pass(5_000);
    progress.ended(false);
    expect(new Set(sent.map((item) => item.slot)).size).toBe(1);
    expect(texts()).toEqual(['Working, 8 s', 'Working, 13 s\n1 tool call: read_file', 'Done after 13 s, 1 tool call.']);
  });

  it('sees what runs while it runs, without secrets and on one line, and that it has run', async () => {
    progress.started();
    progress.running(`Running: login hunter2 && ${'x'.repeat(200)}`);
    await pass(8_000);
    progress.tool('command');
    await pass(5_000);
    expect(texts()).toEqual([
      `Working, 8 s\nRunning: login [redacted] && ${'x'.repeat(91)}…`,
      'Working, 13 s\n1 tool call: command',
    ]);
  });

  it('is not told that the agent works while the turn waits for the owner', async () => {
    progress.started();
    world.waits = 'question';
    await pass(60_000);
    expect({ typed: world.typed, sent }).toEqual({ typed: 1, sent: [] });
    world.waits = undefined;
    await pass(1_000);
    world.waits = 'question';
    await pass(60_000);
    world.waits = undefined;
    await pass(5_000);
    expect(texts()).toEqual([
      'Working, 1 min 1 s',
      'Waits for your answer to the question here.',
      'Working, 2 min 2 s',
    ]);
  });

  it('never gets more edits than a group allows, however many tools run', async () => {
    progress.started();
    for (let second = 0; second < 120; second += 1) {
      for (let call = 0; call < 10; call += 1) progress.tool('grep');
      await pass(1_000);
    }
    expect(sent.length).toBeLessThanOrEqual(20 * 2);
    expect(texts().at(-1)).toContain('tool calls: … grep, grep, grep, grep');
  });

  it('sees the clock go on twice a minute when nothing happens', async () => {
    progress.started();
    await pass(8_000 + 60_000);
    expect(texts()).toEqual(['Working, 8 s', 'Working, 38 s', 'Working, 1 min 8 s']);
  });

  it('sees neither typing nor progress when it is muted', async () => {
    world.muted = true;
    progress.started();
    await pass(60_000);
    progress.ended(false);
    expect({ typed: world.typed, sent }).toEqual({ typed: 0, sent: [] });
  });
});

describe('on a phone that edits nothing', () => {
  it('there is one message of a turn, and no second one', async () => {
    world.phone = { ...privatePhone, edit: false };
    progress.started();
    await pass(9_000);
    progress.tool('run_shell_command');
    await pass(120_000);
    expect(texts()).toHaveLength(1);
  });
});
