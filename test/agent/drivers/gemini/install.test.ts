import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hooksCommand } from '../../../../agent/commands/hooks.ts';
import {
  type HookScope,
  type InstallDirs,
  installHooks,
  listHooks,
  uninstallHooks,
} from '../../../../agent/drivers/gemini/install.ts';
import { commandTarget, hookEntry, hookGroup, hookTable } from '../../../../agent/drivers/gemini/install-table.ts';
import { type TemporaryHome, temporaryHome } from '../../../helpers/home.ts';

const launcher = fileURLToPath(new URL('../../../../hooks/wa-hook', import.meta.url));

let place: TemporaryHome;
let dirs: InstallDirs;

async function open(name?: string): Promise<void> {
  place = await temporaryHome(name);
  const packageDir = join(place.root, 'package');
  await mkdir(packageDir);
  await copyFile(launcher, join(packageDir, 'wa-hook'));
  await writeFile(join(packageDir, 'wa-hook-fallback.cjs'), 'console.log(\'{"from":"fallback"}\')\n');
  dirs = {
    home: place.home,
    dataDir: join(place.home, '.local', 'share', 'wa-sync'),
    projectDir: place.project,
    packageDir,
    version: '0.1.0',
    platform: 'linux',
  };
}

beforeEach(() => open());
afterEach(() => place.close());

const settings = () => join(place.project, '.gemini', 'settings.json');
const newer = () => ({ ...dirs, version: '0.2.0' });
const expected = (version = '0.1.0') => {
  const from = { dir: join(dirs.dataDir, 'hooks', version), platform: dirs.platform };
  return Object.fromEntries(hookTable.map((row) => [row.event, [hookGroup(row, from)]]));
};

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

describe.each(['extension', 'project'] as const)('hooks in the scope %s', (scope: HookScope) => {
  it('leave no trace after install and uninstall', async () => {
    const before = await place.snapshot();
    installHooks(dirs, scope);
    expect(await place.snapshot()).not.toEqual(before);
    expect(uninstallHooks(dirs, scope)).toHaveLength(1);
    expect(await place.snapshot()).toEqual(before);
    expect(uninstallHooks(dirs, undefined)).toEqual([]);
    expect(await place.snapshot()).toEqual(before);
  });

  it('are the same bytes after a second install', async () => {
    const first = installHooks(dirs, scope);
    const before = await place.snapshot();
    expect(installHooks(dirs, scope)).toEqual(first);
    expect(await place.snapshot()).toEqual(before);
  });

  it('move to a newer version, which a running agent survives, and still leave no trace', async () => {
    const before = await place.snapshot();
    installHooks(dirs, scope);
    const status = installHooks(newer(), scope);
    expect(status).toMatchObject({ installed: true, version: '0.2.0', launcherExists: true, current: true });
    expect((await stat(join(dirs.dataDir, 'hooks', '0.1.0', 'wa-hook'))).isFile()).toBe(true);
    installHooks(newer(), scope);
    expect(Object.keys(await place.snapshot()).filter((path) => path.includes('0.1.0'))).toEqual([]);
    uninstallHooks(newer(), scope);
    expect(await place.snapshot()).toEqual(before);
  });

  it('are listed with version, launcher and what is wrong with them', async () => {
    const of = () => listHooks(dirs).find((status) => status.scope === scope);
    expect(of()).toMatchObject({ installed: false, version: undefined, launcherExists: false, current: false });
    installHooks(dirs, scope);
    const file = join(dirs.dataDir, 'hooks', '0.1.0', 'wa-hook');
    expect(of()).toMatchObject({
      installed: true,
      version: '0.1.0',
      launcher: file,
      launcherExists: true,
      current: true,
    });
    await rm(file);
    expect(of()).toMatchObject({ installed: true, launcherExists: false });
    installHooks(dirs, scope);
    expect((await stat(file)).mode & 0o777).toBe(0o755);
  });

  it('repair a launcher that lost its mode or its content', async () => {
    installHooks(dirs, scope);
    const before = await place.snapshot();
    const file = join(dirs.dataDir, 'hooks', '0.1.0', 'wa-hook');
    await chmod(file, 0o600);
    installHooks(dirs, scope);
    await writeFile(file, 'exit 1');
    installHooks(dirs, scope);
    expect(await place.snapshot()).toEqual(before);
  });

  it('are not installed from a package without its fallback, and nothing is left behind', async () => {
    await rm(join(dirs.packageDir, 'wa-hook-fallback.cjs'));
    const before = await place.snapshot();
    expect(() => installHooks(dirs, scope)).toThrow(expect.objectContaining({ code: 'file_unusable' }));
    expect(await place.snapshot()).toEqual(before);
  });
});

