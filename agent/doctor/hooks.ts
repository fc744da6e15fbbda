// The hooks in the coding agents: installed once, of this version, for these directories, in a shape that the host runs. What a host
// makes of its settings is known by its driver.

import { stat } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { startRecordName } from '../../protocol/hook.ts';
import type { HookFault, HookReport, HookScope, HookStatus } from '../drivers/workstation.ts';
import { workstationOf } from '../drivers/workstations.ts';
import { readLinked } from '../fs/raw-file.ts';
import { withoutSecrets } from '../process.ts';
import { programOfAgent } from './agents.ts';
import type { Check } from './check.ts';
import { type Finding, fail, ok, skipped, warn } from './finding.ts';
import type { World } from './world.ts';

export const hookChecks: readonly Check[] = [
  { name: 'hooks', run: hooks },
  { name: 'start-record', run: startRecords },
];

async function hooks(world: World): Promise<Finding[]> {
  const all = await world.hooks();
  const isUsed = all.some(({ report }) => report.statuses.some(({ installed }) => installed));
  const found = await Promise.all(
    all.map(async ({ agent, report }) => {
      const installed = report.statuses.filter((status) => status.installed);
      if (installed.length === 0 && report.statuses.every(({ problem }) => problem === undefined)) {
        // The check of the agents says so.
        if ((await programOfAgent(world, agent)) === undefined) return [];
        // Whoever has several agents need not use each of them from the phone.
        if (isUsed)
          return [skipped('hooks', `${agent} has no hooks; \`wa-sync hooks install --agent ${agent}\` adds them`)];
        const step = `Run \`wa-sync hooks install --agent ${agent}\`, then restart a session that is open.`;
        return [fail('hooks', `no hooks of wa-sync are installed in ${agent}`, step), ...faults(world, agent, report)];
      }
      const { says, faults: told } = await saidByHost(world, agent, report);
      const problems = [...statusFaults(world, agent, report.statuses), ...faults(world, agent, { faults: told })];
      const places = installed.map(({ version, place }) => `${version ?? 'unknown version'} in ${place}`);
      return problems.length > 0 ? problems : [ok('hooks', [`${agent}: ${places.join(', ')}`, ...says].join('; '))];
    }),
  );
  return found.flat();
}

/** The answer of the host's own program, where it has one, takes the place of what its files let guess. */
async function saidByHost(
  world: World,
  agent: string,
  { faults: known, question }: HookReport,
): Promise<{ faults: HookFault[]; says: string[] }> {
  const program = question && (await programOfAgent(world, agent));
  if (!question || program === undefined) return { faults: known, says: [] };
  const { args, input, isAnswer, judge, repair } = question;
  const env = withoutSecrets(world.env);
  const asked = await world.ask(program, args, { input, isAnswer, env, cwd: parse(world.home).root });
  const judged = 'line' in asked ? judge(asked.line) : undefined;
  if (judged) return { faults: [...known.filter(({ isGuess }) => !isGuess), ...judged.faults], says: [judged.says] };
  const why = 'why' in asked ? asked.why : 'did not understand the question';
  const what = `${agent} was asked which hooks it trusts (\`${agent} ${args.join(' ')}\`), and ${why}`;
  return { faults: [...known, { state: 'warn', what, repair }], says: [] };
}

function faults(world: World, agent: string, { faults: found }: Pick<HookReport, 'faults'>): Finding[] {
  return found.map(({ state, what, repair, reinstall }: HookFault) => {
    const make = state === 'fail' ? fail : warn;
    return make('hooks', what, repair, reinstall && reinstalled(world, agent, reinstall.scope, reinstall.projectDir));
  });
}

function statusFaults(world: World, agent: string, statuses: readonly HookStatus[]): Finding[] {
  const isServed = statuses.some(({ servesThese }) => servesThese);
  return statuses.flatMap((status) => {
    const { place, scope, problem, launcher, launcherExists, current, servesThese, installed } = status;
    if (problem !== undefined) return [fail('hooks', place, problem)];
    // Hooks of `wa-sync dev` beside those of the real daemon.
    if (!installed || (!servesThese && status.directories.length > 0 && isServed)) return [];
    const projectDir = scope === 'project' ? dirname(dirname(place)) : world.cwd;
    const step = `Run \`wa-sync hooks install --agent ${agent} --scope ${scope}\`.`;
    const again = reinstalled(world, agent, scope, projectDir);
    if (launcher !== undefined && !launcherExists)
      return [fail('hooks', `${place}: the launcher is missing (${launcher})`, step, again)];
    if (current) return [];
    if (servesThese || status.directories.length === 0)
      return [warn('hooks', `${place}: not what this version installs`, step, again)];
    return [fail('hooks', `${place}: the hooks serve other directories (${status.directories.join(', ')})`, step)];
  });
}

function reinstalled(world: World, agent: string, scope: HookScope, projectDir: string): () => Promise<string> {
  return async () => {
    const workstation = workstationOf(agent);
    const dirs = await world.installDirs(agent, { makes: true });
    const status = await workstation?.installer.install({ ...dirs, projectDir }, scope);
    return `installed the hooks of version ${status?.version} in ${status?.place}`;
  };
}

const maxRecordBytes = 64 * 1024;

/** With the record beside the launcher a hook starts the daemon. */
async function startRecords(world: World): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const { agent, report } of await world.hooks()) {
    const launchers = report.statuses.flatMap(({ launcher, servesThese }) => (launcher && servesThese ? launcher : []));
    for (const path of new Set(launchers.map((launcher) => join(dirname(launcher), startRecordName))))
      found.push(...(await startRecord(world, agent, path)));
  }
  return found.length > 0 ? found : [ok('start-record', 'hooks can start the daemon')];
}

async function startRecord(world: World, agent: string, path: string): Promise<Finding[]> {
  const step = `Run \`wa-sync hooks install --agent ${agent}\` with the Node and the package that stay.`;
  const file = await readLinked(path, maxRecordBytes).catch(() => undefined);
  let record: { node?: unknown; program?: unknown };
  try {
    record = JSON.parse(file?.bytes.toString('utf8') ?? '');
  } catch {
    return [warn('start-record', `${path} is missing or damaged, so hooks start no daemon`, step)];
  }
  const missing = await Promise.all(
    [String(record.node), String(record.program)].map(async (each) => ((await exists(each)) ? [] : [each])),
  );
  const [gone] = missing.flat();
  if (gone !== undefined) {
    const evidence = `${gone} no longer exists, so hooks start no daemon (an update of Node, or an emptied cache)`;
    return [fail('start-record', evidence, step, reinstalled(world, agent, 'user', world.cwd))];
  }
  if (/[\\/]_npx[\\/]/.test(String(record.program))) {
    const evidence = `hooks start the daemon from the npx cache (${record.program}), which npm empties`;
    return [warn('start-record', evidence, step, reinstalled(world, agent, 'user', world.cwd))];
  }
  return [];
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );
