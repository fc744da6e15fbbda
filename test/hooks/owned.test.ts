// Hooks of an agent that the daemon owns: they do nothing, and nobody else can make them do nothing.

import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dropOwnedMarks, markOwned } from '../../agent/owned-marks.ts';
import { type Bench, http, openBench, printed, run, runLauncher, shells } from './launcher-run.ts';

const fallback = join(import.meta.dirname, '..', '..', 'dist', 'wa-hook-fallback.cjs');
const gateLine = '{"decision":"deny","reason":"closed"}';
const gate = ['gemini', 'BeforeTool', '86400', 'gate'];
const events = [['gemini', 'BeforeAgent', '60', 'now'], gate, ['gemini', 'AfterAgent', '86400', 'hold']];
const stdin = '{"session_id":"s","cwd":"/"}';

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
  await bench.listen((socket) => socket.end(http('200 OK', '{"asked":true}')));
  await mkdir(join(bench.runtime, 'gate'));
  await writeFile(join(bench.runtime, 'gate', 'gemini-BeforeTool'), `${gateLine}\n`);
});
afterEach(() => bench.close());

const forged = [['1'], [''], ['../gate/gemini-BeforeTool'], ['0'.repeat(32)], ['0123456789abcdef']];

describe.each(shells)('the launcher under %s', (shell) => {
  it('answers {} for an owned agent, at gates too, and asks neither the daemon nor the fallback', async () => {
    await bench.addFallback('process.stdout.write(\'{"fallback":true}\')');
    const mark = await markOwned(bench.runtime);
    const before = await readdir(bench.runtime);
    for (const args of events)
      expect(await runLauncher(bench, { shell, args, env: mark.env, stdin: stdin.repeat(100_000) })).toEqual(
        printed('{}\n'),
      );
    expect(bench.requests).toEqual([]);
    expect(await readdir(bench.runtime)).toEqual(before);
    await mark.remove();
    expect(await runLauncher(bench, { shell, args: gate, env: mark.env })).toEqual(printed('{"asked":true}\n'));
  });

  it.each(forged)('asks as ever when somebody else sets the variable to "%s"', async (id) => {
    await markOwned(bench.runtime);
    const env = { WA_OWNED: id };
    expect(await runLauncher(bench, { shell, args: gate, env, stdin })).toEqual(printed('{"asked":true}\n'));
  });
});

describe('the fallback', () => {
  const ask = (env: Record<string, string>) =>
    run(
      process.execPath,
      [fallback, 'gemini', 'BeforeTool', '86400', '1', '0', bench.runtime, bench.dir, bench.dir],
      { PATH: process.env.PATH ?? '', ...env },
      'no json',
    );

  it('answers {} for an owned agent, also at a gate that is closed', async () => {
    const mark = await markOwned(bench.runtime);
    expect(await ask(mark.env)).toEqual(printed('{}\n'));
    await dropOwnedMarks(bench.runtime);
    expect(await ask(mark.env)).toEqual(printed(`${gateLine}\n`));
  });

  it.each(forged)('keeps the gate closed when somebody else sets the variable to "%s"', async (id) => {
    await markOwned(bench.runtime);
    expect(await ask({ WA_OWNED: id })).toEqual(printed(`${gateLine}\n`));
  });
});
