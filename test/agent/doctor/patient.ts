// A healthy workstation: real hooks, a real daemon and a git repository; only relay, service and disk are stand-ins at the edge of the
// machine. Holds no expectations.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { loadConfig } from '../../../agent/config.ts';
import { checkFile } from '../../../agent/config-check.ts';
import { type Daemon, startDaemon } from '../../../agent/daemon/daemon.ts';
import { readDaemonId } from '../../../agent/daemon/daemon-id.ts';
import type { DaemonStatus } from '../../../agent/daemon-status.ts';
import { askProgram, readDisk, runProgram } from '../../../agent/doctor/surroundings.ts';
import type { RunOptions, Surroundings } from '../../../agent/doctor/world.ts';
import type { InstallDirs } from '../../../agent/drivers/workstation.ts';
import { workstationOf } from '../../../agent/drivers/workstations.ts';
import { askDaemon } from '../../../agent/local-client.ts';
import { rememberBound } from '../../../agent/mailbox/served.ts';
import { directories, hookDirectories } from '../../../agent/paths.ts';
import type { RelayClient } from '../../../agent/relay/client.ts';
import { version } from '../../../agent/version.ts';
import { noUse, shareOf, utcDay } from '../../../protocol/free-plan.ts';
import type { PollAnswer, StatusAnswer } from '../../../protocol/relay-api.ts';
import type { WebhookAnswer } from '../../../protocol/webhook-api.ts';
import { until } from '../../helpers/daemon.ts';
import { dist } from '../../helpers/stack.ts';

export const chat = '1000001';
export const token = 'k3J9-agent-token-of-the-patient-0001';
const relayUrl = 'https://relay.example';

export interface Patient {
  /** Everything but state and runtime directory. */
  root: string;
  home: string;
  project: string;
  configFile: string;
  dirs: Surroundings['dirs'];
  /** A healthy outside, which a test changes before it looks. Without `isRun` no process is started for agent and hook, which costs time. */
  outside(how: { isRun: boolean }): Outside;
  /** Puts all files below `root` back. */
  healed(): Promise<void>;
  close(): Promise<void>;
}

export interface Outside extends Surroundings {
  /** What the relay answers. */
  relay: { status: StatusAnswer; webhook: WebhookAnswer[] };
}

/** One for all tests of a file, healed after each; `take` gets it. */
export function onePatient(take: (patient: Patient) => void): void {
  let patient: Patient;
  beforeAll(async () => {
    patient = await createPatient();
    take(patient);
  }, 60_000);
  afterEach(() => patient.healed());
  afterAll(() => patient.close());
}

async function createPatient(): Promise<Patient> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'wa-doc-')));
  const [root, pristine] = [join(base, 'live'), join(base, 'pristine')];
  const [home, project, bin] = [join(root, 'home'), join(root, 'home', 'project'), join(root, 'bin')];
  const env = {
    PATH: [bin, process.env.PATH].join(delimiter),
    HOME: home,
    WA_CONFIG_DIR: join(root, 'config'),
    WA_STATE_DIR: join(base, 'state'),
    WA_RUNTIME_DIR: join(base, 'run'),
  };
  const world = { env, platform: process.platform, home };
  const dirs = directories(world);
  const configFile = join(dirs.config, 'config.json');
  for (const dir of [project, bin]) await mkdir(dir, { recursive: true });
  for (const dir of [dirs.config, dirs.state, dirs.runtime]) await mkdir(dir, { mode: 0o700 });
  const binding = { dir: project, mailbox: chat, project: 0 };
  await writeFile(configFile, JSON.stringify({ relay: { url: relayUrl, token }, bindings: [binding] }), {
    mode: 0o600,
  });
  await rememberBound(dirs.config, binding, null, Date.now());
  await writeFile(join(bin, 'gemini'), '#!/bin/sh\necho 0.61.0\n', { mode: 0o755 });
  execFileSync('git', ['init', '--quiet', '--template=', project]);
  await mkdir(join(project, '.git', 'info'));

  const read = (variables: Record<string, string | undefined>) => loadConfig({ ...world, env: variables });
  const installDirs = async (agent: string): Promise<InstallDirs> => ({
    home: workstationOf(agent)?.homeOf(env, home) ?? home,
    dataDir: dirs.data,
    projectDir: project,
    packageDir: dist,
    version,
    platform: process.platform,
    directories: hookDirectories(world),
    env,
  });
  await workstationOf('gemini')?.installer.install(await installDirs('gemini'), 'user');
  const daemon = await startDaemon({
    config: read(env),
    bindings: [binding],
    client: quietRelay(),
    daemonId: await readDaemonId(dirs.config),
    version,
    platform: process.platform,
    clock: Date.now,
    random: Math.random,
    log: () => {},
  });
  await until('the daemon is connected', () => projectsOf(daemon).every(({ relay }) => relay === 'connected'));
  await cp(root, pristine, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });

  return {
    root,
    home,
    project,
    configFile,
    dirs,
    outside({ isRun }) {
      const answers = { status: healthyStatus(), webhook: [healthyWebhook()] };
      let looks = 0;
      return {
        ...world,
        env: { ...env },
        cwd: project,
        distDir: dist,
        version,
        dirs: { ...dirs },
        nodeVersion: process.versions.node,
        execPath: process.execPath,
        uid: process.getuid?.(),
        clock: Date.now,
        pause: async () => {},
        loadConfig() {
          const config = read(this.env);
          checkFile(config);
          return config;
        },
        installDirs,
        relay: answers,
        connect: () => ({
          status: async () => answers.status,
          webhook: async () => answers.webhook[looks++] ?? (answers.webhook.at(-1) as WebhookAnswer),
          close: async () => {},
        }),
        askDaemon: async () => (await askDaemon(dirs, 'GET', '/status')) as DaemonStatus,
        service: async () => ({ status: healthyService, notes: [] }),
        run: (program, args, options = {}) =>
          isRun ? runProgram(program, args, { env, ...options }) : withoutProcess(args, options, dirs),
        ask: askProgram,
        disk: readDisk,
      };
    },
    async healed() {
      await chmod(dirs.runtime, 0o700);
      await chmod(dirs.state, 0o700);
      await rm(root, { recursive: true, force: true });
      await cp(pristine, root, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    },
    async close() {
      await daemon.stop();
      await rm(base, { recursive: true, force: true });
    },
  };
}

