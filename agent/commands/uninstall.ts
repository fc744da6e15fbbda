// `wa-sync uninstall`: takes back what setup did, part by part, and says what stays. A part that fails does not keep the others.

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, sep } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { mailboxFolder } from '../../protocol/files.ts';
import { removeBotFile } from '../dev/local-bot.ts';
import { installable, workstationOf } from '../drivers/workstations.ts';
import { noteDown } from '../fs/down.ts';
import { uninstallService } from '../service/service.ts';
import { serviceWorld } from '../service/world.ts';
import { openBot } from '../setup/bot.ts';
import { openCloudflare } from '../setup/cloudflare/client.ts';
import { deleteRelay } from '../setup/cloudflare/deploy.ts';
import { findLogin } from '../setup/cloudflare/login.ts';
import { changeConfig } from '../setup/config-file.ts';
import type { Prompter } from '../setup/prompter.ts';
import { readSetup, type SetupState, writeSetup } from '../setup/state.ts';
import { version } from '../version.ts';
import { endDaemon, livingOwner } from './background.ts';
import type { CommandContext } from './context.ts';
import { installDirs } from './hooks.ts';
import { withoutSecretsOf } from './setup-machine.ts';
import { letStdinGo, prompterFor } from './setup-prompter.ts';

export interface UninstallFlags {
  removeRelay?: boolean;
  removeWebhook?: boolean;
  purge?: boolean;
  yes?: boolean;
  json?: boolean;
}

interface Uninstall {
  context: CommandContext;
  prompter: Prompter;
  state: SetupState;
}

/** Errors: `needs_input`, `cancelled`, and the first error of a part, after the others are done. */
export async function uninstallCommand(flags: UninstallFlags, context: CommandContext): Promise<void> {
  const config = context.loadConfig();
  const { dirs } = config;
  const state = await readSetup(dirs.config);
  const yes = (flag: boolean | undefined) => (flag ? 'yes' : undefined);
  const answers = {
    removeWebhook: yes(flags.removeWebhook),
    removeRelay: yes(flags.removeRelay),
    purge: yes(flags.purge),
    botToken: context.env.TELEGRAM_BOT_TOKEN?.trim(),
    cloudflareToken: context.env.CLOUDFLARE_API_TOKEN?.trim(),
  };
  const all: Uninstall = { context, prompter: await prompterFor(flags, answers, context), state };
  const { prompter } = all;
  const failures: unknown[] = [];
  const part = async (work: () => Promise<void>) => {
    await work().catch((cause) => {
      if (cause instanceof WaError && ['cancelled', 'needs_input', 'bad_arguments'].includes(cause.code)) throw cause;
      failures.push(cause);
      prompter.say(cause instanceof WaError ? `${cause.message}${cause.hint ? `: ${cause.hint}` : ''}` : String(cause));
    });
  };

  const removed: string[] = [];
  await part(async () => void removed.push(...(await removeHooks(all))));
  await part(async () => {
    const places = await uninstallService(serviceWorld(withoutSecretsOf(context), version));
    removed.push(...places);
    prompter.done('service', places.length > 0 ? `removed ${places.join(', ')}` : 'was not installed');
  });
  await part(async () => {
    // A hook of an open session may start it again; where wa-sync was not, nothing is written.
    const isRunning = (await livingOwner(dirs.state)) !== undefined;
    if (isRunning || removed.length + failures.length > 0) await noteDown(dirs.state);
    const was = await endDaemon(dirs);
    prompter.done('daemon', was === undefined ? 'did not run' : 'ended');
  });
  await part(() => removeWebhook(all));
  await part(() => removeRelay(all, config.file));
  await part(() => purge(all));
  for (const line of leftovers(
    config.bindings.map(({ dir }) => dir),
    state,
  ))
    prompter.say(line);
  letStdinGo();
  if (failures.length > 0) throw failures[0];
}

/** The places that had some. */
async function removeHooks({ context, prompter }: Uninstall): Promise<string[]> {
  const removed: string[] = [];
  for (const agent of installable()) {
    const installer = workstationOf(agent)?.installer;
    if (installer) removed.push(...(await installer.uninstall(await installDirs(context, agent), undefined)));
  }
  prompter.done('hooks', removed.length > 0 ? `removed from ${removed.join(', ')}` : 'were not installed');
  return removed;
}

