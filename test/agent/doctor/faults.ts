// The faults that the doctor must find: how each is planted, the finding, and its repair. Holds no expectations of its own.

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { hookEvents } from '../../../agent/drivers/gemini/install-table.ts';
import { workstationOf } from '../../../agent/drivers/workstations.ts';
import { noteDown } from '../../../agent/fs/down.ts';
import { newOwner, placeLock } from '../../../agent/fs/lock.ts';
import { askDaemon } from '../../../agent/local-client.ts';
import { stateFiles } from '../../../agent/paths.ts';
import { WaError } from '../../../protocol/errors.ts';
import { shareOf } from '../../../protocol/free-plan.ts';
import { chat, type Outside, type Patient, token } from './patient.ts';

export interface Fault {
  plant(patient: Patient, outside: Outside): unknown;
  check: string;
  state: 'fail' | 'warn';
  evidence: RegExp;
  repair: RegExp;
  /** The agent and its hook are really run. */
  isRun?: true;
  /** `--fix` repairs it. */
  isFixed?: true;
  /** Further checks that the same fault fails. */
  also?: readonly string[];
}

const minute = 60_000;
const botToken = ['123456789', ':AA', randomBytes(33).toString('hex').slice(0, 33)].join('');

async function edit(path: string, change: (text: string) => string): Promise<void> {
  await chmod(path, 0o600).catch(() => {});
  await writeFile(path, change(await readFile(path, 'utf8')));
}

/** The settings of Gemini CLI in the home folder or in the project. */
async function settings(folder: string, value: unknown): Promise<void> {
  await mkdir(join(folder, '.gemini'), { recursive: true });
  await writeFile(join(folder, '.gemini', 'settings.json'), JSON.stringify(value));
}

async function extensionHooks({ dirs }: Patient, change: (text: string) => string): Promise<void> {
  const folder = join(dirs.data, 'gemini-extension');
  const [version = ''] = await readdir(folder);
  await edit(join(folder, version, 'hooks', 'hooks.json'), change);
}

async function launcherFolder({ dirs }: Patient): Promise<string> {
  const names = await readdir(join(dirs.data, 'hooks'), { withFileTypes: true });
  return join(dirs.data, 'hooks', names.find((each) => each.isDirectory())?.name ?? '');
}

const foreign = (command: string) => ({
  hooks: { BeforeAgent: [{ hooks: [{ type: 'command', name: 'other', command }] }] },
});

/** A bound repository with a mailbox, which the daemon does not serve yet: one that runs mends what is wrong with git. */
async function secondProject({ home, configFile }: Patient): Promise<string> {
  const dir = join(home, 'second');
  await mkdir(join(dir, '.gemini'), { recursive: true });
  execFileSync('git', ['init', '--quiet', '--template=', dir]);
  await writeFile(join(dir, '.gemini', 'wa_inbox.json'), '{"messages":[]}');
  await edit(configFile, (text) => {
    const config = JSON.parse(text);
    config.bindings.push({ dir, mailbox: chat, project: 7 });
    return JSON.stringify(config);
  });
  return dir;
}

/** No daemon: another state directory, with what a dead one has left. */
async function withoutDaemon({ root }: Patient, outside: Outside): Promise<string> {
  const state = join(root, 'dead', 'state');
  const runtime = join(root, 'dead', 'run');
  for (const dir of [state, runtime]) await mkdir(dir, { recursive: true, mode: 0o700 });
  outside.dirs = { ...outside.dirs, state, runtime };
  outside.askDaemon = async () => (await askDaemon(outside.dirs, 'GET', '/status')) as never;
  return state;
}

function daemonSays(outside: Outside, change: (status: Awaited<ReturnType<Outside['askDaemon']>>) => void): void {
  const ask = outside.askDaemon;
  outside.askDaemon = async () => {
    const status = await ask();
    change(status);
    return status;
  };
}

const report = (outside: Outside) => {
  const inspection = outside.relay.webhook[0]?.platforms[0]?.inspection;
  if (inspection?.kind !== 'report') throw new Error('the patient has a webhook');
  return inspection;
};

const mailboxOf = (outside: Outside) => outside.relay.status.mailboxes[0] as (typeof outside.relay.status.mailboxes)[0];

