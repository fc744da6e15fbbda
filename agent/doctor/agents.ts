// The coding agents themselves: where their programs are, and whether their versions are those that the drivers were tested with.

import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { ofFootprints } from '../drivers/footprints.ts';
import { installable, workstationOf } from '../drivers/workstations.ts';
import type { Check } from './check.ts';
import { type Finding, fail, ok, skipped, warn } from './finding.ts';
import { isOlder } from './machine.ts';
import type { World } from './world.ts';

export const agentChecks: readonly Check[] = [{ name: 'agents', run: agents }];

const versionMs = 15_000;

async function agents(world: World): Promise<Finding[]> {
  const found = await Promise.all([
    ...installable().map((agent) => agentFindings(world, agent)),
    ...Object.entries(named(world)).map(([agent, program]) => namedFindings(agent, program)),
  ]);
  return found.flat();
}

/** The programs of config.json, which the service starts with its short PATH. */
function named(world: World): Readonly<Record<string, string>> {
  const known = world.config();
  return known.ok ? known.value.agents : {};
}

async function namedFindings(agent: string, program: string): Promise<Finding[]> {
  if (await isRunnable(program)) return [];
  const evidence = `config.json names ${program} for ${agent}, which is no program`;
  return [warn('agents', evidence, 'Find it anew with `wa-sync setup machine`, then `wa-sync service install`.')];
}

const isRunnable = (path: string) =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

async function agentFindings(world: World, agent: string): Promise<Finding[]> {
  const tested = workstationOf(agent)?.testedVersions ?? [];
  const program = await programOfAgent(world, agent);
  const isUsed = (await world.hooks()).some(
    (each) => each.agent === agent && each.report.statuses.some(({ installed }) => installed),
  );
  if (program === undefined) {
    if (!isUsed) return [skipped('agents', `${agent} is not on this machine`)];
    return [
      warn('agents', `${agent} has hooks, but its program is not on the PATH`, `Add the folder of ${agent} to PATH.`),
    ];
  }
  const { code, stdout } = await world.run(program, ['--version'], { timeoutMs: versionMs });
  const version = /\d{1,6}\.\d{1,6}\.\d{1,6}[\w.-]{0,32}/.exec(stdout)?.[0];
  if (code !== 0 || version === undefined)
    return [fail('agents', `${program} --version does not work (exit code ${code})`, `Install ${agent} again.`)];
  const newest = tested.at(-1) ?? version;
  if (tested.includes(version)) return [ok('agents', `${agent} ${version}, ${program}`)];
  const age = isOlder(version, tested[0] ?? version) ? 'older' : 'newer';
  const evidence = `${agent} ${version} is ${age} than the version that wa-sync was tested with (${newest})`;
  const step = `Try the hook check of this page; if something is odd, use ${agent} ${newest}.`;
  return [isPatchOf(version, tested) ? ok('agents', evidence) : warn('agents', evidence, step)];
}

/** Of a tested version, with another last number. */
function isPatchOf(version: string, tested: readonly string[]): boolean {
  const minor = (text: string) => text.split('.').slice(0, 2).join('.');
  return tested.some((each) => minor(each) === minor(version));
}

const programsByAgent = ofFootprints((all) => new Map(all.map(({ name, programs }) => [name, programs])));

/** Absolute path of the first program of the agent on the PATH, else of the one in config.json; undefined = none. */
export async function programOfAgent(world: World, agent: string): Promise<string | undefined> {
  const { env, platform } = world;
  const [name = agent] = programsByAgent().get(agent) ?? [];
  const endings = platform === 'win32' ? ['.cmd', '.exe', '.ps1'] : [''];
  for (const folder of (env.PATH ?? '').split(delimiter).filter(isAbsolute)) {
    for (const ending of endings) {
      const path = join(folder, `${name}${ending}`);
      if (await isRunnable(path)) return path;
    }
  }
  const own = named(world)[agent];
  return own !== undefined && (await isRunnable(own)) ? own : undefined;
}
