// Runs all checks over one world, repairs what is safe when asked to, and looks again.

import { agentChecks } from './agents.ts';
import { canaryChecks } from './canary.ts';
import type { Check } from './check.ts';
import { configChecks } from './config.ts';
import { daemonChecks } from './daemon.ts';
import type { Finding, State } from './finding.ts';
import { hookChecks } from './hooks.ts';
import { machineChecks } from './machine.ts';
import { relayChecks } from './relay.ts';
import { secretChecks } from './secrets.ts';
import { serviceChecks } from './service.ts';
import { webhookChecks } from './webhook.ts';
import { asWaError, createWorld, type Surroundings, said } from './world.ts';

const checks: readonly Check[] = [
  ...machineChecks,
  ...configChecks,
  ...secretChecks,
  ...daemonChecks,
  ...serviceChecks,
  ...relayChecks,
  ...webhookChecks,
  ...hookChecks,
  ...agentChecks,
  ...canaryChecks,
];

const order: readonly State[] = ['fail', 'warn', 'ok', 'skipped'];

/** Failures first. Never rejects: a check that fails is a finding. */
export async function examine(surroundings: Surroundings): Promise<Finding[]> {
  const world = createWorld(surroundings);
  const found = await Promise.all(
    checks.map(async ({ name, run }) => {
      try {
        return await run(world);
      } catch (cause) {
        const [evidence, repair] = said(asWaError(cause));
        return [{ check: name, state: 'fail' as const, evidence: `could not look: ${evidence}`, repair }];
      }
    }),
  );
  return found.flat().sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
}

export interface Repaired {
  check: string;
  /** What was done, or why it could not be. */
  done: string;
  failed: boolean;
}

/** Repairs, one after the other, what has a safe repair. Never rejects. */
export async function repair(findings: readonly Finding[]): Promise<Repaired[]> {
  const done: Repaired[] = [];
  for (const { check, fix } of findings) {
    if (!fix) continue;
    try {
      done.push({ check, done: await fix(), failed: false });
    } catch (cause) {
      done.push({ check, done: said(asWaError(cause)).join('. '), failed: true });
    }
  }
  return done;
}