describe('project settings', () => {
  it.each(Object.entries(documents))('with %s get our entries and come back to the byte', async (_, text) => {
    await place.write('dev/project/.gemini/settings.json', text, 0o640);
    const before = await place.snapshot();
    installHooks(dirs, 'project');
    const installed = (await readFile(settings(), 'utf8')).replace(/^\ufeff/, '');
    const original = JSON.parse(text.replace(/^\ufeff/, ''));
    const hooks = { ...original.hooks };
    for (const [event, groups] of Object.entries(expected())) hooks[event] = [...(hooks[event] ?? []), ...groups];
    expect(JSON.parse(installed)).toEqual({ ...original, hooks });
    expect((await stat(settings())).mode & 0o777).toBe(0o640);
    installHooks(newer(), 'project');
    installHooks(dirs, 'project');
    uninstallHooks(dirs, undefined);
    expect(await place.snapshot()).toEqual(before);
  });

  it('keep what the user changed after the installation', async () => {
    await place.write('dev/project/.gemini/settings.json', '{\n  "theme": "dark"\n}\n');
    installHooks(dirs, 'project');
    const changed = JSON.parse(await readFile(settings(), 'utf8'));
    changed.hooks.BeforeAgent[0].hooks.unshift(userHook.hooks[0]);
    changed.hooks.AfterTool.push(userHook);
    changed.theme = 'light';
    await writeFile(settings(), JSON.stringify(changed, null, 2));
    uninstallHooks(dirs, 'project');
    const hooks = { BeforeAgent: [{ hooks: userHook.hooks }], AfterTool: [userHook] };
    expect(JSON.parse(await readFile(settings(), 'utf8'))).toEqual({ theme: 'light', hooks });
  });

  it('lose entries of ours that are doubled or that this version no longer has', async () => {
    const old = { type: 'command', name: 'wa-sync-AfterModel', command: 'old', timeout: 1 };
    const doubled = [
      { hooks: [{ ...old, name: 'wa-sync-BeforeAgent' }, old] },
      { hooks: [{ ...old, name: 'wa-sync-x' }] },
    ];
    await place.write(
      'dev/project/.gemini/settings.json',
      JSON.stringify({ hooks: { AfterModel: [{ hooks: [old] }], BeforeAgent: doubled } }),
    );
    installHooks(dirs, 'project');
    expect(JSON.parse(await readFile(settings(), 'utf8'))).toEqual({ hooks: expected() });
  });

  it.each([
    ['comments', '{\n  // mine\n  "theme": "dark"\n}\n'],
    ['nothing', ''],
    ['half an object', '{"a":'],
    ['a list', '[]'],
    ['hooks as a list', '{"hooks":[]}'],
    ['an event that is no list', '{"hooks":{"BeforeAgent":{}}}'],
  ])('with %s are refused and stay as they are', async (_, text) => {
    await place.write('dev/project/.gemini/settings.json', text);
    const before = await place.snapshot();
    expect(() => installHooks(dirs, 'project')).toThrow(
      expect.objectContaining({ code: 'settings_unreadable', hint: expect.stringContaining('--scope extension') }),
    );
    expect(await place.snapshot()).toEqual(before);
    expect(uninstallHooks(dirs, undefined)).toEqual([]);
    expect(await place.snapshot()).toEqual(before);
  });

  it('that got comments later are reported by uninstall, which still removes the rest', async () => {
    installHooks(dirs, 'extension');
    installHooks(dirs, 'project');
    await writeFile(settings(), `// mine\n${await readFile(settings(), 'utf8')}`);
    expect(() => uninstallHooks(dirs, undefined)).toThrow(expect.objectContaining({ code: 'settings_unreadable' }));
    expect(listHooks(dirs)[0]).toMatchObject({ scope: 'extension', installed: false });
  });

  it('behind a link out of the project are refused; a linked file stays a link', async () => {
    await mkdir(join(place.home, 'elsewhere'));
    await symlink(join(place.home, 'elsewhere'), join(place.project, '.gemini'));
    expect(() => installHooks(dirs, 'project')).toThrow(expect.objectContaining({ code: 'outside_project' }));
    await rm(join(place.project, '.gemini'));
    const dotfile = await place.write('dev/dotfiles/gemini.json', '{}');
    await mkdir(join(place.project, '.gemini'));
    await symlink(dotfile, settings());
    installHooks(dirs, 'project');
    expect(JSON.parse(await readFile(dotfile, 'utf8'))).toEqual({ hooks: expected() });
    uninstallHooks(dirs, 'project');
    expect(await readFile(dotfile, 'utf8')).toBe('{}');
  });
});

