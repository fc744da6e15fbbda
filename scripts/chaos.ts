// `npm run chaos -- --seconds N --seed S [--only NAME] [--json]`: breaks every part of the built program while messages flow both
// ways, then counts them by identity. Progress goes to stderr; the last line of stdout is the count. Exit 1 = lost or doubled.

import { parseArgs } from 'node:util';
import { runChaos } from './chaos/run.ts';
import { openLab } from './lab/lab.ts';

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      only: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const seconds = wholeNumber('seconds', values.seconds);
  const seed = wholeNumber('seed', values.seed);
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const write = (line: string) => process.stdout.write(`${line}\n`);
  const ending = new AbortController();
  process.once('SIGINT', () => ending.abort());
  process.once('SIGTERM', () => ending.abort());
  say(`seed ${seed}`);
  const lab = await openLab(say);
  try {
    const result = await runChaos(lab, { seconds, seed, signal: ending.signal, only: values.only });
    const { verdict } = result;
    for (const story of result.stories) write(story);
    for (const what of result.skipped) write(`skipped: ${what}`);
    const isBad = verdict.lost.length + verdict.duplicatedInbox.length > 0;
    if (isBad) write(`failed with --seed ${seed}`);
    const { lost, duplicatedInbox, duplicatedPhoneUncut, ...counts } = verdict;
    const line = {
      cycles: result.cycles,
      faults: result.faults,
      ...counts,
      lost: lost.length,
      duplicatedInbox: duplicatedInbox.length,
      duplicatedPhoneUncut: duplicatedPhoneUncut.length,
      seed,
    };
    if (values.json) write(JSON.stringify(line));
    else for (const [name, value] of Object.entries(line)) write(`${name.padEnd(22)}${value}`);
    process.exitCode = isBad ? 1 : 0;
  } finally {
    await lab.close();
  }
}

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Error(`--${name} must be a whole number, found "${text}"`);
}

main().catch((error: unknown) => {
  process.stderr.write(`chaos: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
