// The tokens of a turn, by a session file recorded from the CLI.

import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { meterTokens, readUsage } from '../../../../agent/drivers/session-file.ts';
import { temporaryFolder } from '../../../helpers/surroundings.ts';

const recorded = new URL('../../../fixtures/gemini-0.61.0/session.jsonl', import.meta.url);

let path: string;
let text: string;
beforeEach(async () => {
  path = join(await temporaryFolder(), 'session.jsonl');
  text = await readFile(recorded, 'utf8');
});

it('the tokens of a recorded session are those of its messages, each counted once', async () => {
  const totals = new Map<string, number>();
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const { id, tokens } = JSON.parse(line);
    if (tokens) totals.set(id, tokens.total);
  }
  expect(totals.size).toBeGreaterThan(1);
  await writeFile(path, '');
  const taken = await meterTokens({ agent: 'gemini', path });
  await appendFile(path, text);
  expect(await taken()).toBe([...totals.values()].reduce((a, b) => a + b, 0));
});

it('a turn is charged with the tokens written during the turn, also over several reads, and with no earlier tokens', async () => {
  const line = (id: string, total: number) => `${JSON.stringify({ id, type: 'gemini', tokens: { total } })}\n`;
  await writeFile(path, `${text}{"id":"begun before","tok`);
  const taken = await meterTokens({ agent: 'gemini', path });
  expect(await taken()).toBe(0);
  await appendFile(path, `ens":{"total":7}}\n${line('a', 5)}`);
  expect(await taken()).toBe(5);
  await appendFile(path, line('a', 8) + line('b', 20).slice(0, -5));
  expect(await taken()).toBe(8);
  await appendFile(path, line('b', 20).slice(-5));
  expect(await taken()).toBe(28);
});

it('the usage of a session names its model, all of its tokens and the share of the window that the last request filled', async () => {
  await writeFile(path, text);
  const taken = await readUsage({ agent: 'gemini', path });
  await writeFile(path, '');
  const meter = await meterTokens({ agent: 'gemini', path });
  await appendFile(path, text);
  expect(taken).toEqual({ model: 'gemini-2.5-flash', tokens: await meter(), contextShare: 1139 / 1_048_576 });
});