describe('a hook that is for one cause only', () => {
  const groups = async () => JSON.parse(await readFile(settings(), 'utf8')).hooks.PreCompress;

  it('joins an installation of a version that did not have it, and goes with the rest', async () => {
    const before = await place.snapshot();
    installHooks(dirs, 'project');
    const { hooks } = JSON.parse(await readFile(settings(), 'utf8'));
    delete hooks.PreCompress;
    await writeFile(settings(), `${JSON.stringify({ hooks }, null, 2)}\n`);
    expect(listHooks(dirs)[1]).toMatchObject({ installed: true, current: false });
    expect(installHooks(newer(), 'project')).toMatchObject({ current: true });
    expect(await groups()).toMatchObject([{ matcher: 'manual', hooks: [{ name: 'wa-sync-PreCompress' }] }]);
    uninstallHooks(newer(), 'project');
    expect(await place.snapshot()).toEqual(before);
  });

  it('leaves a group that runs it for every cause, and the hooks of the user in there stay', async () => {
    const [mine] = userHook.hooks;
    installHooks(dirs, 'project');
    const parsed = JSON.parse(await readFile(settings(), 'utf8'));
    const [ours] = parsed.hooks.PreCompress;
    parsed.hooks.PreCompress = [{ matcher: '*', hooks: [mine, ...ours.hooks] }];
    await writeFile(settings(), JSON.stringify(parsed, null, 2));
    expect(listHooks(dirs)[1]).toMatchObject({ current: false });
    expect(installHooks(dirs, 'project')).toMatchObject({ current: true });
    expect(await groups()).toEqual([{ matcher: '*', hooks: [mine] }, ours]);
    uninstallHooks(dirs, 'project');
    expect(await groups()).toEqual([{ matcher: '*', hooks: [mine] }]);
  });
});

describe("Gemini CLI's memory of announced hooks", () => {
  it('loses ours with the project, and only ours', async () => {
    const trusted = (names: string[]) =>
      `${JSON.stringify({ '/other': ['wa-sync-x:y'], [place.project]: names }, null, 2)}`;
    const file = await place.write('dev/.gemini/trusted_hooks.json', trusted(['mine:true']));
    const before = await place.snapshot();
    installHooks(dirs, 'project');
    await writeFile(file, trusted(['wa-sync-BeforeAgent:a', 'mine:true', 'wa-sync-AfterAgent:b']));
    uninstallHooks(dirs, 'project');
    expect(await place.snapshot()).toEqual(before);
  });

  it('goes as a file when it held nothing else', async () => {
    const before = Object.keys(await place.snapshot());
    installHooks(dirs, 'project');
    await place.write(
      'dev/.gemini/trusted_hooks.json',
      JSON.stringify({ [place.project]: ['wa-sync-BeforeAgent:a'] }, null, 2),
    );
    uninstallHooks(dirs, 'project');
    expect(Object.keys(await place.snapshot())).toEqual([...before, 'dev/.gemini'].sort());
  });
});

describe('several installations', () => {
  it('share one launcher until the last is gone', async () => {
    const other = { ...dirs, projectDir: join(place.home, 'other') };
    await mkdir(other.projectDir);
    const before = await place.snapshot();
    for (const [at, scope] of [
      [dirs, 'extension'],
      [dirs, 'project'],
      [other, 'project'],
    ] as const)
      installHooks(at, scope);
    expect(listHooks(dirs).map(({ place: at }) => at)).toEqual([
      join(place.home, '.gemini', 'extensions', 'wa-sync'),
      settings(),
      join(other.projectDir, '.gemini', 'settings.json'),
    ]);
    uninstallHooks(dirs, 'extension');
    uninstallHooks(dirs, 'project');
    expect(listHooks(other)[1]).toMatchObject({ installed: true, launcherExists: true });
    expect(uninstallHooks(dirs, undefined)).toEqual([join(other.projectDir, '.gemini', 'settings.json')]);
    expect(await place.snapshot()).toEqual(before);
  });

  it('forget a project that was deleted', async () => {
    const other = { ...dirs, projectDir: join(place.home, 'other') };
    await mkdir(other.projectDir);
    const before = await place.snapshot();
    installHooks(other, 'project');
    await rm(join(other.projectDir, '.gemini'), { recursive: true });
    expect(uninstallHooks(dirs, undefined)).toEqual([]);
    expect(await place.snapshot()).toEqual(before);
  });
});

