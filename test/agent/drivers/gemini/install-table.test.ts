import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gemini } from '../../../../agent/drivers/gemini/driver.ts';
import { installer } from '../../../../agent/drivers/gemini/install.ts';
import { hookEvents, hookGroup } from '../../../../agent/drivers/gemini/install-table.ts';
import { parseCommand } from '../../../../agent/drivers/install/command.ts';
import { modeOf } from '../../../../agent/drivers/registry.ts';
import type { InstallDirs } from '../../../../agent/drivers/workstation.ts';
import type { TemporaryHome } from '../../../helpers/home.ts';
import { eachInstallation, projectSettings } from '../../../helpers/installation.ts';

let place: TemporaryHome;
let dirs: InstallDirs;
const moveBelow = eachInstallation((ground) => {
  ({ place, dirs } = ground);
});

const settings = () => projectSettings(dirs);

describe('the installed command', () => {
  // A bash that is nobody's child and has a socket for stdin reads ~/.bashrc; SHLVL tells it better.
  const runs = async (command: string) => {
    const child = spawn('bash', ['-c', command], {
      env: { PATH: process.env.PATH ?? '', WA_RUNTIME_DIR: place.root, SHLVL: '1' },
    });
    const output = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => (output.stdout += chunk));
    child.stderr.on('data', (chunk) => (output.stderr += chunk));
    child.stdin.on('error', () => {});
    child.stdin.end('{}');
    const code = await new Promise((resolve) => child.on('close', resolve));
    return { code, ...output };
  };

  // As Gemini CLI 0.61.0 does before a shell sees the string: its own variables in any hook, the environment's in settings.
  const expand = (command: string) =>
    command
      .replace(/\$(GEMINI_PROJECT_DIR|GEMINI_CWD|GEMINI_PLANS_DIR|GEMINI_SESSION_ID|CLAUDE_PROJECT_DIR)/g, 'EXPANDED')
      .replace(/\$(?:(\w+)|{([^}]+)})/g, (whole, plain, braced) => process.env[plain ?? braced] ?? whole);

  it.each(['plain', `it's a "dir" with $HOME \${HOME} $GEMINI_CWD \`id\` $(id) \\ *'`, '-n; exit 1', "'", "$'"])(
    'reaches the launcher below a folder named %s, and is harmless without it',
    async (name) => {
      await moveBelow(name);
      for (const scope of ['user', 'project'] as const) {
        await installer.install(dirs, scope);
        const hooksFile =
          scope === 'project' ? settings() : join(dirs.dataDir, 'gemini-extension', '0.1.0', 'hooks', 'hooks.json');
        const { command } = JSON.parse(readFileSync(hooksFile, 'utf8')).hooks.BeforeAgent[0].hooks[0];
        const target = join(dirs.dataDir, 'hooks', '0.1.0', 'wa-hook');
        expect(parseCommand(command)).toEqual({ target, directories: dirs.directories });
        expect(await runs(expand(command))).toEqual({ code: 0, stdout: '{"from":"fallback"}\n', stderr: '' });
        await rm(target);
        expect(await runs(expand(command))).toEqual({ code: 0, stdout: '', stderr: '' });
        await rm(dirs.dataDir, { recursive: true });
        expect(await runs(expand(command))).toEqual({ code: 0, stdout: '', stderr: '' });
      }
    },
  );

  it('has a timeout that Gemini CLI can count, and tells the launcher the same', () => {
    for (const event of hookEvents) {
      const seconds = gemini.maxSeconds(event) ?? 0;
      const [entry] = hookGroup(event, { ...dirs, dataDir: '/d', directories: ['/r', '/c', "/it's"] }).hooks;
      expect(entry).toEqual({
        type: 'command',
        // The CLI shows the name while the hook runs: of the wait for the phone, a person sees nothing else.
        name: event === 'AfterAgent' ? expect.stringMatching(/^wa-sync-AfterAgent \(.*any key/) : `wa-sync-${event}`,
        command: `[ -x '/d/hooks/0.1.0/wa-hook' ] || exit 0; exec '/d/hooks/0.1.0/wa-hook' gemini ${event} ${seconds} ${modeOf('gemini', event)} '/r' '/c' '/it'\\''s'`,
        timeout: seconds * 1000,
      });
      expect(entry.timeout).toBeLessThan(2 ** 31);
    }
  });

  it('lets the launcher wait at the end of a turn, and behind the gate of a tool', () => {
    expect(hookEvents.filter((event) => modeOf('gemini', event) !== 'now')).toEqual(['BeforeTool', 'AfterAgent']);
    expect([modeOf('gemini', 'BeforeTool'), modeOf('gemini', 'AfterAgent')]).toEqual(['gate', 'hold']);
  });

  it('runs the fallback by itself on Windows and ends well in any case', () => {
    const directories = ['C:\\a b\\run', 'C:\\\u2019s', "C:\\it's"];
    const [{ command }] = hookGroup('BeforeAgent', {
      ...dirs,
      dataDir: "C:\\it's",
      platform: 'win32',
      directories,
    }).hooks;
    const file = "'C:\\it''s\\hooks\\0.1.0\\wa-hook-fallback.cjs'";
    expect(command).toBe(
      `if (Test-Path -LiteralPath ${file}) { Remove-Item Env:NODE_OPTIONS, Env:NODE_PATH -ErrorAction Ignore; node ${file} gemini BeforeAgent 60 0 0 'C:\\a b\\run' 'C:\\\u2019\u2019s' 'C:\\it''s' 2>$null }; exit 0`,
    );
    expect(parseCommand(command)).toEqual({
      target: "C:\\it's\\hooks\\0.1.0\\wa-hook-fallback.cjs",
      directories,
    });
  });

  it.each([
    ['another program', 'echo of another'],
    ['two launchers', "[ -x '/d/wa-hook' ] || exit 0; exec '/e/wa-hook' gemini BeforeTool 86400 gate '/r'"],
  ])('that runs %s is not one of wa-sync', (_, command) => {
    expect(parseCommand(command)).toBeUndefined();
  });
});
