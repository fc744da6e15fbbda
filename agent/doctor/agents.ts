// The coding agents themselves: where their programs are, and whether their versions are those that the drivers were tested with.

import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { oneLine } from '../../protocol/lines.ts';
import type { Config } from '../config.ts';
import { ofFootprints } from '../drivers/footprints.ts';
import { installable, workstationOf } from '../drivers/workstations.ts';
import type { Check } from './check.ts';
import { type Finding, fail, ok, skipped, warn } from './finding.ts';
import { isOlder } from './machine.ts';
import type { World } from './world.ts';

export const agentChecks: readonly Check[] = [{ name: 'agents', run: agents }];

const versionMs = 15_000;
const maxSaidChars = 160;

async function agents(world: World): Promise<Finding[]> {
  const known = installable();
  const programs = await Promise.all(known.map((agent) => programOfAgent(world, agent)));
  const found = await Promise.all([
    ...known.map((agent) => agentFindings(world, agent)),
    ...Object.entries(named(world)).map(([agent, program]) => namedFindings(agent, program)),
    ...Object.entries(commands(world)).map(([agent, { command }]) => commandFindings(world, agent, command[0] ?? '')),
  ]);
  const isUsed = (await world.hooks()).some(({ report }) => report.statuses.some(({ installed }) => installed));
  const isAny = isUsed || programs.some((each) => each !== undefined) || Object.keys(commands(world)).length > 0;
  const none = `no coding agent is on the PATH (${known.join(', ')})`;
  const step = 'Install one, or add the folder of its program to PATH.';
  return [...(isAny ? [] : [fail('agents', none, step)]), ...found.flat()];
}

/** What config.json has in place of a program: run by the daemon alone. */
function commands(world: World): Config['agentCommands'] {
  const known = world.config();
  return known.ok ? known.value.agentCommands : {};
}

async function commandFindings(world: World, agent: string, program: string): Promise<Finding[]> {
  const isThere = isAbsolute(program) ? await isRunnable(program) : (await onPath(world, program)) !== undefined;
  if (isThere) return [];
  const evidence = `config.json runs ${program} for ${agent}, which is no program on this machine`;
  return [warn('agents', evidence, `Correct "agents.${agent}.command" in config.json.`)];
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
  const { code, stdout, stderr } = await world.run(program, ['--version'], { timeoutMs: versionMs });
  const version = /\d{1,6}\.\d{1,6}\.\d{1,6}[\w.-]{0,32}/.exec(stdout)?.[0];
  if (code !== 0 || version === undefined) {
    const said = oneLine(stderr || stdout, maxSaidChars);
    const evidence = `${program} --version does not work (exit code ${code})${said ? `: ${said}` : ''}`;
    return [fail('agents', evidence, `Install ${agent} again.`)];
  }
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
  const [name = agent] = programsByAgent().get(agent) ?? [];
  const found = await onPath(world, name);
  if (found !== undefined) return found;
  const own = named(world)[agent];
  return own !== undefined && (await isRunnable(own)) ? own : undefined;
}

async function onPath({ env, platform }: World, name: string): Promise<string | undefined> {
  const endings = platform === 'win32' ? ['.cmd', '.exe', '.ps1'] : [''];
  for (const folder of (env.PATH ?? '').split(delimiter).filter(isAbsolute)) {
    for (const ending of endings) {
      const path = join(folder, `${name}${ending}`);
      if (await isRunnable(path)) return path;
    }
  }
  return undefined;
}
