// This machine: config.json, the project's binding, hooks of the coding agents, the daemon. Each part is left alone when it is as it
// should be.

import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { excludeFromGit, gitFolderAt } from '../fs/git.ts';
import { changeConfig, readConfigFile } from './config-file.ts';
import { bindingsIn, bound, placeOf, relayIn } from './places.ts';
import type { Machine, SetupWorld } from './world.ts';

/** Errors: `bad_config`, `not_bound`, `no_topics`, `file_unusable`, and those of the parts. */
export async function setUpMachine(world: SetupWorld, machine: Machine): Promise<void> {
  const { prompter, state, save } = world;
  const dir = await projectRoot(world.cwd);
  const agents = await machine.agents();
  const place = await placeOf(world, machine, dir);
  const isChanged = await changeConfig(machine.configFile, (content) => {
    const programs = withPrograms(content.agents as Record<string, unknown> | undefined, agents);
    return {
      ...content,
      relay: relayIn(content, state),
      bindings: bound(bindingsIn(content), place, state),
      ...(Object.keys(programs).length > 0 ? { agents: programs } : {}),
    };
  });
  delete state.secrets?.agentToken;
  await save();
  await excludeFromGit(dir).catch(() =>
    prompter.say(`.git/info/exclude of ${dir} cannot be written: the daemon keeps messages outside of git.`),
  );
  prompter.done('project', `${dir} (${isChanged ? 'bound' : 'was bound'} in ${machine.configFile})`);
  for (const { name, title, path } of agents) {
    const { place, isNew, notes } = await machine.installHooks(name);
    prompter.done('hooks', `${title} (${path}): ${isNew ? 'installed in' : 'already in'} ${place}`);
    if (isNew) for (const note of notes) prompter.say(note);
  }
  if (agents.length === 0)
    prompter.say('No coding agent that wa-sync knows is on the PATH: later, `wa-sync hooks install --agent NAME`.');
  await run(world, machine, isChanged);
}

/** `agents` of config.json with the programs that were found. A command of the user's own stays. */
export function withPrograms(
  own: Readonly<Record<string, unknown>> = {},
  found: readonly { name: string; path: string }[],
): Record<string, unknown> {
  const isOwn = (name: string) => typeof own[name] === 'object';
  return { ...own, ...Object.fromEntries(found.flatMap(({ name, path }) => (isOwn(name) ? [] : [[name, path]]))) };
}

async function run(world: SetupWorld, machine: Machine, isChanged: boolean): Promise<void> {
  const { prompter } = world;
  const bindings = bindingsIn(await readConfigFile(machine.configFile));
  const asService = await wantsService(world, machine);
  const isServed = await machine.isServed(bindings);
  if (asService) {
    const notes = await prompter.progress('Installing the service', () => machine.installService());
    prompter.done('service', 'starts with this computer: `wa-sync service status`');
    for (const note of notes) prompter.say(note);
  } else if (isChanged || !isServed) {
    await prompter.progress('Starting the daemon', (update) => machine.startDaemon(update));
    prompter.done('daemon', 'runs: `wa-sync status`');
  } else prompter.done('daemon', 'was running');
}

async function wantsService({ options, prompter }: SetupWorld, machine: Machine): Promise<boolean> {
  if (!options.service) return false;
  const service = await machine.service();
  if (!service || service.installed) return false;
  if (service.why !== undefined) {
    prompter.say(`The daemon does not start with this computer: ${service.why}`);
    return false;
  }
  const answer = await prompter.ask({
    need: 'service',
    kind: 'yes',
    ask: `Start wa-sync with this computer (${service.title})?`,
    how: '--service or --no-service',
    fallback: 'yes',
  });
  return answer === 'yes';
}

/** Whether nothing is left to do for the folder at hand. */
export async function isMachineDone({ state, cwd, options }: SetupWorld, machine: Machine): Promise<boolean> {
  const content = await readConfigFile(machine.configFile);
  const bindings = bindingsIn(content);
  const root = await projectRoot(cwd);
  const binding = bindings.find(({ dir }) => dir === root);
  const isBound = binding?.mailbox === state.chat?.id && (options.topic ?? binding?.project) === binding?.project;
  const isRelay = isDeepStrictEqual(content.relay, relayIn(content, state));
  return isBound && isRelay && state.secrets?.agentToken === undefined && (await machine.isServed(bindings));
}

/** The root of the git working tree above `cwd`, else `cwd` itself; its real path. */
export async function projectRoot(cwd: string): Promise<string> {
  const start = await realpath(cwd);
  for (let dir = start; ; dir = dirname(dir)) {
    if ((await gitFolderAt(dir)) !== undefined) return dir;
    if (dirname(dir) === dir) return start;
  }
}
