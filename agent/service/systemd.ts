// The systemd user unit of Linux: its text, and the calls of systemctl and loginctl. Needs no rights beyond the user's.

import { join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { serviceFiles } from '../paths.ts';
import { commandFailed } from './run.ts';
import type { RunProgram, ServiceFile, ServiceSpec, ServiceSystem } from './system.ts';

const unitName = serviceFiles.unit[2];

export interface SystemdWorld {
  /** The folder that holds `systemd/user`, `~/.config` as a rule. */
  configHome: string;
  env: Readonly<Record<string, string | undefined>>;
  uid: number;
  /** Login name. */
  user: string;
  /** Linux inside of Windows. */
  isWsl: boolean;
  run: RunProgram;
}

/** Seconds; long enough for a network that is just coming up. */
const restartAfter = 5;
/** The daemon releases held terminals and ends within this. */
const stopWithin = 20;

export function createSystemd(world: SystemdWorld): ServiceSystem {
  const place = join(world.configHome, ...serviceFiles.unit);
  // A shell without a login session (su, cron) has no XDG_RUNTIME_DIR, although the user's manager may run.
  const env = { XDG_RUNTIME_DIR: world.env.XDG_RUNTIME_DIR || `/run/user/${world.uid}` };
  const ask = (...args: string[]) => world.run('systemctl', ['--user', ...args], env);
  const must = async (...args: string[]) => {
    const answer = await ask(...args);
    if (answer.code !== 0) throw commandFailed(['systemctl', '--user', ...args], answer, inspect);
  };
  return {
    name: 'systemd',
    title: 'systemd user unit',
    inspect,
    place,
    render: (spec) => [renderUnit(place, spec)],
    async unavailable() {
      const { stdout, stderr } = await ask('is-system-running');
      if (/^(running|degraded|starting|initializing|maintenance)\b/.test(stdout)) return undefined;
      return noManager(world, (stdout || stderr).trim().split('\n')[0] ?? '');
    },
    async install() {
      await must('daemon-reload');
      await must('enable', unitName);
      // An earlier run may have ended for good.
      await ask('reset-failed', unitName);
      await must('restart', unitName);
    },
    async uninstall() {
      await ask('disable', '--now', unitName);
      await ask('reset-failed', unitName);
    },
    async start() {
      await ask('reset-failed', unitName);
      await must('start', unitName);
    },
    stop: () => must('stop', unitName),
    async state() {
      const names = ['LoadState', 'ActiveState', 'MainPID', 'ExecMainStatus', 'ExecMainCode'];
      const { stdout } = await ask('show', unitName, `--property=${names.join(',')}`);
      const value = Object.fromEntries(stdout.split('\n').map((line) => line.split('=', 2))) as Record<string, string>;
      const pid = Number(value.MainPID) || undefined;
      const running = pid !== undefined && /^(active|reloading|deactivating)$/.test(value.ActiveState ?? '');
      // 1 = CLD_EXITED: only then is the status an exit code.
      const lastExit = !running && value.ExecMainCode === '1' ? Number(value.ExecMainStatus) : undefined;
      return { loaded: value.LoadState === 'loaded', running, ...(running ? { pid } : {}), lastExit };
    },
    async removed() {
      await ask('daemon-reload');
    },
    async notes() {
      if (world.isWsl) {
        return ['WSL ends a distribution some time after its last terminal closed, and the service with it.'];
      }
      const { stdout } = await world.run('loginctl', ['show-user', world.user, '-p', 'Linger', '-p', 'Display']);
      const hasDesktop = /^Display=./m.test(stdout) || Boolean(world.env.DISPLAY || world.env.WAYLAND_DISPLAY);
      if (hasDesktop || !/^Linger=no$/m.test(stdout)) return [];
      return [
        `This machine has no desktop: the service ends with your last login. To keep it running: loginctl enable-linger ${world.user}`,
      ];
    },
  };
}

const inspect = `journalctl --user --unit ${unitName} --lines 20`;

function noManager({ isWsl, user }: SystemdWorld, said: string): WaError {
  const why = said === '' ? '' : ` (${said})`;
  const repair = isWsl
    ? 'To have one in WSL: put "systemd=true" under [boot] in /etc/wsl.conf, then run `wsl --shutdown` in Windows.'
    : `A container has none; a login over su or sudo has none either: log in as ${user} itself.`;
  return new WaError('service_unavailable', `systemd runs no services for this user${why}`, {
    hint: `Run the daemon without a service: \`wa-sync start --detach\`. ${repair}`,
  });
}

/** By `sh`, because systemd refuses a program whose path holds a quotation mark. */
function renderUnit(path: string, { launcher, args, env }: ServiceSpec): ServiceFile {
  const text = `# Written by \`wa-sync service install\`, which also replaces it.
[Unit]
Description=wa-sync, the mailbox between phone and coding agent
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=/bin/sh ${[launcher, ...args].map((word) => unitWord(word).replaceAll('$', '$$$$')).join(' ')}
${Object.entries(env)
  .map(([name, value]) => `Environment=${unitWord(`${name}=${value}`)}\n`)
  .join('')}WorkingDirectory=~
UMask=0077
Restart=on-failure
RestartSec=${restartAfter}
# A wrong configuration, and another start that took over, do not get better by a restart.
RestartPreventExitStatus=2 3
KillMode=mixed
TimeoutStopSec=${stopWithin}

[Install]
WantedBy=default.target
`;
  return { path, text, mode: 0o644 };
}

/** Quoted by the rules of systemd.syntax(7); `$` means something in ExecStart alone. */
function unitWord(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%');
  return /^[\w./:@+=,-]+$/.test(escaped) ? escaped : `"${escaped}"`;
}
