// `wa-sync setup`: reads flags and environment, chooses how to ask, runs the steps. What a step does is in agent/setup/.

import { WaError } from '../../protocol/errors.ts';
import { loadConfig } from '../config.ts';
import { checkFile } from '../config-check.ts';
import { askDaemon } from '../local-client.ts';
import { createRelayClient } from '../relay/client.ts';
import { moveToClaimed } from '../setup/claimed.ts';
import { lineReader } from '../setup/prompt-plain.ts';
import type { Answers } from '../setup/prompter.ts';
import { relayUrl } from '../setup/relay.ts';
import { readSetup, writeSetup } from '../setup/state.ts';
import { runSteps, type SetupParts } from '../setup/steps.ts';
import type { SetupOptions, SetupWorld } from '../setup/world.ts';
import type { CommandContext } from './context.ts';
import { machineOf } from './setup-machine.ts';
import { letStdinGo, prompterFor } from './setup-prompter.ts';

export interface SetupFlags {
  local?: boolean;
  temporary?: boolean;
  cloudflare?: boolean;
  relay?: string;
  script?: string;
  chat?: string;
  group?: boolean;
  topic?: string;
  /** True = the address is asked for where it changed. */
  claimed?: string | true;
  takeWebhook?: boolean;
  acceptCloudflareTerms?: boolean;
  replaceRelay?: boolean;
  botTokenStdin?: boolean;
  /** Undefined = asked. */
  service?: boolean;
  wait: boolean;
  yes?: boolean;
  json?: boolean;
}

/** Errors: `bad_arguments`, `needs_input`, `cancelled`, `setup_version`, and those of the steps. */
export async function setupCommand(step: string | undefined, flags: SetupFlags, given: CommandContext): Promise<void> {
  const context = withAnswerApart(given);
  const config = context.loadConfig();
  const configDir = config.dirs.config;
  const state = await readSetup(configDir);
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.once('SIGINT', stop);
  const { env, platform, home, cwd, distDir } = context;
  try {
    const world: SetupWorld = {
      env,
      platform,
      home,
      cwd,
      distDir,
      options: optionsOf(flags),
      prompter: await prompterFor({ ...flags, stdinTaken: flags.botTokenStdin }, await answersOf(flags, env), context),
      state,
      save: () => writeSetup(configDir, state),
      clock: Date.now,
      signal: stopping.signal,
    };
    const parts = partsOf(context, world);
    if (flags.claimed) {
      return await moveToClaimed(world, parts.machine, flags.claimed === true ? undefined : flags.claimed);
    }
    await runSteps(world, parts, step);
    world.prompter.say('Setup is complete. `wa-sync status` shows how things stand.');
  } finally {
    process.removeListener('SIGINT', stop);
    letStdinGo();
  }
}

/** A token without an address is the answer to a question of setup, and no half of a relay in the environment. */
function withAnswerApart(context: CommandContext): CommandContext {
  const { env, platform, home } = context;
  if (env.WA_RELAY_URL || !env.WA_AGENT_TOKEN) return context;
  const load = () => {
    const config = loadConfig({ env: { ...env, WA_AGENT_TOKEN: '' }, platform, home });
    checkFile(config);
    return config;
  };
  return { ...context, loadConfig: load };
}

function partsOf(context: CommandContext, { state }: SetupWorld): SetupParts {
  const relayOfConfig = () => {
    const { relay } = context.loadConfig();
    const url = state.relay && 'url' in state.relay ? state.relay.url : undefined;
    return relay?.url === url && relay?.from === 'config' ? relay : undefined;
  };
  return {
    configDir: context.loadConfig().dirs.config,
    agentToken: () => relayOfConfig()?.token,
    machine: machineOf(context),
    hello: async (body) =>
      (await askDaemon(context.loadConfig().dirs, 'POST', '/hello', body)) as { answered: boolean },
    async rehome() {
      const relay = relayOfConfig();
      if (!relay) return false;
      const client = createRelayClient(relay);
      try {
        await client.rehome({ secret: 'current' });
        return true;
      } finally {
        await client.close();
      }
    },
  };
}

/** Errors: `bad_arguments` for flags that exclude each other. */
function optionsOf(flags: SetupFlags): SetupOptions {
  const named: NonNullable<SetupOptions['relay']>[] = [
    ...(flags.local ? [{ kind: 'local' as const }] : []),
    ...(flags.temporary ? [{ kind: 'temporary' as const }] : []),
    ...(flags.cloudflare ? [{ kind: 'account' as const }] : []),
    ...(flags.relay === undefined ? [] : [{ kind: 'url' as const, url: relayUrl(flags.relay) }]),
  ];
  if (named.length > 1) {
    throw new WaError('bad_arguments', 'only one of --local, --temporary, --cloudflare and --relay can be used', {
      hint: 'Choose where the relay runs: see `wa-sync setup --help`.',
    });
  }
  return {
    waits: flags.wait,
    takesWebhook: flags.takeWebhook === true,
    group: flags.group === true,
    relay: named[0],
    script: flags.script,
    service: flags.service !== false,
    topic: topicOf(flags.topic),
  };
}

function topicOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new WaError('bad_arguments', `--topic ${text} is not a number`, {
    hint: 'Write a message into the topic: the bot answers with its number.',
  });
}

async function answersOf(flags: SetupFlags, env: CommandContext['env']): Promise<Answers> {
  const piped = flags.botTokenStdin ? (await lineReader(process.stdin)())?.trim() : undefined;
  return {
    botToken: piped ?? env.TELEGRAM_BOT_TOKEN?.trim(),
    agentToken: env.WA_AGENT_TOKEN?.trim(),
    chat: flags.chat,
    account: env.CLOUDFLARE_ACCOUNT_ID?.trim(),
    acceptCloudflareTerms: flags.acceptCloudflareTerms ? 'yes' : undefined,
    replaceRelay: flags.replaceRelay ? 'yes' : undefined,
    service: flags.service === true ? 'yes' : undefined,
  };
}
