// The scheduled task of Windows, or the Startup folder where policy forbids tasks. Needs no elevation. The words of schtasks depend
// on the language of the system, so only numbers are read. Not started on a real Windows by our tests.

import { win32 } from 'node:path';
import { serviceFiles } from '../paths.ts';
import { cmdText } from './launcher.ts';
import { commandFailed } from './run.ts';
import type { RunProgram, ServiceSpec, ServiceSystem } from './system.ts';
import { xmlText } from './xml.ts';

const taskName = 'wa-sync';

export interface WindowsWorld {
  env: Readonly<Record<string, string | undefined>>;
  /** `<data>\bin`. */
  binDir: string;
  /** `%APPDATA%`, which holds the Startup folder. */
  roaming: string;
  run: RunProgram;
  /** Ends the daemon that answers, if one does. Never rejects. */
  askDown(): Promise<void>;
  exists(path: string): Promise<boolean>;
  /** Copies a small file over. */
  copy(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
}

/** The task runs: SCHED_S_TASK_RUNNING. */
const running = 0x41301;
/** The task has not yet run: SCHED_S_TASK_HAS_NOT_RUN. */
const notRun = 0x41303;
/** Seconds before a daemon that failed is started again. */
const restartAfter = 5;

export function createSchtasks(world: WindowsWorld): ServiceSystem {
  const { binDir, roaming, run } = world;
  const files = {
    loop: win32.join(binDir, 'wa-sync-service.cmd'),
    hidden: win32.join(binDir, 'wa-sync-service.vbs'),
    task: win32.join(binDir, 'wa-sync-task.xml'),
    startup: win32.join(roaming, ...serviceFiles.startup),
  };
  const schtasks = (...args: string[]) => run('schtasks.exe', args);
  const inspect = `schtasks /Query /TN ${taskName} /V /FO LIST`;
  const startHidden = async () => {
    // `start` returns at once; the script itself runs as long as the daemon.
    const answer = await run('cmd.exe', ['/d', '/c', 'start', '', 'wscript.exe', '//B', '//Nologo', files.hidden]);
    if (answer.code !== 0) throw commandFailed(['wscript', files.hidden], answer, inspect);
  };
  const mustRun = async () => {
    const answer = await schtasks('/Run', '/TN', taskName);
    if (answer.code !== 0) throw commandFailed(['schtasks', '/Run', '/TN', taskName], answer, inspect);
  };
  return {
    name: 'schtasks',
    title: 'Windows scheduled task',
    inspect,
    place: files.task,
    render: (spec) => [
      { path: files.loop, text: renderLoop(spec), mode: 0o700 },
      { path: files.hidden, text: renderHidden(files.loop), mode: 0o600, encoding: 'utf16le' },
      { path: files.task, text: renderTask(files.hidden, userOf(world.env)), mode: 0o600, encoding: 'utf16le' },
    ],
    unavailable: async () => undefined,
    async install() {
      await world.askDown();
      await schtasks('/End', '/TN', taskName);
      const made = await schtasks('/Create', '/TN', taskName, '/XML', files.task, '/F');
      if (made.code === 0) {
        await world.remove(files.startup);
        return mustRun();
      }
      // Access denied by a policy: the Startup folder does the same at each login.
      await world.copy(files.hidden, files.startup);
      await startHidden();
    },
    async uninstall() {
      await world.askDown();
      await schtasks('/End', '/TN', taskName);
      await schtasks('/Delete', '/TN', taskName, '/F');
      await world.remove(files.startup);
    },
    start: async () => ((await world.exists(files.startup)) ? startHidden() : mustRun()),
    async stop() {
      // The loop ends with a daemon that ends in good order.
      await world.askDown();
      await schtasks('/End', '/TN', taskName);
    },
    async state() {
      const { code, stdout } = await schtasks('/Query', '/TN', taskName, '/V', '/FO', 'CSV', '/NH');
      if (code !== 0) return { loaded: await world.exists(files.startup), running: false };
      const result = lastResult(stdout);
      const isRunning = result === running;
      return {
        loaded: true,
        running: isRunning,
        lastExit: isRunning || result === undefined || result === notRun ? undefined : result,
      };
    },
    removed: async () => {},
    notes: async () => [],
  };
}

/** The seventh column of `schtasks /Query /V /FO CSV /NH`; the columns have one order in every language. */
export function lastResult(csv: string): number | undefined {
  const line = csv.split(/\r?\n/).find((each) => each.startsWith('"')) ?? '';
  const text = line.slice(1).split('","')[6] ?? '';
  return /^-?\d{1,10}$/.test(text) ? Number(text) : undefined;
}

function userOf(env: WindowsWorld['env']): string {
  return env.USERDOMAIN ? `${env.USERDOMAIN}\\${env.USERNAME ?? ''}` : (env.USERNAME ?? '');
}

/** The task scheduler starts a task again only when it could not be started, so the loop is here; codes 0, 2 and 3 end it. */
function renderLoop({ launcher, args, env, errorFile, home }: ServiceSpec): string {
  return [
    '@echo off',
    'rem Keeps the daemon running. Written by `wa-sync service install`, which also replaces it.',
    'setlocal',
    'chcp 65001 >nul',
    ...Object.entries(env).map(([name, value]) => `set "${name}=${cmdText(value)}"`),
    `cd /d "${cmdText(home)}"`,
    ':again',
    `call "${cmdText(launcher)}" ${args.join(' ')} >nul 2>"${cmdText(errorFile)}"`,
    'for %%C in (0 2 3) do if %errorlevel% equ %%C exit /b %%C',
    // `timeout` wants a console.
    `ping -n ${restartAfter + 1} 127.0.0.1 >nul`,
    'goto again',
    '',
  ].join('\r\n');
}

/** Without a window. */
function renderHidden(loop: string): string {
  return `WScript.Quit CreateObject("WScript.Shell").Run("""${loop}""", 0, True)\r\n`;
}

function renderTask(hidden: string, user: string): string {
  const text = `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>wa-sync, the mailbox between phone and coding agent</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
      <UserId>${xmlText(user)}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>${xmlText(user)}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <AllowHardTerminate>true</AllowHardTerminate>
    <StartWhenAvailable>true</StartWhenAvailable>
    <RunOnlyIfNetworkAvailable>false</RunOnlyIfNetworkAvailable>
    <IdleSettings>
      <StopOnIdleEnd>false</StopOnIdleEnd>
    </IdleSettings>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>6</Priority>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>wscript.exe</Command>
      <Arguments>//B //Nologo "${xmlText(hidden)}"</Arguments>
    </Exec>
  </Actions>
</Task>
`;
  return text.replaceAll('\n', '\r\n');
}
