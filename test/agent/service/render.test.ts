// The files of the service as each system gets them: golden files in test/fixtures/service, and what the systems' own tools say.

import { execFileSync } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLaunchd } from '../../../agent/service/launchd.ts';
import { cmdLauncher, shLauncher } from '../../../agent/service/launcher.ts';
import { createSchtasks, lastResult } from '../../../agent/service/schtasks.ts';
import type { RunProgram, ServiceSpec } from '../../../agent/service/system.ts';
import { createSystemd } from '../../../agent/service/systemd.ts';
import { temporaryFolder } from '../../helpers/surroundings.ts';

const golden = (name: string) => join(import.meta.dirname, '..', '..', 'fixtures', 'service', name);
const unused: RunProgram = () => Promise.reject(new Error('rendering runs nothing'));
const nothing = async () => {};

const posix: ServiceSpec = {
  launcher: '/home/ada/.local/share/wa-sync/bin/wa-sync',
  args: ['start', '--quiet', '--service', 'systemd'],
  env: {
    PATH: '/usr/local/bin:/usr/bin:/bin:/home/ada/tools/bin',
    WA_CONFIG_DIR: '/home/ada/.config/wa-sync',
    WA_STATE_DIR: '/home/ada/my state & 100%/$HOME "x" \\y',
    WA_RUNTIME_DIR: '/run/user/1000/wa-sync',
  },
  errorFile: '/home/ada/.local/state/wa-sync/start.log',
  home: '/home/ada',
};
const windows: ServiceSpec = {
  launcher: 'C:\\Users\\Ada & Co\\AppData\\Local\\wa-sync\\bin\\wa-sync.cmd',
  args: ['start', '--quiet', '--service', 'schtasks'],
  env: { WA_CONFIG_DIR: 'C:\\Users\\Ada & Co\\100%', WA_STATE_DIR: 'C:\\state', WA_RUNTIME_DIR: 'C:\\state\\run' },
  errorFile: 'C:\\state\\start.log',
  home: 'C:\\Users\\Ada & Co',
};

const systemd = (configHome: string) =>
  createSystemd({ configHome, env: {}, uid: 1000, user: 'ada', isWsl: false, run: unused });
const launchd = createLaunchd({ home: '/Users/ada', uid: 501, run: unused, pause: nothing });
const schtasks = createSchtasks({
  env: { USERDOMAIN: 'DESK', USERNAME: 'Ada & Co' },
  binDir: 'C:\\Users\\Ada & Co\\AppData\\Local\\wa-sync\\bin',
  roaming: 'C:\\Users\\Ada & Co\\AppData\\Roaming',
  run: unused,
  askDown: nothing,
  exists: async () => false,
  copy: nothing,
  remove: nothing,
});

