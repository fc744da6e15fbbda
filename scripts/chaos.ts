// `npm run chaos -- --seconds N --seed S [--only NAME] [--strand NAME] [--json]`: breaks every part of the built program while messages flow both
// ways, then counts them by identity. Progress goes to stderr; the last line of stdout is the count. Exit 1 = lost, doubled, a reaction
// that promised more than had happened, or a tool that ran without the owner's yes.

import { parseArgs } from 'node:util';
import { runChaos, type Strand, strands } from './chaos/run.ts';
import { openLab } from './lab/lab.ts';

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      only: { type: 'string' },
      strand: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const seconds = wholeNumber('seconds', values.seconds);
  const seed = wholeNumber('seed', values.seed);
  const strand = strandOf(values.strand);
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const write = (line: string) => process.stdout.write(`${line}\n`);
  const ending = new AbortController();
  process.once('SIGINT', () => ending.abort());
  process.once('SIGTERM', () => ending.abort());
  say(`seed ${seed}`);
  const lab = await openLab(say);
  try {
    const result = await runChaos(lab, { seconds, seed, signal: ending.signal, only: values.only, strand });
    const { verdict, approvals, phone } = result;
    for (const story of result.stories) write(story);
    for (const what of result.skipped) write(`skipped: ${what}`);
    // Where nothing is ever allowed, nothing runs without a yes either.
    const isDead = approvals.asked > liveAfter && approvals.approved === 0;
    if (isDead) write('no approved call ever ran');
    const unasked = approvals.ranWithoutYes.length + approvals.runTwice.length;
    const doubled = verdict.duplicatedInbox.length + verdict.duplicatedPhoneUncut.length;
    const isBad = verdict.lost.length + doubled + phone.tooGood.length + unasked > 0 || isDead;
    if (isBad) write(`failed with --seed ${seed}`);
    const { lost, duplicatedInbox, duplicatedPhoneUncut, ...counts } = verdict;
    const line = {
      cycles: result.cycles,
      faults: result.faults,
      ...counts,
      lost: lost.length,
      duplicatedInbox: duplicatedInbox.length,
      duplicatedPhoneUncut: duplicatedPhoneUncut.length,
      approvals: {
        ...approvals,
        ranWithoutYes: approvals.ranWithoutYes.length,
        runTwice: approvals.runTwice.length,
      },
      phone: { checked: phone.checked, tooGood: phone.tooGood.length, late: phone.late.length },
      seed,
    };
    if (values.json) write(JSON.stringify(line));
    else
      for (const [name, value] of Object.entries(line))
        write(`${name.padEnd(22)}${typeof value === 'object' ? JSON.stringify(value) : value}`);
    process.exitCode = isBad ? 1 : 0;
  } finally {
    await lab.close();
  }
}

/** So many questions, and one approved call must have run. */
const liveAfter = 10;

function strandOf(name: string | undefined): Strand | undefined {
  const strand = strands.find((each) => each === name);
  if (name === undefined || strand !== undefined) return strand;
  throw new Error(`--strand must be one of ${strands.join(', ')}, found "${name}"`);
}

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Error(`--${name} must be a whole number, found "${text}"`);
}

main().catch((error: unknown) => {
  process.stderr.write(`chaos: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
