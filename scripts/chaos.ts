// `npm run chaos -- --seconds N --seed S [--only NAME] [--strand NAME,NAME] [--json]`: breaks every part of the built program while messages flow both
// ways, then counts them by identity. Progress goes to stderr; the last line of stdout is the count. Exit 1 = lost, doubled, a reaction
// that promised more than had happened, or a tool that ran without the owner's yes.

import { parseArgs } from 'node:util';
import { type Strand, strands } from './chaos/fault.ts';
import { isUnanswered } from './chaos/owned/verdict.ts';
import { runChaos } from './chaos/run.ts';
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
  const acting = strandsOf(values.strand);
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const write = (line: string) => process.stdout.write(`${line}\n`);
  const ending = new AbortController();
  process.once('SIGINT', () => ending.abort());
  process.once('SIGTERM', () => ending.abort());
  say(`seed ${seed}`);
  const lab = await openLab(say);
  try {
    const result = await runChaos(lab, { seconds, seed, signal: ending.signal, only: values.only, strands: acting });
    const { verdict, approvals, phone, owned } = result;
    for (const story of result.stories) write(story);
    for (const what of result.skipped) write(`skipped: ${what}`);
    // Where nothing is ever allowed, nothing runs without a yes either.
    const dead = [approvals, owned.approvals].filter(({ asked, approved }) => asked > liveAfter && approved === 0);
    if (dead.length > 0) write('no approved call ever ran');
    const wrong = [
      ...[verdict.lost, verdict.duplicatedInbox, verdict.duplicatedPhoneUncut, phone.tooGood],
      ...[approvals.ranWithoutYes, approvals.runTwice, owned.approvals.ranWithoutYes, owned.approvals.runTwice],
      ...[owned.lost, owned.doubled, owned.doubledOnPhone, owned.childLeft, owned.phone.tooGood],
    ];
    const isUnheard = isUnanswered(owned);
    if (isUnheard) write('no message to an owned session was ever answered');
    const isBad = dead.length > 0 || isUnheard || wrong.some((each) => each.length > 0);
    if (isBad) write(`failed with --seed ${seed}`);
    const { stories: _, ...ownedCounts } = owned;
    const line = {
      cycles: result.cycles,
      faults: result.faults,
      ...counted(verdict),
      approvals: counted(approvals),
      phone: counted(phone),
      owned: counted(ownedCounts),
      did: result.did,
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

/** With the length of each list in its place. */
function counted(verdict: object): Record<string, unknown> {
  const count = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.length;
    return typeof value === 'object' && value !== null ? counted(value) : value;
  };
  return Object.fromEntries(Object.entries(verdict).map(([name, value]) => [name, count(value)]));
}

function strandsOf(names: string | undefined): readonly Strand[] {
  if (names === undefined) return strands;
  return names.split(',').map((name) => {
    const strand = strands.find((each) => each === name);
    if (strand !== undefined) return strand;
    throw new Error(`--strand must be of ${strands.join(', ')}, found "${name}"`);
  });
}

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Error(`--${name} must be a whole number, found "${text}"`);
}

main().catch((error: unknown) => {
  process.stderr.write(`chaos: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