describe('the systemd unit', () => {
  it('restarts after a crash, and neither after a wrong configuration nor after another start took over', async () => {
    const [unit] = systemd('/home/ada/.config').render(posix);
    expect(unit).toMatchObject({ path: '/home/ada/.config/systemd/user/wa-sync.service', mode: 0o644 });
    await expect(unit?.text).toMatchFileSnapshot(golden('wa-sync.service'));
  });

  const hasAnalyze = (() => {
    try {
      execFileSync('systemd-analyze', ['--version'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  })();
  it.skipIf(!hasAnalyze)('is what systemd itself takes without a word (skipped without systemd-analyze)', async () => {
    const dir = await temporaryFolder();
    const bin = join(dir, 'a b %h "q"', 'wa-sync');
    await mkdir(join(bin, '..'), { recursive: true });
    await writeFile(bin, '#!/bin/sh\n');
    await chmod(bin, 0o755);
    const [unit] = systemd(dir).render({ ...posix, launcher: bin });
    const file = join(dir, 'wa-sync.service');
    await writeFile(file, unit?.text ?? '');
    const env = { ...process.env, XDG_RUNTIME_DIR: dir, SYSTEMD_LOG_LEVEL: 'warning' };
    const said = execFileSync('sh', ['-c', 'systemd-analyze --user verify "$1" 2>&1', 'sh', file], { env }).toString();
    expect(said).toBe('');
    // Without it the silence would prove nothing.
    await writeFile(file, (unit?.text ?? '').replace('KillMode=mixed', 'KillMode=bogus'));
    const wrong = execFileSync('sh', ['-c', 'systemd-analyze --user verify "$1" 2>&1 || true', 'sh', file], { env });
    expect(wrong.toString()).toContain('bogus');
  });
});

/** Throws where a tag is not closed, or a sign stands bare. Returns the names of all elements. */
function elements(xml: string): string[] {
  for (const [, comment] of xml.matchAll(/<!--(.*?)-->/gs)) {
    if (comment?.includes('--')) throw new Error(`not allowed in a comment: ${comment}`);
  }
  const open: string[] = [];
  const names: string[] = [];
  for (const [, text = '', close, name = '', empty] of xml
    .replace(/<[?!][^>]*>/g, '')
    .matchAll(/([^<]*)<(\/?)([\w.]+)[^<>]*?(\/?)>/g)) {
    if (/&(?!amp;|lt;|gt;|quot;)|>/.test(text)) throw new Error(`a bare sign: ${text}`);
    if (close) {
      if (open.pop() !== name) throw new Error(`</${name}> closes another element`);
    } else {
      names.push(name);
      if (!empty) open.push(name);
    }
  }
  if (open.length > 0) throw new Error(`not closed: ${open}`);
  return names;
}

describe('the launchd agent', () => {
  it('is kept alive unless it ends with 0, and is well-formed', async () => {
    const [plist] = launchd.render({ ...posix, args: ['start', '--quiet', '--service', 'launchd'] });
    expect(plist).toMatchObject({ path: '/Users/ada/Library/LaunchAgents/dev.wa-sync.daemon.plist', mode: 0o644 });
    expect(elements(plist?.text ?? '')).toContain('plist');
    await expect(plist?.text).toMatchFileSnapshot(golden('agent.plist'));
  });
});

describe('the Windows task', () => {
  it('starts a loop without a window at each login, without elevation and without a time limit', async () => {
    const files = schtasks.render(windows);
    expect(files.map(({ path, encoding }) => [path.slice(path.lastIndexOf('\\') + 1), encoding])).toEqual([
      ['wa-sync-service.cmd', undefined],
      ['wa-sync-service.vbs', 'utf16le'],
      ['wa-sync-task.xml', 'utf16le'],
    ]);
    const [loop, hidden, task] = files.map(({ text }) => {
      expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
      return text.replaceAll('\r\n', '\n');
    });
    expect(elements(task ?? '')).toContain('LogonTrigger');
    await expect(loop).toMatchFileSnapshot(golden('wa-sync-service.cmd'));
    await expect(hidden).toMatchFileSnapshot(golden('wa-sync-service.vbs'));
    await expect(task).toMatchFileSnapshot(golden('wa-sync-task.xml'));
  });

  it('is read by its number, whatever the language', () => {
    const german =
      '"DESK","\\wa-sync","Nicht zutreffend","Wird ausgeführt","Nur interaktiv","22.11.2026 10:00:00","267009","DESK\\Ada"\r\n';
    expect(lastResult(german)).toBe(0x41301);
    expect(lastResult('')).toBeUndefined();
    expect(lastResult('"a","b"\r\n')).toBeUndefined();
  });
});

it('the launchers name the program, and each place where a Node may be', async () => {
  const recorded = ['/home/ada/.volta/bin/node', "/home/ada/it's/node"];
  const sh = shLauncher({ program: '/home/ada/app/dist/wa-sync.js', recorded, home: '/home/ada' });
  await expect(sh).toMatchFileSnapshot(golden('wa-sync.sh'));
  const cmd = cmdLauncher({
    program: 'C:\\100%\\dist\\wa-sync.js',
    recorded: ['C:\\Tools\\node.exe'],
    home: 'C:\\Users\\Ada',
  });
  expect(cmd.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  await expect(cmd.replaceAll('\r\n', '\n')).toMatchFileSnapshot(golden('wa-sync.cmd'));
});
