import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { devPlace, devVariables } from '../../agent/dev/variables.ts';
import { directories, starterOf } from '../../agent/paths.ts';
import { launcherFile } from '../hooks/launcher-run.ts';

const home = '/home/dev';
const xdg = { XDG_CONFIG_HOME: '/x/c', XDG_STATE_HOME: '/x/s', XDG_DATA_HOME: '/x/d', XDG_CACHE_HOME: '/x/k' };

describe.skipIf(process.platform === 'win32')('the directories', () => {
  const cases: [string, Parameters<typeof directories>[0], Partial<ReturnType<typeof directories>>][] = [
    [
      'of Linux follow the home',
      { env: {}, platform: 'linux', home },
      {
        config: '/home/dev/.config/wa-sync',
        state: '/home/dev/.local/state/wa-sync',
        runtime: '/home/dev/.local/state/wa-sync/run',
        data: '/home/dev/.local/share/wa-sync',
        cache: '/home/dev/.cache/wa-sync',
      },
    ],
    [
      'of Linux follow XDG',
      { env: { ...xdg, XDG_RUNTIME_DIR: '/run/user/1000' }, platform: 'linux', home },
      {
        config: '/x/c/wa-sync',
        state: '/x/s/wa-sync',
        runtime: '/run/user/1000/wa-sync',
        data: '/x/d/wa-sync',
        cache: '/x/k/wa-sync',
      },
    ],
    [
      'of macOS keep the socket in the private temporary directory',
      { env: { TMPDIR: '/var/folders/x/T/' }, platform: 'darwin', home },
      { runtime: '/var/folders/x/T/wa-sync' },
    ],
    [
      'never use TMPDIR elsewhere, where it may be everybody’s',
      { env: { TMPDIR: '/tmp' }, platform: 'linux', home },
      { runtime: '/home/dev/.local/state/wa-sync/run' },
    ],
    [
      'can be moved one by one',
      { env: { ...xdg, WA_CONFIG_DIR: '/a', WA_STATE_DIR: '/b', WA_RUNTIME_DIR: '/r' }, platform: 'linux', home },
      { config: '/a', state: '/b', runtime: '/r', data: '/x/d/wa-sync' },
    ],
  ];
  it.each(cases)('%s', (_, input, expected) => {
    expect(directories(input)).toMatchObject(expected);
  });
});

it('the launcher knows the same rule for the runtime directory', () => {
  const script = readFileSync(launcherFile, 'utf8');
  for (const variable of ['WA_RUNTIME_DIR', 'XDG_RUNTIME_DIR', 'TMPDIR']) expect(script).toContain(variable);
});

it('the daemon of wa-sync dev is started by wa-sync dev, every other one by wa-sync start', () => {
  const { baseDir, runtimeDir } = devPlace({ state: '/s', runtime: '/r' }, '/home/dev/shop');
  expect(starterOf(devVariables(baseDir, runtimeDir).WA_CONFIG_DIR)).toBe('wa-sync dev');
  expect(starterOf('/home/dev/.config/wa-sync')).toBe('wa-sync start');
});
