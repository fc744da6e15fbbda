// `npm run fuzz -- --runs N [--hooks M] [--seed S] [--only PART]`: N webhooks through the built Worker, M (default N/10) hook inputs
// through the built launcher, half with a daemon and half without, and N/5 each of commands, Markdown texts and mailbox files, which
// have limits of time and memory. Prints one JSON summary as its last line; exit code 1 = something was wrong, and the seed brings it
// again; one command, text or file by its own seed with `--runs 1`.

import { parseArgs } from 'node:util';
import { fuzzCommands } from '../test/fuzz/commands.ts';
import type { CostResult } from '../test/fuzz/costs.ts';
import { fuzzHooks } from '../test/fuzz/hooks.ts';
import { fuzzMailboxes } from '../test/fuzz/mailboxes.ts';
import { fuzzMarkdown } from '../test/fuzz/markdown.ts';
import { judgeMemory } from '../test/fuzz/memory.ts';
import { fuzzWebhooks } from '../test/fuzz/webhooks.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '5000' },
    hooks: { type: 'string' },
    seed: { type: 'string' },
    only: { type: 'string' },
  },
});
const runs = Number(values.runs);
const hookRuns = values.hooks === undefined ? Math.ceil(runs / 10) : Number(values.hooks);
const seed = values.seed === undefined ? Date.now() % 1_000_000_000 : Number(values.seed);
const costed = { command: fuzzCommands, markdown: fuzzMarkdown, mailbox: fuzzMailboxes };
const parts = ['webhook', 'hook', ...Object.keys(costed)];
const isCount = (value: number) => Number.isSafeInteger(value) && value > 0;
if (
  !isCount(runs) ||
  !isCount(hookRuns) ||
  !Number.isSafeInteger(seed) ||
  (values.only && !parts.includes(values.only))
) {
  process.stderr.write(`usage: npm run fuzz -- --runs N [--hooks M] [--seed S] [--only ${parts.join('|')}]\n`);
  process.exit(2);
}

const say = (line: string) => process.stdout.write(`${line}\n`);
const startedAt = performance.now();
const does = (part: string) => values.only === undefined || values.only === part;

say(`fuzzing with seed ${seed}`);
const webhook = does('webhook') ? await fuzzWebhooks(runs, seed) : null;
const memory = webhook?.memory ? judgeMemory(webhook.memory, webhook.runs) : null;
if (webhook) {
  const { memory: samples, ...counts } = webhook;
  say(`webhooks: ${JSON.stringify(counts)}`);
  say(samples ? `MB of the relay:   ${samples.relay.map(Math.round).join(' ')}` : 'memory is not known here');
  if (samples) say(`MB of the control: ${samples.control.map(Math.round).join(' ')}`);
}
const withDaemon = does('hook') ? await fuzzHooks(Math.ceil(hookRuns / 2), seed, { daemon: true }) : null;
if (withDaemon) say(`hooks with a daemon: ${JSON.stringify(withDaemon)}`);
const alone = does('hook') ? await fuzzHooks(Math.floor(hookRuns / 2), seed + hookRuns, { daemon: false }) : null;
if (alone) say(`hooks without one: ${JSON.stringify(alone)}`);

const costs: Record<string, CostResult> = {};
for (const [part, fuzz] of Object.entries(costed)) {
  if (!does(part)) continue;
  const result = await fuzz(Math.ceil(runs / 5), seed);
  costs[part] = result;
  say(`${part}: ${JSON.stringify(result)}`);
}

const hooks = [withDaemon, alone].filter((result) => result !== null && result.runs > 0);
const violations = [
  (webhook?.wrong.length ?? 0) > 0 && 'a webhook was answered wrongly',
  memory?.isFlat === false && 'the memory of the relay grows more than that of the control',
  hooks.some((result) => result?.wrong.length) && 'a hook was answered wrongly',
  withDaemon !== null && withDaemon.daemonExit !== 0 && `the daemon ended with ${withDaemon.daemonExit}`,
  // A fuzz in which nothing is ever handed over has not touched what matters most.
  hooks.some((result) => result?.handed === 0) && 'no hook handed anything over',
  ...Object.entries(costs).map(
    ([part, { wrong }]) =>
      wrong.length > 0 && `${part}: ${wrong[0]?.what} (--only ${part} --runs 1 --seed ${wrong[0]?.seed})`,
  ),
].filter((violation) => violation !== false);
for (const violation of violations) say(`failed with --seed ${seed}: ${violation}`);
say(
  JSON.stringify({
    ok: violations.length === 0,
    seed,
    seconds: Math.round((performance.now() - startedAt) / 1_000),
    webhooks: webhook?.runs ?? 0,
    statuses: webhook?.statuses ?? {},
    webhookFailures: webhook?.wrong.length ?? 0,
    memory,
    hooks: hooks.reduce((sum, result) => sum + (result?.runs ?? 0), 0),
    hooksAnswered: hooks.reduce((sum, result) => sum + (result?.answered ?? 0), 0),
    messagesHanded: hooks.reduce((sum, result) => sum + (result?.handed ?? 0), 0),
    hookFailures: hooks.reduce((sum, result) => sum + (result?.wrong.length ?? 0), 0),
    ...Object.fromEntries(
      Object.entries(costs).map(([part, { wrong, ...counts }]) => [part, { ...counts, failures: wrong.length }]),
    ),
  }),
);
process.exitCode = violations.length === 0 ? 0 : 1;