export const faults: Record<string, Fault> = {
  'an old Node': {
    plant: (_, outside) => Object.assign(outside, { nodeVersion: '18.20.4' }),
    check: 'node',
    state: 'fail',
    evidence: /Node 18\.20\.4 .* is older than 20\.18\.1/,
    repair: /Install Node/,
  },
  'a full disk': {
    plant: (_, outside) => Object.assign(outside, { disk: async () => ({ freeBytes: 10 * 1024 * 1024, type: 0 }) }),
    check: 'disk',
    state: 'fail',
    evidence: /10 MB are free under/,
    repair: /Free some disk space/,
  },
  'a state directory on NFS': {
    plant: (_, outside) => Object.assign(outside, { disk: async () => ({ freeBytes: 2 ** 40, type: 0x6969 }) }),
    check: 'file-system',
    state: 'fail',
    evidence: /another machine \(NFS\)/,
    repair: /WA_STATE_DIR/,
  },
  'a mailbox on a disk of Windows in WSL': {
    plant: ({ project }, outside) => {
      outside.disk = async (path) => ({ freeBytes: 2 ** 40, type: path.startsWith(project) ? 0x01021997 : 0xef53 });
    },
    check: 'file-system',
    state: 'warn',
    evidence: /9p, as WSL/,
    repair: /WA_MAILBOX_DIR/,
  },
  'a state directory that others can enter': {
    plant: ({ dirs }) => chmod(dirs.state, 0o755),
    check: 'folders',
    state: 'warn',
    evidence: /other users can look into .*state/,
    repair: /chmod 700/,
    isFixed: true,
  },
  'a config directory that others can write to': {
    plant: ({ dirs }) => chmod(dirs.config, 0o777),
    check: 'folders',
    state: 'fail',
    evidence: /other users can write to .*config/,
    repair: /chmod 700/,
    isFixed: true,
  },
  'a runtime directory that others can enter': {
    plant: ({ dirs }) => chmod(dirs.runtime, 0o755),
    check: 'runtime-dir',
    state: 'fail',
    evidence: /other users can reach the socket/,
    repair: /chmod 700/,
    isFixed: true,
  },
  'a runtime directory with too long a name': {
    plant: (_, outside) => {
      outside.dirs.runtime = join(outside.dirs.runtime, 'x'.repeat(100));
    },
    check: 'runtime-dir',
    state: 'fail',
    evidence: /at most 100 work/,
    repair: /WA_RUNTIME_DIR/,
  },
  'config.json that is no JSON': {
    plant: ({ configFile }) => edit(configFile, () => '{\n  "relay": {\n    "url" "x"\n  }\n}'),
    check: 'config',
    state: 'fail',
    evidence: /not JSON in line 3/,
    repair: /Correct line 3/,
  },
  'config.json with a mistyped key': {
    plant: ({ configFile }) => edit(configFile, (text) => text.replace('"bindings"', '"binding"')),
    check: 'config',
    state: 'fail',
    evidence: /"binding" is not a known key/,
    repair: /Known keys/,
  },
  'config.json without a relay': {
    plant: ({ configFile, project }) =>
      edit(configFile, () => JSON.stringify({ bindings: [{ dir: project, mailbox: chat }] })),
    check: 'config',
    state: 'fail',
    evidence: /no relay is configured/,
    repair: /docs\/relay\.md/,
  },
  'a bound folder that is gone': {
    plant: ({ configFile, project }) => edit(configFile, (text) => text.replace(project, `${project}-moved`)),
    check: 'bindings',
    state: 'fail',
    evidence: /project-moved is not a folder/,
    repair: /Correct "bindings"/,
  },
  'a token that others can read': {
    plant: ({ configFile }) => chmod(configFile, 0o644),
    check: 'modes',
    state: 'fail',
    evidence: /other users can read .*config\.json \(mode 644\)/,
    repair: /chmod 600/,
    isFixed: true,
  },
  'a signing key that others can read': {
    plant: ({ dirs }) => chmod(join(dirs.config, 'signing.key'), 0o640),
    check: 'modes',
    state: 'fail',
    evidence: /signing\.key \(mode 640\)/,
    repair: /chmod 600/,
    isFixed: true,
  },
  'a token of the bot in the environment': {
    plant: (_, outside) => Object.assign(outside.env, { TELEGRAM_BOT_TOKEN: botToken }),
    check: 'environment',
    state: 'fail',
    evidence: /TELEGRAM_BOT_TOKEN in the environment/,
    repair: /unset TELEGRAM_BOT_TOKEN/,
  },
  'a token of the bot in a tracked file': {
    plant: async ({ project }) => {
      await writeFile(join(project, 'notes.txt'), `the token is ${botToken}\n`);
      execFileSync('git', ['-C', project, 'add', 'notes.txt']);
    },
    check: 'tracked-token',
    state: 'fail',
    evidence: /git tracks a token in .*notes\.txt$/,
    repair: /make a new token/,
  },
  'the token of this workstation in a tracked file': {
    plant: async ({ project }) => {
      await writeFile(join(project, '.env'), `WA_AGENT_TOKEN=${token}\n`);
      execFileSync('git', ['-C', project, 'add', '--force', '.env']);
    },
    check: 'tracked-token',
    state: 'fail',
    evidence: /\.env$/,
    repair: /Remove it from the file/,
  },
  'a mailbox that git would commit': {
    plant: secondProject,
    check: 'git',
    state: 'fail',
    evidence: /would not be ignored/,
    repair: /doctor --fix/,
    isFixed: true,
  },
  'a mailbox that git tracks': {
    plant: async (patient) => {
      execFileSync('git', ['-C', await secondProject(patient), 'add', '--force', '.gemini/wa_inbox.json']);
    },
    check: 'git',
    state: 'fail',
    evidence: /wa_inbox\.json is tracked/,
    repair: /git rm --cached/,
  },
  'no daemon': {
    plant: withoutDaemon,
    check: 'daemon',
    state: 'fail',
    evidence: /no daemon answers/,
    repair: /Start it with/,
    also: ['hooks'],
  },
  'a daemon that was said to be down': {
    plant: async (patient, outside) => noteDown(await withoutDaemon(patient, outside)),
    check: 'daemon',
    state: 'warn',
    evidence: /`wa-sync down` was said/,
    repair: /wa-sync start/,
    also: ['hooks'],
  },
  'a daemon that another one superseded': {
    plant: async (patient, outside) => {
      const state = await withoutDaemon(patient, outside);
      const lines = [{ event: 'daemon started' }, { event: 'superseded' }, { event: 'daemon stopped' }];
      await writeFile(stateFiles(state).log, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      await noteDown(state);
    },
    check: 'daemon',
    state: 'fail',
    evidence: /superseded/,
    repair: /wa-sync down/,
    also: ['hooks'],
  },
  'a daemon that a hook could not start': {
    plant: async (patient, outside) => {
      const state = await withoutDaemon(patient, outside);
      await writeFile(stateFiles(state).startLog, 'wa-sync: the journal has version 99 (journal_version)\n');
    },
    check: 'daemon',
    state: 'fail',
    evidence: /the last start said: .*journal_version/,
    repair: /Start it with/,
    also: ['hooks'],
  },
  'lock and socket of a dead daemon': {
    plant: async (patient, outside) => {
      const state = await withoutDaemon(patient, outside);
      // No process has this number: Linux counts to 4,194,304.
      await placeLock(`${stateFiles(state).lock}.lock`, { ...newOwner(), pid: 4_194_999 });
      const server = createServer();
      const socket = join(outside.dirs.runtime, 'hook.sock');
      await new Promise<void>((resolve) => server.listen(socket, resolve));
      // A socket that is renamed stays when its server closes.
      execFileSync('mv', [socket, `${socket}.kept`]);
      await new Promise((resolve) => server.close(resolve));
      execFileSync('mv', [`${socket}.kept`, socket]);
    },
    check: 'leftovers',
    state: 'warn',
    evidence: /its lock \(pid 4194999\) and its socket/,
    repair: /wa-sync start/,
    isFixed: true,
    also: ['daemon', 'hooks'],
  },
  'a daemon of another version': {
    plant: (_, outside) =>
      daemonSays(outside, (status) => {
        status.version = '0.0.1';
      }),
    check: 'daemon',
    state: 'warn',
    evidence: /the daemon .* is version 0\.0\.1/,
    repair: /wa-sync restart/,
  },
  'a project that the relay refuses': {
    plant: (_, outside) =>
      daemonSays(outside, ({ projects: [project] }) =>
        Object.assign(project ?? {}, { relay: 'failing', error: 'unauthorized', hint: 'Set WA_AGENT_TOKEN again.' }),
      ),
    check: 'projects',
    state: 'fail',
    evidence: /the relay does not serve the daemon \(unauthorized\)/,
    repair: /Set WA_AGENT_TOKEN again/,
  },
  'an inbox file that cannot be written': {
    plant: (_, outside) =>
      daemonSays(outside, ({ projects: [project] }) => Object.assign(project ?? {}, { inboxTrouble: 'EROFS' })),
    check: 'projects',
    state: 'fail',
    evidence: /EROFS/,
    repair: /Look at the file/,
  },
  'a policy that cannot be read': {
    plant: ({ dirs }) => writeFile(join(dirs.config, 'policy.json'), '{"rulez":[]}'),
    check: 'projects',
    state: 'fail',
    evidence: /policy\.json: .*rulez/,
    repair: /Repair the file/,
  },
  'a poll that hangs': {
    plant: (_, outside) =>
      daemonSays(outside, ({ projects: [project] }) =>
        Object.assign(project?.last ?? {}, { poll: Date.now() - 10 * minute }),
      ),
    check: 'events',
    state: 'fail',
    evidence: /the relay answered 10 min ago, although the daemon is connected/,
    repair: /wa-sync restart/,
  },
  'a message that nobody takes': {
    plant: (_, outside) => {
      daemonSays(outside, ({ projects: [project] }) => Object.assign(project ?? {}, { waiting: 1 }));
      Object.assign(mailboxOf(outside).projects[0] ?? {}, { oldestWaitingAt: Date.now() - 121 * minute });
    },
    check: 'events',
    state: 'warn',
    evidence: /has waited for the coding agent since 2 h ago/,
    repair: /wa:away before/,
  },
  'a service that does not run': {
    plant: (_, outside) => {
      const ask = outside.service;
      outside.service = async () => {
        const { status } = await ask();
        const troubles = [{ what: 'no supported Node is found by the service', repair: 'wa-sync service install' }];
        return { status: { ...status, running: false, troubles }, notes: [] };
      };
    },
    check: 'service',
    state: 'fail',
    evidence: /no supported Node/,
    repair: /wa-sync service install/,
  },
  'a service that ends with the last login': {
    plant: (_, outside) => {
      const ask = outside.service;
      const note =
        'This machine has no desktop: the service ends with your last login. To keep it running: loginctl enable-linger dev';
      outside.service = async () => ({ ...(await ask()), notes: [note] });
    },
    check: 'service',
    state: 'warn',
    evidence: /ends with your last login/,
    repair: /Run `loginctl enable-linger dev`/,
  },
  'a relay of another version': {
    plant: (_, outside) => Object.assign(outside.relay.status, { version: '0.0.1' }),
    check: 'relay',
    state: 'warn',
    evidence: /the relay is version 0\.0\.1/,
    repair: /relay upgrade/,
  },
  'a relay that cannot be reached': {
    plant: (_, outside) => {
      const down = async () => {
        throw new WaError('relay_unreachable', 'the relay did not answer /v1/status: ENOTFOUND', { hint: 'Check it.' });
      };
      outside.connect = () => ({ status: down, webhook: down, close: async () => {} });
    },
    check: 'relay',
    state: 'fail',
    evidence: /relay_unreachable/,
    repair: /Check it/,
  },
  'a clock that is wrong': {
    plant: (_, outside) => Object.assign(outside.relay.status, { now: Date.now() - 15 * minute }),
    check: 'clock',
    state: 'fail',
    evidence: /1[45] min ahead of/,
    repair: /timedatectl/,
  },
  'a chat that the relay does not serve': {
    plant: ({ configFile }) => edit(configFile, (text) => text.replace(chat, '77')),
    check: 'mailbox',
    state: 'fail',
    evidence: /does not serve chat 77/,
    repair: /docs\/relay\.md/,
  },
  'a bot whose token is refused': {
    plant: (_, outside) =>
      Object.assign(mailboxOf(outside), { paused: { code: 'platform_unauthorized', untilAt: Date.now() + minute } }),
    check: 'mailbox',
    state: 'fail',
    evidence: /nothing is sent to chat 1000001 .*platform_unauthorized/,
    repair: /"webhook" names the command/,
  },
  'another workstation on the same chat': {
    plant: (_, outside) => Object.assign(mailboxOf(outside).projects[0] ?? {}, { daemonId: 'somebody-else' }),
    check: 'mailbox',
    state: 'fail',
    evidence: /another workstation polls chat 1000001/,
    repair: /wa-sync down/,
  },
  'dead letters': {
    plant: (_, outside) => Object.assign(mailboxOf(outside).projects[0] ?? {}, { deadLetters: 2 }),
    check: 'mailbox',
    state: 'warn',
    evidence: /2 dead letters/,
    repair: /wa-sync letters/,
  },
  'a free plan that runs out': {
    plant: (_, outside) => {
      const { status } = outside.relay;
      status.today = shareOf({ ...status.today, workerRequests: 81_000 });
    },
    check: 'free-plan',
    state: 'warn',
    evidence: /81 % of the free plan today \(Worker requests\)/,
    repair: /midnight UTC/,
  },
  'a webhook of another program': {
    plant: (_, outside) => Object.assign(report(outside).webhook, { host: 'other.example', isRoute: false }),
    check: 'webhook',
    state: 'fail',
    evidence: /sends to other\.example at another path, and not to relay\.example\/telegram\/webhook/,
    repair: /Set the webhook again/,
  },
  'no webhook': {
    plant: (_, outside) => Object.assign(report(outside).webhook, { host: null, isRoute: false }),
    check: 'webhook',
    state: 'fail',
    evidence: /no webhook is set/,
    repair: /Set the webhook again/,
  },
  'a webhook without the taps': {
    plant: (_, outside) => Object.assign(report(outside).webhook, { missing: ['callback_query'] }),
    check: 'webhook',
    state: 'fail',
    evidence: /does not send callback_query/,
    repair: /Set the webhook again/,
  },
  'a webhook that fails': {
    plant: (_, outside) =>
      Object.assign(report(outside).webhook, {
        lastError: { at: Date.now() - minute, reason: 'Wrong response from the webhook: 401 Unauthorized' },
      }),
    check: 'webhook',
    state: 'fail',
    evidence: /failed 1 min ago: Wrong response/,
    repair: /Its secret is another one/,
  },
  'updates that pile up': {
    plant: (_, outside) => {
      report(outside).webhook.pending = 3;
      outside.relay.webhook.push(structuredClone(outside.relay.webhook[0] as (typeof outside.relay.webhook)[0]));
      const later = outside.relay.webhook[1]?.platforms[0]?.inspection;
      if (later?.kind === 'report') later.webhook.pending = 9;
    },
    check: 'webhook',
    state: 'fail',
    evidence: /9 updates wait for the webhook, and the number grows/,
    repair: /last delivery/,
  },
  'a bot in privacy mode': {
    plant: (_, outside) =>
      report(outside).troubles.push({ what: 'privacy mode: in group -100', repair: '@BotFather: /setprivacy' }),
    check: 'webhook',
    state: 'fail',
    evidence: /privacy mode/,
    repair: /setprivacy/,
  },
  'a platform that refuses the token': {
    plant: (_, outside) =>
      Object.assign(outside.relay.webhook[0]?.platforms[0] ?? {}, {
        inspection: {
          kind: 'failed',
          code: 'platform_unauthorized',
          reason: 'Unauthorized',
          repair: 'Give a new token.',
        },
      }),
    check: 'webhook',
    state: 'fail',
    evidence: /refuses the relay: Unauthorized \(platform_unauthorized\)/,
    repair: /Give a new token/,
  },
  'no hooks': {
    plant: ({ home }) => rm(join(home, '.gemini'), { recursive: true, force: true }),
    check: 'hooks',
    state: 'fail',
    evidence: /no hooks of wa-sync are installed/,
    repair: /wa-sync hooks install/,
  },
  'a launcher that is gone': {
    isRun: true,
    plant: async (patient) => rm(join(await launcherFolder(patient), 'wa-hook')),
    check: 'hooks',
    state: 'fail',
    evidence: /the launcher is missing/,
    repair: /wa-sync hooks install/,
    isFixed: true,
    also: ['canary'],
  },
  'a timeout in seconds': {
    plant: (patient) => extensionHooks(patient, (text) => text.replace('"timeout": 86400000', '"timeout": 86400')),
    check: 'hooks',
    state: 'fail',
    evidence: /timeout of 86400 in the wrong unit: milliseconds/,
    repair: /wa-sync hooks install/,
    isFixed: true,
  },
  'a timeout that overflows': {
    plant: (patient) =>
      extensionHooks(patient, (text) => text.replace('"timeout": 86400000', '"timeout": 86400000000')),
    check: 'hooks',
    state: 'fail',
    evidence: /overflows/,
    repair: /wa-sync hooks install/,
    isFixed: true,
  },
  'a hook without its type': {
    plant: (patient) => extensionHooks(patient, (text) => text.replace('"type": "command",', '')),
    check: 'hooks',
    state: 'fail',
    evidence: /no "type": "command"/,
    repair: /wa-sync hooks install/,
    isFixed: true,
  },
  'settings of an old shape': {
    plant: ({ project }) => settings(project, { hooks: [{ event: 'AfterAgent', command: ['x'] }] }),
    check: 'hooks',
    state: 'fail',
    evidence: /"hooks" as a list, an old shape/,
    repair: /editor/,
  },
  'a flat hook of another program': {
    plant: ({ home }) => settings(home, { hooks: { BeforeAgent: [{ type: 'command', command: 'true' }] } }),
    check: 'hooks',
    state: 'warn',
    evidence: /without its "hooks" list/,
    repair: /editor/,
  },
  'settings that are no JSON': {
    plant: async ({ project }) => {
      await settings(project, {});
      await writeFile(join(project, '.gemini', 'settings.json'), '{"hooks":');
    },
    check: 'hooks',
    state: 'fail',
    evidence: /settings\.json/,
    repair: /./,
  },
  'a switch in the wrong place': {
    plant: ({ home }) => settings(home, { hooks: { enabled: false } }),
    check: 'hooks',
    state: 'warn',
    evidence: /"hooks\.enabled", which does nothing/,
    repair: /editor/,
  },
  'hooks that are switched off': {
    plant: ({ project }) => settings(project, { hooksConfig: { enabled: false } }),
    check: 'hooks',
    state: 'fail',
    evidence: /switches all hooks off/,
    repair: /Remove it there/,
  },
  'our name in the list of disabled hooks': {
    plant: ({ home }) => settings(home, { hooksConfig: { disabled: ['wa-sync-AfterAgent'] } }),
    check: 'hooks',
    state: 'fail',
    evidence: /hooksConfig\.disabled: wa-sync-AfterAgent/,
    repair: /Remove it there/,
  },
  'an extension that is switched off here': {
    plant: ({ home, project }) =>
      writeFile(
        join(home, '.gemini', 'extensions', 'extension-enablement.json'),
        JSON.stringify({ 'wa-sync': { overrides: ['/*', `!${project}/*`] } }),
      ),
    check: 'hooks',
    state: 'fail',
    evidence: /the extension wa-sync is switched off/,
    repair: /gemini extensions enable/,
  },
  'hooks in two scopes': {
    plant: async ({ project, home }, outside) => {
      await workstationOf('gemini')?.installer.install(await outside.installDirs('gemini'), 'project');
      await writeFile(join(home, '.gemini', 'trustedFolders.json'), JSON.stringify({ [project]: 'TRUST_FOLDER' }));
    },
    check: 'hooks',
    state: 'warn',
    evidence: /installed twice: .*extensions\/wa-sync and .*settings\.json/,
    repair: /hooks uninstall --scope project/,
  },
  'hooks of the project in a folder that is not trusted': {
    plant: async ({ home }, outside) => {
      const installer = workstationOf('gemini')?.installer;
      await installer?.install(await outside.installDirs('gemini'), 'project');
      await installer?.uninstall(await outside.installDirs('gemini'), 'user');
      await mkdir(join(home, '.gemini'), { recursive: true });
      await writeFile(join(home, '.gemini', 'trustedFolders.json'), JSON.stringify({ '/elsewhere': 'TRUST_FOLDER' }));
    },
    check: 'hooks',
    state: 'fail',
    evidence: /no trusted folder/,
    repair: /trust the folder/,
  },
  'hooks for other directories': {
    plant: (patient) => extensionHooks(patient, (text) => text.replaceAll("/run'", "/other'")),
    check: 'hooks',
    state: 'fail',
    evidence: /serve other directories/,
    repair: /wa-sync hooks install/,
  },
  'an event without its hook': {
    plant: (patient) =>
      extensionHooks(patient, (text) => {
        const file = JSON.parse(text);
        delete file.hooks[hookEvents.at(-1) ?? ''];
        return JSON.stringify(file, null, 2);
      }),
    check: 'hooks',
    state: 'warn',
    evidence: /not what this version installs/,
    repair: /wa-sync hooks install/,
    isFixed: true,
  },
  'a hook of another program that is gone': {
    plant: ({ home }) => settings(home, foreign('/opt/gone/bridge --hook')),
    check: 'hooks',
    state: 'fail',
    evidence: /runs \/opt\/gone\/bridge, which does not exist/,
    repair: /Remove the hook/,
  },
  'a hook of another program that reads the inbox': {
    plant: async ({ project }) => {
      await writeFile(join(project, 'poll.sh'), 'cat .gemini/wa_inbox.json\n');
      await settings(project, foreign('sh "$' + '{GEMINI_PROJECT_DIR}/poll.sh"'));
    },
    check: 'hooks',
    state: 'warn',
    evidence: /reads wa_inbox\.json too/,
    repair: /Remove that hook/,
  },
  'a Node that vanished': {
    plant: async (patient) =>
      edit(join(await launcherFolder(patient), 'start.json'), (text) =>
        JSON.stringify({ ...JSON.parse(text), node: '/home/dev/.nvm/versions/node/v20.9.0/bin/node' }),
      ),
    check: 'start-record',
    state: 'fail',
    evidence: /\.nvm.* no longer exists/,
    repair: /wa-sync hooks install/,
    isFixed: true,
    also: ['hooks'],
  },
  'a package in the npx cache': {
    plant: async (patient) => {
      const program = join(patient.root, '_npx', 'abc', 'wa-sync.js');
      await mkdir(join(program, '..'), { recursive: true });
      await writeFile(program, '');
      await edit(join(await launcherFolder(patient), 'start.json'), (text) =>
        JSON.stringify({ ...JSON.parse(text), program }),
      );
    },
    check: 'start-record',
    state: 'warn',
    evidence: /npx cache/,
    repair: /wa-sync hooks install/,
    isFixed: true,
    also: ['hooks'],
  },
  'an agent of a version that nobody tried': {
    isRun: true,
    plant: ({ root }) => writeFile(join(root, 'bin', 'gemini'), '#!/bin/sh\necho 0.59.2\n', { mode: 0o755 }),
    check: 'agents',
    state: 'warn',
    evidence: /gemini 0\.59\.2 is older than .* \(0\.61\.0\)/,
    repair: /use gemini 0\.61\.0/,
  },
  'an agent that is not on the PATH': {
    plant: (_, outside) => Object.assign(outside.env, { PATH: '/nonexistent' }),
    check: 'agents',
    state: 'warn',
    evidence: /not on the PATH/,
    repair: /PATH/,
  },
  'an agent that does not start': {
    isRun: true,
    plant: ({ root }) =>
      writeFile(join(root, 'bin', 'gemini'), '#!/bin/sh\necho no binary >&2\nexit 3\n', { mode: 0o755 }),
    check: 'agents',
    state: 'fail',
    evidence: /--version does not work \(exit code 3\): no binary$/,
    repair: /Install gemini again/,
  },
  'no coding agent at all': {
    async plant({ home }, outside) {
      await rm(join(home, '.gemini'), { recursive: true });
      Object.assign(outside.env, { PATH: '/nonexistent' });
    },
    check: 'agents',
    state: 'fail',
    evidence: /no coding agent is on the PATH \(gemini, claude, codex\)/,
    repair: /Install one/,
  },
  'a command of an agent that is not there': {
    plant: ({ configFile }) =>
      edit(configFile, (text) => text.replace('{', '{ "agents": { "mine": { "command": ["/nonexistent/agent"] } },')),
    check: 'agents',
    state: 'warn',
    evidence: /config\.json runs \/nonexistent\/agent for mine/,
    repair: /agents\.mine\.command/,
  },
  'a launcher that does not reach the daemon': {
    isRun: true,
    plant: async (patient) =>
      edit(join(await launcherFolder(patient), 'wa-hook'), () => '#!/bin/sh\ncat >/dev/null\necho "{}"\n').then(
        async () => chmod(join(await launcherFolder(patient), 'wa-hook'), 0o755),
      ),
    check: 'canary',
    state: 'fail',
    evidence: /the daemon did not see it/,
    repair: /wa-sync hooks install/,
  },
  'a launcher that makes a noise': {
    isRun: true,
    plant: async (patient) =>
      edit(join(await launcherFolder(patient), 'wa-hook'), () => '#!/bin/sh\necho oh no\nexit 2\n').then(async () =>
        chmod(join(await launcherFolder(patient), 'wa-hook'), 0o755),
      ),
    check: 'canary',
    state: 'fail',
    evidence: /ends with exit code 2: oh no/,
    repair: /wa-sync hooks install/,
  },
};
