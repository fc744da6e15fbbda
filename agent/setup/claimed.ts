// After a temporary account was claimed: the relay may have another address. Daemon and webhook move there; the relay itself points the
// webhook to the host on which it is asked, so no token of the bot is needed.

import { WaError } from '../../protocol/errors.ts';
import { createRelayClient } from '../relay/client.ts';
import { changeConfig, readConfigFile } from './config-file.ts';
import { helloInputs } from './hello.ts';
import type { Question } from './prompter.ts';
import { inputsOf, relayUrl } from './relay.ts';
import { webhookInputs } from './webhook.ts';
import type { Machine, SetupWorld } from './world.ts';

/** `given` = the address that the person pasted. Errors: `bad_arguments`, `needs_input`, and those of the relay. */
export async function moveToClaimed(world: SetupWorld, machine: Machine, given: string | undefined): Promise<void> {
  const { prompter, state, save } = world;
  const { relay } = state;
  if (relay?.kind !== 'temporary') {
    throw new WaError('bad_arguments', 'setup has made no temporary account that could be claimed', {
      hint: '`wa-sync status` shows the relay; `wa-sync setup relay` makes another one.',
    });
  }
  const { relay: known } = await readConfigFile(machine.configFile);
  const token = (known as { token?: unknown } | undefined)?.token;
  if (typeof token !== 'string') {
    throw new WaError('not_configured', `${machine.configFile} has no relay yet`, {
      hint: 'Run `wa-sync setup` first.',
    });
  }
  const url = await present(given ?? relay.url, token, world, given !== undefined);
  const isMoved = await changeConfig(machine.configFile, (content) => ({ ...content, relay: { url, token } }));
  state.relay = { kind: 'account', url, accountId: relay.accountId, script: relay.script };
  const wasAnswered = state.done?.hello !== undefined;
  state.done = {
    relay: inputsOf(state),
    webhook: webhookInputs(state),
    ...(wasAnswered ? { hello: helloInputs(state) } : {}),
  };
  await save();
  if (isMoved) await prompter.progress('Starting the daemon', (update) => machine.startDaemon(update));
  prompter.done('claimed', `the relay answers at ${url}, and the webhook is set there`);
}

/** The address at which our relay answers. */
async function present(first: string, token: string, { prompter }: SetupWorld, isGiven: boolean): Promise<string> {
  const move = async (address: string) => {
    const url = relayUrl(address);
    const client = createRelayClient({ url, token });
    try {
      await client.rehome({ secret: 'current' });
      return url;
    } finally {
      await client.close();
    }
  };
  try {
    return await move(first);
  } catch (cause) {
    if (isGiven || !(cause instanceof WaError)) throw cause;
    prompter.say(`The relay does not answer at ${first} any more (${cause.code}): claiming has moved it.`);
  }
  const question: Question = {
    need: 'relayUrl',
    kind: 'text',
    ask: 'Its new address, as the dashboard of Cloudflare shows it (Workers, wa-sync, Visit)',
    how: '--claimed URL',
  };
  return prompter.ask(question, move);
}
