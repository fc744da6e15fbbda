// How launchd and the task scheduler of Windows are called: what is tried again, where the second choice lies, and what is no error.

import { describe, expect, it } from 'vitest';
import { createLaunchd } from '../../../agent/service/launchd.ts';
import { createSchtasks } from '../../../agent/service/schtasks.ts';
import type { RunProgram } from '../../../agent/service/system.ts';

type Answer = { code: number; stdout?: string; stderr?: string };

/** A program that writes down its calls and answers as it is told. */
function scripted(answer: (command: string) => Answer): { run: RunProgram; calls: string[] } {
  const calls: string[] = [];
  return {
    calls,
    run: async (program, args) => {
      const command = [program, ...args].join(' ');
      calls.push(command);
      return { stdout: '', stderr: '', ...answer(command) };
    },
  };
}

describe('launchd', () => {
  const job = 'dev.wa-sync.daemon';
  const plist = `/Users/ada/Library/LaunchAgents/${job}.plist`;

  function launchd(answer: (command: string) => Answer) {
    const { run, calls } = scripted(answer);
    return { calls, system: createLaunchd({ home: '/Users/ada', uid: 501, run, pause: async () => {} }) };
  }

  it('is asked again while the earlier job still unloads', async () => {
    let unloading = 2;
    let busy = 2;
    const { system, calls } = launchd((command) => {
      if (command.startsWith('launchctl print gui')) return { code: unloading > 0 ? 0 : 113 };
      if (command.startsWith('launchctl print')) return { code: 113 };
      if (command.startsWith('launchctl bootout')) unloading -= 1;
      if (command.startsWith('launchctl bootstrap')) return { code: busy-- > 0 ? 5 : 0 };
      return { code: 0 };
    });
    await system.install();
    const told = calls.filter((call) => !call.startsWith('launchctl print'));
    expect(told).toEqual([
      `launchctl bootout gui/501/${job}`,
      `launchctl bootout gui/501/${job}`,
      `launchctl enable gui/501/${job}`,
      ...Array<string>(3).fill(`launchctl bootstrap gui/501 ${plist}`),
    ]);
  });

  it('gets the job into the domain of the user where no desktop is logged in', async () => {
    const { system, calls } = launchd((command) => ({
      code: command.startsWith('launchctl print') ? 113 : command.includes(' gui/') ? 125 : 0,
    }));
    await system.install();
    expect(calls.at(-1)).toBe(`launchctl bootstrap user/501 ${plist}`);
  });

  it('that refuses is quoted with its first line', async () => {
    const { system } = launchd((command) => ({
      code: command.startsWith('launchctl print') ? 113 : 125,
      stderr: 'Domain does not support specified action\nmore\n',
    }));
    await expect(system.install()).rejects.toMatchObject({
      code: 'service_failed',
      message: expect.stringMatching(/ended with code 125: Domain does not support specified action$/),
    });
  });

  it('is read for two numbers', async () => {
    const text = (more: string) => `gui/501/${job} = {\n\tactive count = 1\n${more}}\n`;
    let printed = text('\tpid = 4711\n\tlast exit code = 1\n');
    const { system } = launchd(() => ({ code: 0, stdout: printed }));
    expect(await system.state()).toEqual({ loaded: true, running: true, pid: 4711, lastExit: undefined });
    printed = text('\tlast exit code = 1\n');
    expect(await system.state()).toEqual({ loaded: true, running: false, lastExit: 1 });
    printed = text('\tlast exit code = (never exited)\n');
    expect(await system.state()).toEqual({ loaded: true, running: false, lastExit: undefined });
  });
});

describe('the task scheduler', () => {
  const bin = 'C:\\data\\bin';
  const startup = 'C:\\roaming\\Microsoft\\Windows\\Start Menu\\Programs\\Startup\\wa-sync.vbs';

  function schtasks(answer: (command: string) => Answer) {
    const { run, calls } = scripted(answer);
    const files = new Set<string>();
    const system = createSchtasks({
      env: {},
      binDir: bin,
      roaming: 'C:\\roaming',
      run,
      askDown: async () => void calls.push('down'),
      exists: async (path) => files.has(path),
      copy: async (_from, to) => void files.add(to),
      remove: async (path) => void files.delete(path),
    });
    return { system, calls, files };
  }

  it('gets the task without elevation, and starts it', async () => {
    const { system, calls } = schtasks(() => ({ code: 0 }));
    await system.install();
    expect(calls).toEqual([
      'down',
      'schtasks.exe /End /TN wa-sync',
      `schtasks.exe /Create /TN wa-sync /XML ${bin}\\wa-sync-task.xml /F`,
      'schtasks.exe /Run /TN wa-sync',
    ]);
  });

  it('that denies access is replaced by the Startup folder, and a later task replaces that', async () => {
    let denied = true;
    const { system, calls, files } = schtasks((command) => ({
      code: denied && !command.startsWith('cmd.exe') ? 1 : 0,
    }));
    await system.install();
    expect([...files]).toEqual([startup]);
    expect(calls.at(-1)).toBe(`cmd.exe /d /c start  wscript.exe //B //Nologo ${bin}\\wa-sync-service.vbs`);
    expect(await system.state()).toEqual({ loaded: true, running: false });
    denied = false;
    await system.install();
    expect([...files]).toEqual([]);
  });

  it('says with a number how the last run ended', async () => {
    let result = '267009';
    const { system } = schtasks(() => ({ code: 0, stdout: `"D","\\wa-sync","N/A","?","?","?","${result}","x"\r\n` }));
    expect(await system.state()).toEqual({ loaded: true, running: true, lastExit: undefined });
    result = '2';
    expect(await system.state()).toEqual({ loaded: true, running: false, lastExit: 2 });
    result = '267011';
    expect(await system.state()).toEqual({ loaded: true, running: false, lastExit: undefined });
  });
});