describe('the extension', () => {
  it('is what `gemini extensions link` registers', async () => {
    installHooks(dirs, 'extension');
    const source = join(dirs.dataDir, 'gemini-extension', '0.1.0');
    const entry = join(place.home, '.gemini', 'extensions', 'wa-sync');
    const metadata = await readFile(join(entry, '.gemini-extension-install.json'), 'utf8');
    expect(metadata).toBe(JSON.stringify({ source, type: 'link' }, null, 2));
    const manifest = JSON.parse(await readFile(join(source, 'gemini-extension.json'), 'utf8'));
    expect(manifest).toMatchObject({ name: 'wa-sync', version: '0.1.0' });
    expect(JSON.parse(await readFile(join(source, 'hooks', 'hooks.json'), 'utf8'))).toEqual({ hooks: expected() });
  });

  it('leaves a foreign extension of the same name alone', async () => {
    await place.write('dev/.gemini/extensions/wa-sync/gemini-extension.json', '{"name":"wa-sync","version":"9"}');
    const before = await place.snapshot();
    expect(() => installHooks(dirs, 'extension')).toThrow(expect.objectContaining({ code: 'file_unusable' }));
    expect(uninstallHooks(dirs, undefined)).toEqual([]);
    expect(await place.snapshot()).toEqual(before);
  });

  it('takes its own name out of what Gemini CLI remembers about extensions', async () => {
    const others = '{\n  "other": {\n    "overrides": [\n      "/home/dev/*"\n    ]\n  }\n}';
    await place.write('dev/.gemini/extensions/extension-enablement.json', others);
    const before = await place.snapshot();
    installHooks(dirs, 'extension');
    const both = { ...JSON.parse(others), 'wa-sync': { overrides: ['!/home/dev/*'] } };
    await place.write('dev/.gemini/extensions/extension-enablement.json', JSON.stringify(both, null, 2));
    uninstallHooks(dirs, undefined);
    expect(await place.snapshot()).toEqual(before);
  });
});

