// The hooks of wa-sync in Claude Code's settings: nothing else is touched, to the byte, and no trace is left.

import { chmod, lstat, mkdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claude } from '../../../../agent/drivers/claude/driver.ts';
import { installer } from '../../../../agent/drivers/claude/install.ts';
import { hookTable } from '../../../../agent/drivers/claude/install-table.ts';
import type { HookScope, InstallDirs } from '../../../../agent/drivers/workstation.ts';
import type { TemporaryHome } from '../../../helpers/home.ts';
import { eachInstallation } from '../../../helpers/installation.ts';

let place: TemporaryHome;
let dirs: InstallDirs;
eachInstallation((ground) => {
  ({ place, dirs } = ground);
});

const newer = () => ({ ...dirs, version: '0.2.0' });
const relative = (scope: HookScope) =>
  scope === 'user' ? 'dev/.claude/settings.json' : 'dev/project/.claude/settings.local.json';
const fileOf = (scope: HookScope) => join(place.root, relative(scope));
const expected = () => Object.fromEntries(hookTable.events.map((event) => [event, [hookTable.groupOf(event, dirs)]]));

const mine = { matcher: 'Bash', hooks: [{ type: 'command', command: 'mine', timeout: 5 }] };

/** Settings as people have them; each must come back to the byte. */
const documents: Record<string, string> = {
  'no hooks': '{\n  "model": "opus",\n  "list": ["a","b"],   "odd" : {}\n}\n',
  'an empty object': '{}',
  'one line': '{"model":"opus","hooks":{"PostToolUse":[]}}',
  'three spaces, and no end of the last line': '{\n   "model": "opus",\n   "env": {\n      "A": "b"\n   }\n}',
  'tabs and CRLF': '{\r\n\t"model": "opus",\r\n\t"hooks": {}\r\n}\r\n',
  'hooks of the user at the same events': `${JSON.stringify({ hooks: { Stop: [mine], PreToolUse: [mine] }, z: 1 }, null, 4)}\n`,
  'hooks of the user on one line': '{\n  "hooks": {"Stop": [{"hooks":[{"type":"command","command":"mine"}]}]}\n}',
  'a hook of the user that only names the launcher':
    '{\n  "hooks": {"Stop": [{"hooks":[{"type":"command","command":"echo wa-hook claude"}]}]}\n}\n',
};

describe.each(['user', 'project'] as const)('settings of the scope %s', (scope) => {
  it.each(Object.entries(documents))('with %s get the hooks, and come back to the byte', async (_, text) => {
    await place.write(relative(scope), text, 0o640);
    const before = await place.snapshot();
    expect(await installer.install(dirs, scope)).toMatchObject({ place: fileOf(scope), current: true });
    const original = JSON.parse(text);
    const hooks = { ...original.hooks };
    for (const [event, groups] of Object.entries(expected())) hooks[event] = [...(hooks[event] ?? []), ...groups];
    expect(JSON.parse(await readFile(fileOf(scope), 'utf8'))).toEqual({ ...original, hooks });
    expect((await stat(fileOf(scope))).mode & 0o777).toBe(0o640);
    const installed = await place.snapshot();
    await installer.install(dirs, scope);
    expect(await place.snapshot()).toEqual(installed);
    await installer.install(newer(), scope);
    expect(await installer.uninstall(newer(), undefined)).toEqual([fileOf(scope)]);
    expect(await place.snapshot()).toEqual(before);
  });

  it('are made where there are none, and are gone with their folders afterwards', async () => {
    const before = await place.snapshot();
    const status = await installer.install(dirs, scope);
    expect(status).toMatchObject({ installed: true, version: '0.1.0', launcherExists: true, current: true });
    expect((await installer.list(dirs)).find((each) => each.scope === scope)).toEqual(status);
    await installer.uninstall(dirs, scope);
    expect(await place.snapshot()).toEqual(before);
    expect(await installer.uninstall(dirs, undefined)).toEqual([]);
  });

  it('lose the entries of an older version, and keep what the user wrote meanwhile', async () => {
    const old = { type: 'command', command: "exec '/old/hooks-claude/0.0.1/wa-hook' claude Stop 60 hold '/run'" };
    const lost = { ...old, command: old.command.replace('Stop', 'EventOfYesterday') };
    const text = JSON.stringify({ hooks: { Stop: [{ hooks: [old, mine.hooks[0]] }], Gone: [{ hooks: [lost] }] } });
    await place.write(relative(scope), text);
    await installer.install(dirs, scope);
    const { hooks } = JSON.parse(await readFile(fileOf(scope), 'utf8'));
    const [own] = expected().Stop ?? [];
    expect([hooks.Stop, hooks.Gone]).toEqual([[{ hooks: [own?.hooks[0], mine.hooks[0]] }], undefined]);
    const changed = JSON.stringify({ model: 'opus', hooks: { ...hooks, PreToolUse: [...hooks.PreToolUse, mine] } });
    await writeFile(fileOf(scope), changed);
    await installer.uninstall(dirs, scope);
    expect(JSON.parse(await readFile(fileOf(scope), 'utf8'))).toEqual({
      model: 'opus',
      hooks: { Stop: [{ hooks: mine.hooks }], PreToolUse: [mine] },
    });
  });

  it.each([
    ['no text', ''],
    ['half an object', '{"model":'],
    ['a list', '[]'],
    ['hooks as a list', '{"hooks":[]}'],
    ['an event that is not a list', '{"hooks":{"Stop":{}}}'],
  ])('with %s are refused, and stay as they are', async (_, text) => {
    await place.write(relative(scope), text);
    const before = await place.snapshot();
    const refusal = expect.objectContaining({ code: 'settings_unreadable', hint: expect.any(String) });
    await expect(installer.install(dirs, scope)).rejects.toThrow(refusal);
    expect(await place.snapshot()).toEqual(before);
    expect(await installer.uninstall(dirs, undefined)).toEqual([]);
    expect(await place.snapshot()).toEqual(before);
  });

  it('that were damaged later are named by uninstall, which still takes the launcher away, and are cleaned once they are mended', async () => {
    await installer.install(dirs, scope);
    const whole = await readFile(fileOf(scope), 'utf8');
    await writeFile(fileOf(scope), `{\n${whole}`);
    await expect(installer.uninstall(dirs, undefined)).rejects.toThrow(
      expect.objectContaining({ code: 'settings_unreadable', hint: expect.stringContaining("wa-hook' claude ") }),
    );
    expect(Object.keys(await place.snapshot()).filter((path) => path.endsWith('/wa-hook'))).toEqual([
      'package/wa-hook',
    ]);
    await writeFile(fileOf(scope), whole);
    expect(await installer.uninstall(dirs, undefined)).toEqual([fileOf(scope)]);
  });

  it('that may only be read stay so', async () => {
    await place.write(relative(scope), '{}', 0o444);
    const before = await place.snapshot();
    await installer.install(dirs, scope);
    expect((await stat(fileOf(scope))).mode & 0o777).toBe(0o444);
    await installer.uninstall(dirs, scope);
    expect(await place.snapshot()).toEqual(before);
  });
});

