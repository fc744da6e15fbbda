// `npm run bench [-- --json] [-- --only hook,inbound]`: measures the built program with every real part and says whether the
// targets are reached. Progress goes to stderr; with --json the last line of stdout is one object.

import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { openLab } from '../lab/lab.ts';
import { accept } from './parts/accept.ts';
import { backlog } from './parts/backlog.ts';
import { drain } from './parts/drain.ts';
import { gate } from './parts/gate.ts';
import { hook } from './parts/hook.ts';
import { idle } from './parts/idle.ts';
import { idleRelay } from './parts/idle-relay.ts';
import { inbound } from './parts/inbound.ts';
import { outbound } from './parts/outbound.ts';
import { owned } from './parts/owned.ts';
import { rows } from './parts/rows.ts';
import { sessions } from './parts/sessions.ts';
import { stream } from './parts/stream.ts';
import { turn } from './parts/turn.ts';
import { table } from './report.ts';
import type { BenchResult, Part } from './result.ts';

const parts: readonly Part[] = [
  hook,
  gate,
  turn,
  stream,
  inbound,
  outbound,
  accept,
  drain,
  backlog,
  idle,
  owned,
  sessions,
  rows,
  idleRelay,
];

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'boolean', default: false }, only: { type: 'string' } } });
  const chosen = choose(values.only);
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const lab = await openLab(say);
  const end = () => {
    void lab.close().finally(() => process.exit(1));
  };
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  const result: BenchResult = {};
  try {
    for (const part of chosen) {
      say(`${part.name} ...`);
      try {
        merge(result, await part.run(lab));
      } catch (error) {
        // The other numbers are worth having.
        say(`${part.name} failed: ${error instanceof Error ? error.message : String(error)}`);
        process.exitCode = 1;
      }
    }
  } finally {
    await lab.close();
  }
  const write = (line: string) => process.stdout.write(`${line}\n`);
  write(`${cpus().length} x ${cpus()[0]?.model.trim() ?? 'unknown processor'}, Node ${process.versions.node}`);
  for (const line of table(result)) write(line);
  if (values.json) write(JSON.stringify(result));
}

/** Two parts may fill one group. */
function merge(result: BenchResult, found: BenchResult): void {
  for (const [group, values] of Object.entries(found) as [keyof BenchResult, object][]) {
    Object.assign(result, { [group]: { ...result[group], ...values } });
  }
}

function choose(only: string | undefined): readonly Part[] {
  if (only === undefined) return parts;
  const names = only.split(',');
  const unknown = names.find((name) => !parts.some((part) => part.name === name));
  if (unknown !== undefined) {
    throw new Error(`--only ${unknown}: the parts are ${parts.map((part) => part.name).join(', ')}`);
  }
  return parts.filter((part) => names.includes(part.name));
}

main().catch((error: unknown) => {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
