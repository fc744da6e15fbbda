// The hook canary: runs an installed hook command as the coding agent runs it, with an event that changes nothing, and asks the daemon
// whether the call arrived. Only while a daemon runs, because a hook that finds none starts one.

import { parse } from 'node:path';
import { randomHex } from '../crypto.ts';
import type { Canary } from '../drivers/workstation.ts';
import type { Check } from './check.ts';
import { type Finding, fail, ok, skipped } from './finding.ts';
import type { Ran, World } from './world.ts';

export const canaryChecks: readonly Check[] = [{ name: 'canary', run: canary }];

const hookMs = 15_000;

async function canary(world: World): Promise<Finding[]> {
  const daemon = await world.daemon();
  if (!daemon.ok) return [skipped('canary', 'no daemon answers, so no hook call can arrive')];
  const found = await Promise.all(
    (await world.hooks()).map(({ agent, report }) =>
      report.canary
        ? tryHook(world, agent, report.canary)
        : [skipped('canary', `${agent} has no hook for these directories`)],
    ),
  );
  return found.flat();
}

async function tryHook(world: World, agent: string, { event, program, args, payload }: Canary): Promise<Finding[]> {
  const session = `wa-doctor-${randomHex(8)}`;
  // A folder that no project is bound to: the call must reach the daemon and do nothing there.
  const nowhere = parse(world.home).root;
  const ran = await world.run(program, args, { input: payload(session, nowhere), timeoutMs: hookMs });
  const wrong = oddAnswer(ran);
  const step = `Run \`wa-sync hooks install --agent ${agent}\`, and look for perl and node on the PATH of the agent.`;
  if (wrong !== undefined) return [fail('canary', `the hook for ${event} of ${agent} ${wrong}`, step)];
  const { hooks } = await world.askDaemon();
  const isSeen = hooks.some((each) => each.agent === agent && each.session === session);
  if (!isSeen) {
    const evidence = `the hook for ${event} of ${agent} ran, and the daemon did not see it`;
    return [fail('canary', evidence, `${step} The daemon and the hooks must name the same runtime directory.`)];
  }
  return [ok('canary', `a hook of ${agent} ran, and the daemon saw it`)];
}

const maxShownChars = 120;

/** What a host would not take for "nothing to say"; undefined = as it should be. */
function oddAnswer({ code, stdout, stderr }: Ran): string | undefined {
  if (code === null) return `did not end within ${hookMs / 1000} s`;
  const said = (stderr || stdout).trim().slice(0, maxShownChars);
  if (code !== 0) return `ends with exit code ${code}: ${said}`;
  if (stderr !== '') return `writes to stderr: ${said}`;
  try {
    const answer: unknown = JSON.parse(stdout);
    if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) return undefined;
  } catch {
    // Said below.
  }
  return `prints no JSON object: ${said || 'nothing'}`;
}