async function removeWebhook({ context, prompter, state }: Uninstall): Promise<void> {
  const { relay, bot } = state;
  if (!relay || relay.kind === 'local' || relay.kind === 'url') return;
  const answer = await prompter.ask({
    need: 'removeWebhook',
    kind: 'yes',
    ask: `Take the webhook away from @${bot?.username}? That needs the token of the bot`,
    how: '--remove-webhook',
    fallback: 'no',
  });
  if (answer === 'no') return;
  const secret = {
    need: 'botToken',
    kind: 'secret',
    ask: 'Paste the token of the bot (nothing is shown)',
    how: 'the variable TELEGRAM_BOT_TOKEN',
  } as const;
  await prompter.ask(secret, (token) => openBot(token, context.env)((api) => api.deleteWebhook()));
  delete state.done?.webhook;
  prompter.done('webhook', 'removed');
}

async function removeRelay({ context, prompter, state }: Uninstall, configFile: string): Promise<void> {
  const { relay } = state;
  if (relay?.kind !== 'account' && relay?.kind !== 'temporary') return;
  const answer = await prompter.ask({
    need: 'removeRelay',
    kind: 'yes',
    ask: `Delete the relay at ${relay.url}, with every message that waits in it?`,
    how: '--remove-relay',
    fallback: 'no',
  });
  if (answer === 'no') return;
  const { env } = context;
  const secret = {
    need: 'cloudflareToken',
    kind: 'secret',
    ask: 'Paste the API token of Cloudflare (nothing is shown)',
    how: 'the variable CLOUDFLARE_API_TOKEN',
  } as const;
  const login = (await findLogin({ env })) ?? (await prompter.ask(secret, (pasted) => findLogin({ env, pasted })));
  if (!login)
    throw new WaError('needs_input', 'there is no login at Cloudflare', { hint: 'Set CLOUDFLARE_API_TOKEN.' });
  const cloudflare = openCloudflare({ token: login.token, baseUrl: env.CLOUDFLARE_API_BASE_URL });
  try {
    await deleteRelay(cloudflare, { accountId: relay.accountId, script: relay.script });
  } finally {
    await cloudflare.close();
  }
  delete state.relay;
  delete state.done;
  await writeSetup(context.loadConfig().dirs.config, state);
  await changeConfig(configFile, ({ relay: _, ...rest }) => rest);
  prompter.done('relay', 'deleted');
}

async function purge({ context, prompter, state }: Uninstall): Promise<void> {
  const { dirs } = context.loadConfig();
  const all = [dirs.config, dirs.state, dirs.runtime, dirs.data, dirs.cache];
  const kept = all.filter((dir) => existsSync(dir));
  if (kept.length === 0) return;
  const answer = await prompter.ask({
    need: 'purge',
    kind: 'yes',
    ask: `Delete settings, journal and logs in ${[dirs.config, dirs.state].join(' and ')}? Answers that did not reach the phone are lost`,
    how: '--purge',
    fallback: 'no',
  });
  if (answer === 'no') {
    prompter.say(`Kept: ${kept.join(', ')}. \`wa-sync setup\` starts from there.`);
    return;
  }
  if (state.relay?.kind === 'local') await removeBotFile(dirs.config);
  // A folder that a variable names may hold other things.
  const own = all.filter(isOwn);
  const isInOwn = (dir: string) => own.some((each) => dir === each || dir.startsWith(each + sep));
  const foreign = all.filter((dir) => !isInOwn(dir));
  for (const dir of own) await rm(dir, { recursive: true, force: true });
  prompter.done('data', `deleted ${own.join(', ')}`);
  if (foreign.length > 0) prompter.say(`Left, because a variable names it: ${foreign.join(', ')}. Delete it yourself.`);
}

const isOwn = (dir: string) => basename(dir) === 'wa-sync';

function leftovers(folders: readonly string[], { bot, relay }: SetupState): string[] {
  return [
    ...(bot ? [`The bot @${bot.username} stays: @BotFather, /deletebot, removes it.`] : []),
    ...(relay?.kind === 'url' ? [`The relay at ${relay.url} was set up elsewhere and stays.`] : []),
    ...folders.map(
      (dir) =>
        `In ${dir} stay ${mailboxFolder}/wa_* (messages), three lines in .git/info/exclude, and refs/wa-sync/* when a sprint kept states of the work.`,
    ),
  ];
}