/** What a healthy agent answers to its `--version`, and a healthy launcher to a hook call. */
async function withoutProcess(args: readonly string[], { input = '{}' }: RunOptions, dirs: Surroundings['dirs']) {
  if (args[0] === '--version') return { code: 0, stdout: '0.61.0\n', stderr: '' };
  const answer = await askDaemon(dirs, 'POST', '/hook/gemini/Notification', JSON.parse(input));
  return { code: 0, stdout: JSON.stringify(answer), stderr: '' };
}

const projectsOf = (daemon: Daemon) => (daemon.status() as DaemonStatus).projects;

const healthyService: Awaited<ReturnType<Surroundings['service']>>['status'] = {
  system: 'systemd',
  title: 'systemd user unit',
  available: true,
  installed: true,
  running: true,
  place: '/home/dev/.config/systemd/user/wa-sync.service',
  version,
  node: '/usr/bin/node',
  current: true,
  troubles: [],
};

function healthyStatus(): StatusAnswer {
  const now = Date.now();
  const today = noUse(utcDay(now));
  return {
    version,
    now,
    platforms: [{ name: 'telegram', account: '100000001' }],
    mailboxes: [
      {
        mailbox: chat,
        epoch: 'e1',
        projects: [{ project: 0, daemonId: null, lastSeenAt: now, cursor: 0, ladder: {}, oldestWaitingAt: null }],
        outbox: { queued: 0, sending: 0, sent: 0, dead: 0 },
        topics: null,
        today,
      },
    ],
    today: shareOf(today),
  };
}

function healthyWebhook(): WebhookAnswer {
  return {
    now: Date.now(),
    platforms: [
      {
        name: 'telegram',
        account: '100000001',
        inspection: {
          kind: 'report',
          username: 'wa_sync_bot',
          topics: false,
          webhook: {
            host: 'relay.example',
            route: '/telegram/webhook',
            isRoute: true,
            pending: 0,
            lastError: null,
            missing: [],
          },
          troubles: [],
        },
      },
    ],
  };
}

/** A relay that has nothing: the first poll is answered at once, the next ones are held until they are dropped. */
function quietRelay(): RelayClient {
  const phone = {
    maxText: 4096,
    edit: true,
    reactions: true,
    topics: true,
    buttons: true,
    menu: true,
    confirms: false,
  };
  let polls = 0;
  return {
    async poll(_: unknown, signal: AbortSignal) {
      polls += 1;
      if (polls > 1) {
        await once(signal, 'abort');
        throw signal.reason;
      }
      const answer = { epoch: 'e1', now: Date.now(), rows: [], controls: [], cursor: 0 };
      return { ...answer, phone: { ...phone, owner: chat, isPrivate: true } } as unknown as PollAnswer;
    },
    outbox: async () => ({ epoch: 'e1', items: [] }),
    reconnect: () => {},
    close: async () => {},
  } as unknown as RelayClient;
}
