// What a session file of Claude Code says, beyond the contract of all drivers.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { claude } from '../../../../agent/drivers/claude/driver.ts';
import { nudgeLine } from '../../../../protocol/turn-events.ts';

const fixtures = join(import.meta.dirname, '..', '..', '..', 'fixtures', 'claude-2.1.329');
const file = (name: string) => readFileSync(join(fixtures, `session.${name}.jsonl`), 'utf8');
const linesOf = (name: string) => file(name).split('\n');

it('a compression by itself is told once by its line, and one that a person asked for by its event', () => {
  const boundary = linesOf('auto-compact').find((line) => line.includes('compact_boundary')) ?? '';
  const { uuid, compactMetadata } = JSON.parse(boundary);
  expect(compactMetadata.trigger).toBe('auto');
  expect(claude.readSession(file('auto-compact')).compressions).toEqual([uuid]);
  expect(linesOf('host-prompts').filter((line) => line.includes('compact_boundary'))).toHaveLength(1);
  expect(claude.readSession(file('host-prompts')).compressions).toEqual([]);
});

it('the summary that a compression leaves is no prompt, and the answer after it is the answer', () => {
  const { prompts, answer } = claude.readSession(file('auto-compact'));
  expect(prompts).toEqual(['go on with the work']);
  expect(answer).toBeUndefined();
  const whole = claude.readSession(file('host-prompts'));
  expect(whole.prompts.some((text) => text.startsWith('This session is being continued'))).toBe(false);
});

it('a line through the inbox socket begins a turn, whose answer stands after it', () => {
  const lines = linesOf('host-prompts');
  const at = lines.findIndex((line) => line.includes('"kind":"peer"'));
  const next = lines.findIndex((line, index) => index > at && line.includes('"type":"assistant"'));
  const upTo = (end: number) => claude.readSession(lines.slice(0, end).join('\n'));
  expect(upTo(at).answer).toContain('word23');
  expect([upTo(at + 1).answer, upTo(next + 1).answer]).toEqual([undefined, 'ok']);
  expect(upTo(at + 1).prompts.at(-1)).toContain(`Another Claude session sent a message:\n${nudgeLine}`);
});

it('the share of the window is that of the last request, for models whose window was measured', () => {
  const line = (model: string, usage: object) =>
    JSON.stringify({ type: 'assistant', message: { id: 'm', model, usage, content: [] } });
  const used = { input_tokens: 50_000, cache_creation_input_tokens: 100_000, cache_read_input_tokens: 350_000 };
  const share = (...lines: string[]) => claude.readSession(lines.join('\n')).contextShare;
  for (const model of ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5', 'claude-fable-5-2'])
    expect([model, share(line(model, { ...used, output_tokens: 7 }))]).toEqual([model, 0.5]);
  expect(share(line('claude-opus-5-5', used), line('claude-opus-5-5', { input_tokens: 20_000 }))).toBe(0.02);
  // It may be 200,000 or a million, and the file does not say which.
  expect(share(line('claude-sonnet-4-5', used))).toBeUndefined();
  expect(share(line('claude-opus-5-5', { input_tokens: 'many' }))).toBeUndefined();
});
