// What the daemon needs for the verdict on a shell command: 1,000 made-up ones of ordinary days, judged as at the gate, with a look at
// where each path leads.

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { knownPlaces } from '../../../agent/approvals/danger/surroundings.ts';
import { judgeNow } from '../../../agent/approvals/policy/judge-now.ts';
import { readPolicies } from '../../../agent/approvals/policy/policy.ts';
import { createRedactor } from '../../../agent/format/redact.ts';
import { jobsWith } from '../../../agent/heavy/jobs.ts';
import { directories } from '../../../agent/paths.ts';
import { ordinaryCommands } from '../../../test/agent/approvals/ordinary-commands.ts';
import type { Part } from '../result.ts';
import { spread } from '../stats.ts';

const commandCount = 1_000;

export const gate: Part = {
  name: 'gate',
  async run() {
    const home = await mkdtemp(join(tmpdir(), 'wa-bench-gate-'));
    const cwd = join(home, 'shop');
    await mkdir(join(cwd, 'src'), { recursive: true });
    const redact = createRedactor({
      own: [],
      kinds: { secrets: true, cards: false, iban: false, ssn: false },
      patterns: [],
    });
    const options = {
      policies: () => readPolicies({ user: join(home, 'policy.json'), project: join(cwd, 'wa_policy.json') }),
      fixed: knownPlaces(directories({ env: {}, platform: 'linux', home }), home),
      judge: jobsWith(redact).judged,
    };
    const took: number[] = [];
    for (const command of history()) {
      const startedAt = performance.now();
      await judgeNow(
        { agent: 'gemini', tool: 'run_shell_command', server: undefined, input: { command } },
        cwd,
        'risky',
        options,
      );
      took.push(performance.now() - startedAt);
    }
    await rm(home, { recursive: true });
    return { gate: { verdictP95Ms: spread(took).p95Ms } };
  },
};

/** Each command once by itself, then two and three in a line. */
function history(): string[] {
  const single = Object.values(ordinaryCommands)
    .flat()
    .filter((command) => !command.includes('\n'));
  const at = (index: number) => single[index % single.length] as string;
  return Array.from({ length: commandCount }, (_, index) => {
    if (index < single.length) return at(index);
    return index % 2 === 0 ? `${at(index)} && ${at(index * 7)}` : `cd src; ${at(index)}; ${at(index * 5)}`;
  });
}