describe('a link in place of the settings', () => {
  const target = () => join(place.home, 'dotfiles', 'claude.json');

  async function linked(scope: HookScope): Promise<void> {
    await mkdir(join(fileOf(scope), '..'), { recursive: true });
    await symlink(target(), fileOf(scope));
  }

  it('of a user stays, and the file behind it is edited and comes back to the byte', async () => {
    await place.write('dev/dotfiles/claude.json', documents['no hooks'] ?? '', 0o600);
    await linked('user');
    const before = await readFile(target(), 'utf8');
    await installer.install(dirs, 'user');
    expect(JSON.parse(await readFile(target(), 'utf8')).hooks).toEqual(expected());
    expect(await readlink(fileOf('user'))).toBe(target());
    await installer.uninstall(dirs, undefined);
    expect([await readFile(target(), 'utf8'), await readlink(fileOf('user'))]).toEqual([before, target()]);
  });

  it.each(['user', 'project'] as const)('to nowhere, in the scope %s, is refused and stays', async (scope) => {
    await linked(scope);
    await expect(installer.install(dirs, scope)).rejects.toThrow(
      expect.objectContaining({ code: 'file_unusable', hint: expect.any(String) }),
    );
    expect((await lstat(fileOf(scope))).isSymbolicLink()).toBe(true);
    expect(await installer.uninstall(dirs, 'user')).toEqual([]);
  });

  it('of a project is refused, because a clone could lead anywhere with it', async () => {
    await place.write('dev/dotfiles/claude.json', '{}');
    await linked('project');
    await expect(installer.install(dirs, 'project')).rejects.toThrow(
      expect.objectContaining({ code: 'file_unusable', hint: expect.stringContaining('--scope user') }),
    );
    expect(await readFile(target(), 'utf8')).toBe('{}');
  });
});

describe('a settings folder of its own', () => {
  it('is the one of CLAUDE_CONFIG_DIR, and is cleaned also when the variable is gone', async () => {
    const before = await place.snapshot();
    const moved = { ...dirs, env: { CLAUDE_CONFIG_DIR: join(place.home, 'elsewhere') } };
    const file = join(place.home, 'elsewhere', 'settings.json');
    expect(await installer.install(moved, 'user')).toMatchObject({ place: file, installed: true });
    expect(await installer.uninstall(dirs, undefined)).toEqual([file]);
    expect(await place.snapshot()).toEqual(before);
  });
});

it('several installations share a launcher until the last one is removed', async () => {
  const before = await place.snapshot();
  await installer.install(dirs, 'user');
  await installer.install(newer(), 'project');
  const versions = async () =>
    Object.keys(await place.snapshot()).filter((path) => /hooks-claude\/[\d.]+$/.test(path)).length;
  expect(await versions()).toBe(2);
  await installer.uninstall(dirs, 'user');
  expect(await versions()).toBe(1);
  await installer.uninstall(dirs, 'project');
  expect(await place.snapshot()).toEqual(before);
});

it('each event has the seconds of the driver, only what is held says so on the screen, and no text waits for its hook', () => {
  for (const event of hookTable.events) {
    const [entry] = hookTable.groupOf(event, dirs).hooks;
    expect([event, entry.timeout]).toEqual([event, claude.maxSeconds(event)]);
    expect([event, entry.async === true]).toEqual([event, event === 'MessageDisplay']);
    expect([event, entry.statusMessage !== undefined]).toEqual([
      event,
      event === 'Stop' || event === 'PermissionRequest',
    ]);
  }
  expect(hookTable.groupOf('Stop', { ...dirs, platform: 'win32' }).hooks[0]).toMatchObject({ shell: 'powershell' });
});

it('an installation that was interrupted before the settings were written is removed without a trace', async () => {
  await place.write(relative('user'), '{}');
  await chmod(join(place.home, '.claude'), 0o755);
  const before = await place.snapshot();
  await chmod(join(place.home, '.claude'), 0o500);
  const outcome = await installer.install(dirs, 'user').catch((cause) => cause);
  await chmod(join(place.home, '.claude'), 0o755);
  // Root may write all the same.
  if (process.getuid?.() !== 0) expect(outcome).toMatchObject({ code: 'file_unusable' });
  await installer.uninstall(dirs, undefined);
  expect(await place.snapshot()).toEqual(before);
});
