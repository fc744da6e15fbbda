import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createProgress, type Progress } from '../../../agent/phone/progress.ts';
import { typesetHere } from '../../../agent/relay/render.ts';
import type { Phone } from '../../../protocol/phone.ts';
import type { OutboxItem } from '../../../protocol/relay-api.ts';
import { privatePhone } from '../../helpers/private-phone.ts';

let sent: OutboxItem[];
let typed: number;
let muted: boolean;
let phone: Phone;
let waits: 'question' | 'dialog' | undefined;
let progress: Progress;

const redact = (text: string) => text.replaceAll('hunter2', '[redacted]');
const send = async (item: OutboxItem) => void sent.push(item);

beforeEach(() => {
  vi.useFakeTimers({ now: 1_790_000_000_000 });
  sent = [];
  typed = 0;
  muted = false;
  phone = privatePhone;
  waits = undefined;
  progress = createProgress({
    send,
    keep: send,
    keys: () => sent.map(({ key }) => key),
    offers: () => [],
    typesetter: typesetHere(redact, 4096),
    async typing() {
      typed += 1;
    },
    muted: () => muted,
    waitsFor: () => waits,
    redact,
    phone: () => phone,
    clock: Date.now,
    log: () => {},
  });
});
afterEach(() => vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const texts = () => sent.map((item) => item.parts[0]?.text);

describe('while a turn runs, the phone', () => {
  it('sees typing only, when the turn is short', async () => {
    progress.started();
    await pass(7_000);
    progress.ended(false);
    await pass(60_000);
    expect({ typed, sent }).toEqual({ typed: 2, sent: [] });
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
    waits = 'question';
    await pass(60_000);
    expect({ typed, sent }).toEqual({ typed: 1, sent: [] });
    waits = undefined;
    await pass(1_000);
    waits = 'question';
    await pass(60_000);
    waits = undefined;
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
    muted = true;
    progress.started();
    await pass(60_000);
    progress.ended(false);
    expect({ typed, sent }).toEqual({ typed: 0, sent: [] });
  });
});

describe('on a phone that edits nothing', () => {
  it('there is one message of a turn, and no second one', async () => {
    phone = { ...privatePhone, edit: false };
    progress.started();
    await pass(9_000);
    progress.tool('run_shell_command');
    await pass(120_000);
    expect(texts()).toHaveLength(1);
  });
});
