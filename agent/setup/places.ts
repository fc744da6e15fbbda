// Which place on the phone serves which folder: the chat itself for the first, a topic of its own for each further one. Setup makes the
// topic, named as the folder.

import { basename } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import type { Binding } from '../config.ts';
import { createRelayClient } from '../relay/client.ts';
import { type ConfigContent, changeConfig, readConfigFile } from './config-file.ts';
import type { SetupState } from './state.ts';
import type { Machine, SetupWorld } from './world.ts';

/** Of a topic, as the relay takes it. */
const nameChars = 128;

/** The place for a folder. Errors: `not_bound` for a topic that serves another folder, `no_topics`, and those of the relay. */
export async function placeOf(world: SetupWorld, machine: Machine, dir: string): Promise<Binding> {
  const { options, prompter, state } = world;
  const all = ours(bindingsIn(await readConfigFile(machine.configFile)), state);
  const mailbox = state.chat?.id ?? '';
  const servedAt = (project: number) =>
    all.find((each) => each.dir !== dir && each.mailbox === mailbox && each.project === project)?.dir;
  const wanted = options.topic ?? all.find((each) => each.dir === dir)?.project ?? 0;
  const other = servedAt(wanted);
  if (other === undefined) return { dir, mailbox, project: wanted };
  if (options.topic !== undefined) throw taken(wanted, other);
  const name = basename(dir).slice(0, nameChars) || 'project';
  const project = await newTopic(world, machine, { mailbox, name }).catch((cause) => {
    throw cause instanceof WaError && cause.code === 'no_topics' ? withoutTopics(other, cause) : cause;
  });
  const served = servedAt(project);
  if (served !== undefined) throw taken(project, served);
  prompter.done('topic', `"${name}" (number ${project}): the chat itself serves ${other}`);
  return { dir, mailbox, project };
}

/** The same topic again when setup was killed before the binding was written. Errors: `no_topics`, and those of the relay. */
async function newTopic(
  world: SetupWorld,
  machine: Machine,
  { mailbox, name }: { mailbox: string; name: string },
): Promise<number> {
  const client = createRelayClient(await runningRelay(world, machine));
  try {
    return (await client.makeTopic(mailbox, name)).project;
  } finally {
    await client.close();
  }
}

/** One on this machine runs with its daemon only. Errors: those of `startDaemon`, `not_configured`. */
async function runningRelay(
  { state, prompter }: SetupWorld,
  machine: Machine,
): Promise<{ url: string; token: string }> {
  const { configFile } = machine;
  if (state.relay?.kind !== 'local') {
    return relayIn(await readConfigFile(configFile), state) as { url: string; token: string };
  }
  const isChanged = await changeConfig(configFile, (content) => ({
    ...content,
    relay: relayIn(content, state),
    bindings: ours(bindingsIn(content), state),
  }));
  if (isChanged || !(await machine.isServed(bindingsIn(await readConfigFile(configFile))))) {
    await prompter.progress('Starting the daemon', (update) => machine.startDaemon(update));
  }
  const relay = machine.localRelay();
  if (relay) return relay;
  throw new WaError('not_configured', 'the relay of this machine has left no address', {
    hint: 'Run `wa-sync restart`, then `wa-sync setup` again.',
  });
}

function taken(project: number, dir: string): WaError {
  const where = project === 0 ? 'the chat' : `topic ${project}`;
  return new WaError('not_bound', `${where} already serves ${dir}, and one place on the phone serves one folder`, {
    hint: 'Run `wa-sync setup` without --topic: it makes a topic for this folder. Or write a message into another topic, whose answer names the number.',
  });
}

function withoutTopics(dir: string, cause: WaError): WaError {
  const message = `the chat already serves ${dir}, and one place on the phone serves one folder; ${cause.message}`;
  const hint = `To give this folder a topic: ${cause.hint}. Then run \`wa-sync setup\` here again, which makes the topic; \`--topic NUMBER\` takes one that exists.`;
  return new WaError('no_topics', message, { hint, cause });
}

/** `relay` of config.json. */
export function relayIn({ relay }: ConfigContent, { relay: wanted, secrets }: SetupState): unknown {
  if (wanted?.kind === 'local') return { local: true };
  const known = relay as { url?: string; token?: string } | undefined;
  return { url: wanted?.url, token: secrets?.agentToken ?? known?.token };
}

/** All bindings with that of one folder among them. */
export function bound(bindings: readonly Binding[], place: Binding, state: SetupState): Binding[] {
  const all = ours(bindings, state);
  return all.some(({ dir }) => dir === place.dir)
    ? all.map((each) => (each.dir === place.dir ? { ...each, ...place } : each))
    : [...all, place];
}

/** A relay that setup made serves one chat, so every folder belongs to it. */
function ours(bindings: readonly Binding[], { chat, relay }: SetupState): Binding[] {
  return bindings.map((each) => (relay?.kind === 'url' ? each : { ...each, mailbox: chat?.id ?? '' }));
}

export function bindingsIn({ bindings }: ConfigContent): Binding[] {
  if (!Array.isArray(bindings)) return [];
  return bindings
    .filter((each) => typeof each?.dir === 'string' && typeof each?.mailbox === 'string')
    .map((each) => ({ project: 0, ...each }));
}
