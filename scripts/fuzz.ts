// `npm run fuzz -- --runs N [--seed S] [--only webhook|hook]`: N webhooks through the built Worker, N/10 hook inputs through the
// built launcher with a daemon and without one. Prints one JSON summary as its last line; exit code 1 = something was wrong.

import { parseArgs } from 'node:util';
import { fuzzHooks } from '../test/fuzz/hooks.ts';
import { fuzzWebhooks, type WebhookResult } from '../test/fuzz/webhooks.ts';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '5000' }, seed: { type: 'string' }, only: { type: 'string' } },
});
const runs = Number(values.runs);
const seed = values.seed === undefined ? Date.now() % 1_000_000_000 : Number(values.seed);
const parts = ['webhook', 'hook'];
if (
  !Number.isSafeInteger(runs) ||
  runs < 1 ||
  !Number.isSafeInteger(seed) ||
  (values.only && !parts.includes(values.only))
) {
  process.stderr.write('usage: npm run fuzz -- --runs N [--seed S] [--only webhook|hook]\n');
  process.exit(2);
}

/** What workerd takes before V8 collects anything, whatever the Worker does: below it a run is too short to tell. */
const quietMb = 512;

function isFlat(memory: WebhookResult['memoryMb']): boolean {
  return memory === null || memory.lastQuarter <= Math.max(quietMb, memory.firstQuarter * 1.25);
}

const say = (line: string) => process.stdout.write(`${line}\n`);
const startedAt = performance.now();
const does = (part: string) => values.only === undefined || values.only === part;

say(`fuzzing with seed ${seed}`);
const webhook = does('webhook') ? await fuzzWebhooks(runs, seed) : null;
if (webhook) say(`webhooks: ${JSON.stringify(webhook)}`);
const hookRuns = Math.ceil(runs / 10);
const withDaemon = does('hook') ? await fuzzHooks(Math.ceil(hookRuns / 2), seed, { daemon: true }) : null;
if (withDaemon) say(`hooks with a daemon: ${JSON.stringify(withDaemon)}`);
const alone = does('hook') ? await fuzzHooks(Math.floor(hookRuns / 2), seed + hookRuns, { daemon: false }) : null;
if (alone) say(`hooks without one: ${JSON.stringify(alone)}`);

const daemonLived = withDaemon === null || withDaemon.daemonExit === 0;
const hookFailures = (withDaemon?.wrong.length ?? 0) + (alone?.wrong.length ?? 0);
const webhookFailures = webhook?.wrong.length ?? 0;
const ok = webhookFailures === 0 && hookFailures === 0 && daemonLived && isFlat(webhook?.memoryMb ?? null);
say(
  JSON.stringify({
    ok,
    seed,
    seconds: Math.round((performance.now() - startedAt) / 1_000),
    webhooks: webhook?.runs ?? 0,
    statuses: webhook?.statuses ?? {},
    webhookFailures,
    memoryMb: webhook?.memoryMb ? { ...webhook.memoryMb, samples: undefined } : null,
    hooks: (withDaemon?.runs ?? 0) + (alone?.runs ?? 0),
    hookFailures,
    daemonLived,
  }),
);
process.exitCode = ok ? 0 : 1;
