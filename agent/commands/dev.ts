// `wa-sync dev`: relay, daemon and phone on this machine in one command, until Ctrl+C.

import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { mailboxFolder } from '../../protocol/files.ts';
import { projectKey } from '../../protocol/ids.ts';
import { createGates } from '../approvals/gate-files.ts';
import { refuseServed } from '../daemon/serving.ts';
import { startEchoAgent, wantsTurn } from '../dev/echo-agent.ts';
import { type Stack, startStack } from '../dev/stack.ts';
import { startTelegramPoll, type TelegramPoll } from '../dev/telegram-poll.ts';
import { type DevTelegram, deliveryLines, readTelegram } from '../dev/telegram-settings.ts';
import { simOwnerId } from '../dev/telegram-sim/sim.ts';
import { devPlace, devVariables } from '../dev/variables.ts';
import { ofFootprints } from '../drivers/footprints.ts';
import { driverOf } from '../drivers/registry.ts';
import { workstationOf } from '../drivers/workstations.ts';
import { filesBelow, readBelow } from '../fs/below.ts';
import { changed } from '../fs/changed.ts';
import { excludeFile } from '../fs/git.ts';
import { acquireLock, type HeldLock } from '../fs/lock.ts';
import { stricterMode } from '../journal/approvals.ts';
import { fileLog } from '../log.ts';
import { locateMailbox } from '../mailbox/served.ts';
import { directories, hookDirectories, stateFiles } from '../paths.ts';
import { quoted, variablesText } from '../shell.ts';
import { version } from '../version.ts';
import type { CommandContext } from './context.ts';
import { existingFolder } from './folder.ts';
import { installDirs } from './hooks.ts';

export interface DevOptions {
  port: string | undefined;
  project: string;
  telegram: 'sim' | 'poll' | 'webhook';
  /** `none`, `echo`, or a coding agent whose hooks are installed. */
  agent: string;
  takeWebhook: boolean;
}

/** Errors: `bad_arguments`, `bad_config`, `daemon_running` when one serves this folder, `not_configured` and `bad_config` for poll and webhook without a bot that can work, and those of the parts. */
export async function devCommand(options: DevOptions, context: CommandContext): Promise<void> {
  const projectDir = await existingFolder(options.project);
  const port = readPort(options.port);
  const dirs = directories(context);
  const { baseDir, runtimeDir, lock: lockPath } = devPlace(dirs, projectDir);
  const own = context.loadConfig();
  const telegram = options.telegram === 'sim' ? undefined : readTelegram(context.env);
  const lock = await lockFolder(lockPath, { baseDir, runtimeDir });
  let installed: Installed | undefined;
  let poll: TelegramPoll | undefined;
  let stack: Stack | undefined;
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stopping.abort());
  try {
    // Before the hooks of the folder are changed.
    await refuseServed(dirs, (await locateMailbox(projectDir, undefined)).dir, projectDir);
    const variables = devVariables(baseDir, runtimeDir);
    installed = await installAgent(options.agent, context, projectDir, variables);
    if (installed) await closeGates(variables, telegram?.chatId ?? String(simOwnerId));
    stack = await context.progress.during('the relay starts', () =>
      startStack({
        isTerminal: options.agent !== 'echo',
        projectDir,
        baseDir,
        runtimeDir,
        cacheDir: dirs.cache,
        workerScript: join(context.distDir, 'worker.js'),
        platform: context.platform,
        home: context.home,
        own,
        ...(telegram ? { telegram } : {}),
        ...(port === undefined ? {} : telegram ? { relayPort: port } : { phonePort: port }),
        log: fileLog(stateFiles(variables.WA_STATE_DIR).log, Date.now),
        say: context.note,
      }),
    );
    if (telegram && options.telegram === 'poll') {
      const { takeWebhook } = options;
      poll = await startTelegramPoll({ ...telegram, webhook: stack.webhook, takeWebhook, say: context.note });
    }
    for (const line of banner(options, stack, projectDir, telegram)) context.out(line);
    if (installed) for (const line of agentLines(options.agent, projectDir, installed)) context.out(line);
    const echo =
      options.agent === 'echo'
        ? runEcho(context, stack, projectDir, join(baseDir, 'echo'), stopping.signal)
        : undefined;
    await untilOver(stack, poll, echo, stopping.signal);
  } finally {
    stopping.abort();
    await poll?.stop();
    await stack?.stop();
    await lock.release();
  }
  context.out('stopped; waiting messages are kept for the next `wa-sync dev` in this folder');
}

/** Taken before the first write: config, relay storage and socket belong to the process that holds the lock. */
async function lockFolder(
  path: string,
  { baseDir, runtimeDir }: { baseDir: string; runtimeDir: string },
): Promise<HeldLock> {
  await mkdir(baseDir, { recursive: true, mode: 0o700 });
  try {
    return await acquireLock(path, { timeoutMs: 0, short: false });
  } catch (cause) {
    if (!(cause instanceof WaError) || cause.code !== 'lock_timeout') throw cause;
    throw new WaError('daemon_running', `\`wa-sync dev\` already runs for this folder: ${cause.message}`, {
      hint: `End it with Ctrl+C in its terminal, or from here: ${variablesText(devVariables(baseDir, runtimeDir))} wa-sync down`,
      cause,
    });
  }
}

async function untilOver(
  stack: Stack,
  poll: TelegramPoll | undefined,
  echo: Promise<void> | undefined,
  stopping: AbortSignal,
): Promise<void> {
  const relayEnded = stack.relay.exited.then((code) => {
    if (stopping.aborted) return;
    throw new WaError('child_failed', `the relay process ended with code ${code}`, {
      hint: 'Start `wa-sync dev` again: every stored message is kept.',
    });
  });
  const ends = [once(stopping, 'abort'), relayEnded, stack.daemon.finished, poll?.finished, echo];
  await Promise.race(ends.filter((end) => end !== undefined));
}

