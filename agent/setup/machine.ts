// This machine: config.json, the project's binding, hooks of the coding agents, the daemon. Each part is left alone when it is as it
// should be.

import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import type { Binding } from '../config.ts';
import { excludeFromGit, gitFolderAt } from '../fs/git.ts';
import { type ConfigContent, changeConfig, readConfigFile } from './config-file.ts';
import type { SetupState } from './state.ts';
import type { SetupWorld } from './world.ts';

/** What the commands do for setup: hooks, daemon, service. */
export interface Machine {
  readonly configFile: string;
  /** The coding agents on the PATH. */
  agents(): Promise<readonly { name: string; title: string; path: string }[]>;
  /** False = they were installed like this already. Errors: those of the installer. */
  installHooks(agent: string): Promise<{ place: string; isNew: boolean; notes: readonly string[] }>;
  /** Whether a daemon serves these bindings with this version now. */
  isServed(bindings: readonly Binding[]): Promise<boolean>;
  /** Ends a running daemon, starts one and waits until it answers. Errors: `child_failed`, `daemon_busy`. */
  startDaemon(say: (line: string) => void): Promise<void>;
  /** Undefined = no service manager here. */
  service(): Promise<{ title: string; installed: boolean; why?: string | undefined } | undefined>;
  installService(): Promise<readonly string[]>;
}

/** Errors: `bad_config`, `not_bound`, `file_unusable`, and those of the parts. */
export async function setUpMachine(world: SetupWorld, machine: Machine): Promise<void> {
  const { prompter, state, save } = world;
  const dir = await projectRoot(world.cwd);
  const agents = await machine.agents();
  const isChanged = await changeConfig(machine.configFile, (content) => configured(content, { world, dir, agents }));
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
    prompter.say('No coding agent that wa-sync knows is on the PATH: later, `wa-sync hooks install`.');
  await run(world, machine, isChanged);
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
  return isBound && state.secrets?.agentToken === undefined && (await machine.isServed(bindings));
}

/** The root of the git working tree above `cwd`, else `cwd` itself; its real path. */
export async function projectRoot(cwd: string): Promise<string> {
  const start = await realpath(cwd);
  for (let dir = start; ; dir = dirname(dir)) {
    if ((await gitFolderAt(dir)) !== undefined) return dir;
    if (dirname(dir) === dir) return start;
  }
}

interface Wanted {
  world: SetupWorld;
  dir: string;
  agents: readonly { name: string; path: string }[];
}

function configured(content: ConfigContent, { world, dir, agents }: Wanted): ConfigContent {
  const { state, options } = world;
  const programs = {
    ...(content.agents as object),
    ...Object.fromEntries(agents.map(({ name, path }) => [name, path])),
  };
  return {
    ...content,
    relay: relayIn(content, state),
    bindings: bound(bindingsIn(content), { dir, topic: options.topic, state }),
    ...(Object.keys(programs).length > 0 ? { agents: programs } : {}),
  };
}

function relayIn({ relay }: ConfigContent, { relay: wanted, secrets }: SetupState): unknown {
  if (wanted?.kind === 'local') return { local: true };
  const url = wanted?.url;
  const known = relay as { url?: string; token?: string } | undefined;
  const token = secrets?.agentToken ?? known?.token;
  return { url, token };
}

/** A relay that setup made serves one chat, so every folder belongs to it. Errors: `not_bound` where the chat has no room for another. */
function bound(
  bindings: readonly Binding[],
  { dir, topic, state }: { dir: string; topic: number | undefined; state: SetupState },
): Binding[] {
  const mailbox = state.chat?.id ?? '';
  const moved = state.relay?.kind === 'url' ? [...bindings] : bindings.map((each) => ({ ...each, mailbox }));
  const own = moved.find((each) => each.dir === dir);
  const others = moved.filter((each) => each !== own);
  const project = topic ?? own?.project ?? 0;
  const taken = others.find((each) => each.mailbox === mailbox && each.project === project);
  if (!taken)
    return own
      ? moved.map((each) => (each === own ? { ...own, mailbox, project } : each))
      : [...moved, { dir, mailbox, project }];
  const where = project === 0 ? 'the chat' : `topic ${project}`;
  throw new WaError('not_bound', `${where} already serves ${taken.dir}, and one place on the phone serves one folder`, {
    hint: 'Make a topic for this folder: in a group with topics, or in the private chat where @BotFather has switched topics on. Write one message there, the bot answers with the number; then `wa-sync setup --topic NUMBER` here.',
  });
}

function bindingsIn({ bindings }: ConfigContent): Binding[] {
  if (!Array.isArray(bindings)) return [];
  return bindings
    .filter((each) => typeof each?.dir === 'string' && typeof each?.mailbox === 'string')
    .map((each) => ({ project: 0, ...each }));
}
