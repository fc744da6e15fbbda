import { readFile, stat, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { installer } from '../../../../agent/drivers/gemini/install.ts';
import type { InstallDirs } from '../../../../agent/drivers/workstation.ts';
import type { TemporaryHome } from '../../../helpers/home.ts';
import { eachInstallation, expectedHooks, projectSettings } from '../../../helpers/installation.ts';

let place: TemporaryHome;
let dirs: InstallDirs;
eachInstallation((ground) => {
  ({ place, dirs } = ground);
});

const settings = () => projectSettings(dirs);
const newer = () => ({ ...dirs, version: '0.2.0' });
const expected = () => expectedHooks(dirs);

const userHook = { matcher: 'x', hooks: [{ type: 'command', name: 'mine', command: 'true' }] };

/** Settings as people have them; each must come back to the byte. */
const documents: Record<string, string> = {
  'no hooks': '{\n  "theme": "dark",\n  "list": ["a","b"],   "odd" : {}\n}\n',
  'an empty object': '{}',
  'one line': '{"theme":"dark","hooks":{"AfterTool":[]}}',
  'tabs and CRLF': '{\r\n\t"theme": "dark",\r\n\t"hooks": {}\r\n}\r\n',
  'hooks of the user': `${JSON.stringify({ hooks: { BeforeAgent: [userHook], AfterModel: [userHook] }, z: 1 }, null, 4)}\n`,
  'hooks of the user on one line':
    '{\n  "hooks": {"BeforeAgent": [{"hooks":[{"type":"command","command":"true"}]}]}\n}',
  'a BOM': '\ufeff{\n  "theme": "dark"\n}\n',
  'an empty list': '{\n  "hooks": {\n    "SessionEnd": []\n  }\n}\n',
};

describe('project settings', () => {
  it.each(Object.entries(documents))(
    'with %s get the entries of wa-sync, and uninstall restores every byte',
    async (_, text) => {
      await place.write('dev/project/.gemini/settings.json', text, 0o640);
      const before = await place.snapshot();
      await installer.install(dirs, 'project');
      const installed = (await readFile(settings(), 'utf8')).replace(/^\ufeff/, '');
      const original = JSON.parse(text.replace(/^\ufeff/, ''));
      const hooks = { ...original.hooks };
      for (const [event, groups] of Object.entries(expected())) hooks[event] = [...(hooks[event] ?? []), ...groups];
      expect(JSON.parse(installed)).toEqual({ ...original, hooks });
      expect((await stat(settings())).mode & 0o777).toBe(0o640);
      await installer.install(newer(), 'project');
      await installer.install(dirs, 'project');
      await installer.uninstall(dirs, undefined);
      expect(await place.snapshot()).toEqual(before);
    },
  );

  it('keep what the user changed after the installation', async () => {
    await place.write('dev/project/.gemini/settings.json', '{\n  "theme": "dark"\n}\n');
    await installer.install(dirs, 'project');
    const changed = JSON.parse(await readFile(settings(), 'utf8'));
    changed.hooks.BeforeAgent[0].hooks.unshift(userHook.hooks[0]);
    changed.hooks.AfterTool.push(userHook);
    changed.theme = 'light';
    await writeFile(settings(), JSON.stringify(changed, null, 2));
    await installer.uninstall(dirs, 'project');
    const hooks = { BeforeAgent: [{ hooks: userHook.hooks }], AfterTool: [userHook] };
    expect(JSON.parse(await readFile(settings(), 'utf8'))).toEqual({ theme: 'light', hooks });
  });

  it('that the user changed keep the comments and the empty lists of the user after the removal', async () => {
    await place.write(
      'dev/project/.gemini/settings.json',
      '{ // mine\n  "hooks": {\n    "AfterTool": [], // none\n    "SessionEnd": [\n      // later\n    ]\n  }\n}\n',
    );
    await installer.install(dirs, 'project');
    await writeFile(
      settings(),
      (await readFile(settings(), 'utf8')).replace('{ // mine', '{ // mine\n  "theme": "dark",'),
    );
    await installer.uninstall(dirs, 'project');
    expect(await readFile(settings(), 'utf8')).toBe(
      '{ // mine\n  "theme": "dark",\n  "hooks": {\n    "AfterTool": [\n    ], // none\n    "SessionEnd": [\n      // later\n    ]\n  }\n}\n',
    );
  });

  it('that the user changed between two installations come back with the change, to the byte', async () => {
    const theirs = '{"theme":"dark"}';
    await place.write('dev/project/.gemini/settings.json', theirs);
    await installer.install(dirs, 'project');
    await writeFile(settings(), (await readFile(settings(), 'utf8')).replace('dark', 'light'));
    await installer.install(newer(), 'project');
    await installer.uninstall(newer(), 'project');
    expect(await readFile(settings(), 'utf8')).toBe('{"theme":"light"}');
  });

  it('keep a matcher that the user gave a hook of wa-sync, also in a newer version', async () => {
    await installer.install(dirs, 'project');
    const changed = JSON.parse(await readFile(settings(), 'utf8'));
    changed.hooks.AfterTool[0].matcher = 'write_file';
    await writeFile(settings(), JSON.stringify(changed, null, 2));
    expect(await installer.install(newer(), 'project')).toMatchObject({ current: true });
    expect(JSON.parse(await readFile(settings(), 'utf8')).hooks.AfterTool[0].matcher).toBe('write_file');
  });

  it('that the user has cleaned by hand stay as they are', async () => {
    await installer.install(dirs, 'project');
    await writeFile(settings(), '{"theme":"dark"}');
    expect(await installer.uninstall(dirs, 'project')).toEqual([]);
    expect(await readFile(settings(), 'utf8')).toBe('{"theme":"dark"}');
  });

  it('lose entries of wa-sync that are doubled or unknown to this version', async () => {
    const old = { type: 'command', name: 'wa-sync-AfterModel', command: 'old', timeout: 1 };
    const doubled = [
      { hooks: [{ ...old, name: 'wa-sync-BeforeAgent' }, old] },
      { hooks: [{ ...old, name: 'wa-sync-x' }] },
    ];
    await place.write(
      'dev/project/.gemini/settings.json',
      JSON.stringify({ hooks: { AfterModel: [{ hooks: [old] }], BeforeAgent: doubled } }),
    );
    await installer.install(dirs, 'project');
    expect(JSON.parse(await readFile(settings(), 'utf8'))).toEqual({ hooks: expected() });
  });

  it.each([
    ['no text', ''],
    ['a comment alone', '// mine\n'],
    ['a comment without an end', '{} /* mine'],
    ['more depth than can be read', `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`],
    ['half an object', '{"a":'],
    ['a list', '[]'],
    ['hooks as a list', '{"hooks":[]}'],
    ['an event that is not a list', '{"hooks":{"BeforeAgent":{}}}'],
  ])('with %s are refused and stay as they are', async (_, text) => {
    await place.write('dev/project/.gemini/settings.json', text);
    const before = await place.snapshot();
    await expect(installer.install(dirs, 'project')).rejects.toThrow(
      expect.objectContaining({ code: 'settings_unreadable', hint: expect.stringContaining('--scope user') }),
    );
    expect(await place.snapshot()).toEqual(before);
    expect(await installer.uninstall(dirs, undefined)).toEqual([]);
    expect(await place.snapshot()).toEqual(before);
  });

  it('keep their comments in every place, and uninstall restores the bytes', async () => {
    const theirs = [
      '// mine\n{\n  // a "theme"\n  "theme": "dark", // not { light\n',
      '  "hooks": { // all, of mine\n    "BeforeAgent": [\n      /* first */ { "hooks": [{ "command": "true" }] } // last\n    ]\n    // "AfterAgent": []\n  }\n',
      '  /* the end, */\n}\n// after\n',
    ].join('');
    await place.write('dev/project/.gemini/settings.json', theirs);
    const before = await place.snapshot();
    await installer.install(dirs, 'project');
    const installed = await readFile(settings(), 'utf8');
    for (const comment of theirs.match(/\/\/.*|\/\*.*\*\//g) ?? []) expect(installed).toContain(comment);
    expect((await installer.list(dirs)).at(-1)).toMatchObject({ scope: 'project', installed: true, current: true });
    await installer.install(dirs, 'project');
    expect(await readFile(settings(), 'utf8')).toBe(installed);
    await installer.uninstall(dirs, undefined);
    expect(await place.snapshot()).toEqual(before);
  });

  it('that were damaged later are reported by uninstall, which still removes the rest', async () => {
    await installer.install(dirs, 'user');
    await installer.install(dirs, 'project');
    await writeFile(settings(), `{\n${await readFile(settings(), 'utf8')}`);
    await expect(installer.uninstall(dirs, undefined)).rejects.toThrow(
      expect.objectContaining({ code: 'settings_unreadable' }),
    );
    expect((await installer.list(dirs))[0]).toMatchObject({ scope: 'user', installed: false });
  });
});

describe('a hook with a matcher', () => {
  const groups = async () => JSON.parse(await readFile(settings(), 'utf8')).hooks.PreCompress;

  it('is added to an installation of a version without that hook, and is removed with the rest', async () => {
    const before = await place.snapshot();
    await installer.install(dirs, 'project');
    const { hooks } = JSON.parse(await readFile(settings(), 'utf8'));
    delete hooks.PreCompress;
    await writeFile(settings(), `${JSON.stringify({ hooks }, null, 2)}\n`);
    expect((await installer.list(dirs))[1]).toMatchObject({ installed: true, current: false });
    expect(await installer.install(newer(), 'project')).toMatchObject({ current: true });
    expect(await groups()).toMatchObject([{ matcher: 'manual', hooks: [{ name: 'wa-sync-PreCompress' }] }]);
    await installer.uninstall(newer(), 'project');
    expect(await place.snapshot()).toEqual(before);
  });

  it('is moved out of a group without the matcher, in which the hooks of the user stay', async () => {
    const [mine] = userHook.hooks;
    await installer.install(dirs, 'project');
    const parsed = JSON.parse(await readFile(settings(), 'utf8'));
    const [ours] = parsed.hooks.PreCompress;
    parsed.hooks.PreCompress = [{ matcher: '*', hooks: [mine, ...ours.hooks] }];
    await writeFile(settings(), JSON.stringify(parsed, null, 2));
    expect((await installer.list(dirs))[1]).toMatchObject({ current: false });
    expect(await installer.install(dirs, 'project')).toMatchObject({ current: true });
    expect(await groups()).toEqual([{ matcher: '*', hooks: [mine] }, ours]);
    await installer.uninstall(dirs, 'project');
    expect(await groups()).toEqual([{ matcher: '*', hooks: [mine] }]);
  });
});