describe('the installed MCP server', () => {
  const entry = () => {
    const file = join(dirs.dataDir, 'gemini-extension', '0.1.0', 'gemini-extension.json');
    return JSON.parse(readFileSync(file, 'utf8')).mcpServers['wa-sync'] as { command: string; args: string[] };
  };
  // Gemini CLI starts it without a shell of its own, after it has replaced variables of the environment.
  const runs = async ({ command, args }: ReturnType<typeof entry>) => {
    const words = args.map((arg) =>
      arg.replace(/\$(?:(\w+)|{([^}]+)})/g, (whole, plain, braced) => process.env[plain ?? braced] ?? whole),
    );
    const child = spawn(command, words, { env: { PATH: process.env.PATH ?? '' }, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const code = await new Promise((resolve) => child.on('close', resolve));
    return { code, output };
  };

  it.each(['plain', `it's a "dir" with $HOME \${HOME} \`id\` $(id) \\ *'`, '-n; exit 1', "$'"])(
    'runs the package below a folder named %s, and ends at once without it',
    async (name) => {
      await place.close();
      await open(name);
      const program = join(dirs.packageDir, 'wa-sync.js');
      await writeFile(program, 'console.log(JSON.stringify(process.argv.slice(2)))\n');
      installHooks(dirs, 'extension');
      expect(await runs(entry())).toEqual({ code: 0, output: '["mcp"]\n' });
      await rm(program);
      expect(await runs(entry())).toEqual({ code: 0, output: '' });
    },
  );

  it('is listed as out of date when the package lies elsewhere now', () => {
    installHooks(dirs, 'extension');
    const [found] = listHooks({ ...dirs, packageDir: join(place.root, 'moved') });
    expect(found).toMatchObject({ scope: 'extension', installed: true, launcherExists: true, current: false });
  });

  it('needs no shell on Windows', () => {
    installHooks({ ...dirs, platform: 'win32' }, 'extension');
    expect(entry()).toEqual({ command: 'node', args: [join(dirs.packageDir, 'wa-sync.js'), 'mcp'] });
  });

  it('comes with a skill that Gemini CLI can read', () => {
    installHooks(dirs, 'extension');
    const folder = join(dirs.dataDir, 'gemini-extension', '0.1.0', 'skills', 'wa-sync-phone');
    const text = readFileSync(join(folder, 'SKILL.md'), 'utf8');
    expect(text).toMatch(/^---\nname: wa-sync-phone\ndescription: .{40,1024}\n---\n\n# /);
    for (const word of ['done', 'more', 'question', 'finished']) expect(text).toContain(`| \`wa: ${word}\` |`);
  });
});

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
      await place.close();
      await open(name);
      for (const scope of ['extension', 'project'] as const) {
        installHooks(dirs, scope);
        const hooksFile =
          scope === 'project' ? settings() : join(dirs.dataDir, 'gemini-extension', '0.1.0', 'hooks', 'hooks.json');
        const { command } = JSON.parse(readFileSync(hooksFile, 'utf8')).hooks.BeforeAgent[0].hooks[0];
        const target = join(dirs.dataDir, 'hooks', '0.1.0', 'wa-hook');
        expect(commandTarget(command)).toBe(target);
        expect(await runs(expand(command))).toEqual({ code: 0, stdout: '{"from":"fallback"}\n', stderr: '' });
        await rm(target);
        expect(await runs(expand(command))).toEqual({ code: 0, stdout: '', stderr: '' });
        await rm(dirs.dataDir, { recursive: true });
        expect(await runs(expand(command))).toEqual({ code: 0, stdout: '', stderr: '' });
      }
    },
  );

  it('has a timeout that Gemini CLI can count, and tells the launcher the same', () => {
    for (const row of hookTable) {
      const entry = hookEntry(row, { dir: '/d', platform: 'linux' });
      expect(entry).toEqual({
        type: 'command',
        name: `wa-sync-${row.event}`,
        command: `[ -x '/d/wa-hook' ] || exit 0; exec '/d/wa-hook' gemini ${row.event} ${row.timeoutMs / 1000}`,
        timeout: row.timeoutMs,
      });
      expect(row.timeoutMs).toBeLessThan(2 ** 31);
    }
  });

  it('holds only where the launcher does', () => {
    const holding = readFileSync(launcher, 'utf8').match(/gemini-\w+/g);
    for (const row of hookTable) expect(holding?.includes(`gemini-${row.event}`)).toBe(row.mayHold);
  });

  it('runs the fallback by itself on Windows and ends well in any case', () => {
    const row = { event: 'BeforeAgent', timeoutMs: 60_000, mayHold: false } as const;
    const { command } = hookEntry(row, { dir: "C:\\it's", platform: 'win32' });
    expect(command).toBe(
      "if (Test-Path -LiteralPath 'C:\\it''s\\wa-hook-fallback.cjs') { node 'C:\\it''s\\wa-hook-fallback.cjs' gemini BeforeAgent 60 0 2>$null }; exit 0",
    );
    expect(commandTarget(command)).toBe("C:\\it's\\wa-hook-fallback.cjs");
  });
});

describe('wa-sync hooks', () => {
  const run = async (args: Parameters<typeof hooksCommand>[0]) => {
    const lines: string[] = [];
    await hooksCommand(args, { dirs, out: (line) => lines.push(line) });
    return lines;
  };

  it('installs the extension by default, lists it and removes it', async () => {
    const entry = join(place.home, '.gemini', 'extensions', 'wa-sync');
    expect(await run({ action: 'install' })).toEqual([
      `installed  ${entry}`,
      'Gemini CLI reads its hooks at start: restart a session that is open.',
    ]);
    expect(await run({ action: 'list', agent: 'gemini' })).toEqual([
      `gemini  extension  0.1.0  ${entry}`,
      `gemini  project    not installed  ${settings()}`,
    ]);
    expect(await run({ action: 'uninstall' })).toEqual([`removed  ${entry}`]);
    expect(await run({ action: 'uninstall' })).toEqual(['nothing was installed']);
  });

  it('prints one JSON value with --json', async () => {
    await run({ action: 'install', scope: 'project' });
    const lines = await run({ action: 'list', json: true });
    expect(JSON.parse(lines.join('\n'))).toEqual(JSON.parse(JSON.stringify(listHooks(dirs))));
    expect(await run({ action: 'uninstall', json: true })).toEqual([JSON.stringify({ removed: [settings()] })]);
  });

  it('says in the list which command repairs what', async () => {
    await run({ action: 'install', scope: 'project' });
    await rm(join(dirs.dataDir, 'hooks', '0.1.0'), { recursive: true });
    expect((await run({ action: 'list' })).at(-1)).toContain(
      'run `wa-sync hooks install --agent gemini --scope project`',
    );
  });

  it('refuses an agent or a scope that it does not know', async () => {
    await expect(run({ action: 'install', agent: 'other' })).rejects.toMatchObject({ code: 'bad_arguments' });
    await expect(run({ action: 'install', scope: 'user' })).rejects.toMatchObject({ code: 'bad_arguments' });
  });
});