function banner(options: DevOptions, stack: Stack, projectDir: string, telegram: DevTelegram | undefined): string[] {
  const phone =
    telegram === undefined
      ? [`phone      ${stack.phoneUrl}  (open it in a browser)`]
      : options.telegram === 'poll'
        ? ['phone      your bot in Telegram (getUpdates)']
        : deliveryLines(stack.webhook.url, telegram);
  return [
    `wa-sync ${version} dev`,
    ...phone,
    `project    ${projectDir}`,
    `files      ${join(mailboxOf(stack), 'wa_inbox.json')}, wa_outbox.json`,
    `agent      ${describeAgent(options.agent)}`,
    'In another terminal, in that folder: `wa-sync status`, `wa-sync send`, `wa-sync letters` and the like find this one.',
    'Ctrl+C stops everything.',
  ];
}

function mailboxOf(stack: Stack): string {
  const { projects } = stack.daemon.status() as { projects: [{ files: string }] };
  return projects[0].files;
}

function describeAgent(agent: DevOptions['agent']): string {
  if (agent === 'echo') return 'echo: answers each message; one that begins with "fail" fails';
  const driver = driverOf(agent);
  return driver ? `${driver.title}, started by you` : 'none: read and write the two files yourself';
}

/** The settings folder of each agent. */
const folders = ofFootprints((all) => new Map(all.map(({ name, folder }) => [name, folder])));

interface Installed {
  /** The file that holds the hooks. */
  place: string;
  /** It is a new file of the project, which git was told to leave alone. */
  excluded: boolean;
}

/** The agent is started without dialogs of its own, so that its risky tools ask on the phone, whatever was chosen in the last run. */
async function closeGates(variables: ReturnType<typeof devVariables>, mailbox: string): Promise<void> {
  const gates = createGates({ runtime: variables.WA_RUNTIME_DIR, config: variables.WA_CONFIG_DIR });
  const key = projectKey(mailbox, 0);
  await gates.set(key, stricterMode(await gates.kept(key), 'risky'));
}

/** Undefined = this agent has no hooks to install. Errors: those of the installer. */
async function installAgent(
  agent: string,
  context: CommandContext,
  projectDir: string,
  variables: Record<string, string>,
): Promise<Installed | undefined> {
  const workstation = workstationOf(agent);
  if (!workstation) return undefined;
  // Without an environment the hooks start no daemon: `dev` runs one.
  const { env: _, ...dirs } = await installDirs(context, agent, { makes: true });
  const { platform, home } = context;
  try {
    const directories = hookDirectories({ env: variables, platform, home });
    const files = await filesBelow(join(projectDir, folders().get(agent) ?? mailboxFolder), () => true);
    const { place } = await workstation.installer.install({ ...dirs, projectDir, directories }, 'project');
    const isNew = !files.some(({ name }) => name === basename(place));
    const excluded = isNew && (await excludeFile(place).catch(() => false));
    return { place, excluded };
  } catch (cause) {
    if (!(cause instanceof WaError) || cause.code !== 'settings_unreadable') throw cause;
    throw new WaError('settings_unreadable', cause.message, {
      hint: `Repair that file. Or run \`wa-sync dev --agent none\`, and in another terminal \`${variablesText(variables)} wa-sync hooks install\`: then the extension serves this folder, until you run \`wa-sync hooks install\` again without the variables.`,
      cause,
    });
  }
}

function agentLines(agent: string, projectDir: string, { place, excluded }: Installed): string[] {
  const project = quoted(projectDir);
  const { title = agent, withoutDialogs = [] } = driverOf(agent) ?? {};
  return [
    `hooks      ${place}${excluded ? ' (new, in .git/info/exclude)' : ''}`,
    `           remove them: wa-sync hooks uninstall --scope project --project ${project}`,
    'approvals  risky: a tool that may do harm asks on the phone (/approvals_off there ends that)',
    'In another terminal:',
    `  cd ${project} && ${[agent, ...withoutDialogs].join(' ')}`,
    `When ${title} asks whether it may trust this folder, say yes: elsewhere it runs no hooks.`,
  ];
}

/** Starts a turn for each unread message in the inbox, as a person at the terminal would. */
async function runEcho(
  context: CommandContext,
  stack: Stack,
  projectDir: string,
  workDir: string,
  stopping: AbortSignal,
): Promise<void> {
  const launcher = join(context.distDir, 'wa-hook');
  const agent = await startEchoAgent({ launcher, projectDir, workDir, env: stack.env });
  const inbox = join(mailboxOf(stack), 'wa_inbox.json');
  while (!stopping.aborted) {
    const file = await readBelow(inbox).catch(() => undefined);
    if (wantsTurn(file?.bytes.toString('utf8') ?? '')) await agent.turn('Look into the inbox.', echo);
    else await changed(join(inbox, '..'), 1000, stopping);
  }
}

function echo(seen: string): string | undefined {
  const texts = [...seen.matchAll(/\[\w+ [^\]\n]*begin [^\]\n]*\]\n([\s\S]*?)\n\[\w+ end /g)].map(
    (match) => match[1] ?? '',
  );
  if (texts.some((text) => /^fail\b/i.test(text))) return undefined;
  if (texts.length === 0) return 'Nothing to do.';
  return `Heard ${texts.length === 1 ? 'one message' : `${texts.length} messages`}:\n\n${texts.map((text) => `> ${text.split('\n').join('\n> ')}`).join('\n\n')}`;
}

function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new WaError('bad_arguments', `--port ${text} is not a port`, { hint: 'Give a number from 0 to 65535.' });
}
