import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installer } from '../../../../agent/drivers/gemini/install.ts';
import type { InstallDirs } from '../../../../agent/drivers/workstation.ts';
import type { TemporaryHome } from '../../../helpers/home.ts';
import { eachInstallation, expectedHooks } from '../../../helpers/installation.ts';

let place: TemporaryHome;
let dirs: InstallDirs;
const moveBelow = eachInstallation((ground) => {
  ({ place, dirs } = ground);
});

describe('the extension', () => {
  it('is what `gemini extensions link` registers', async () => {
    await installer.install(dirs, 'user');
    const source = join(dirs.dataDir, 'gemini-extension', '0.1.0');
    const entry = join(place.home, '.gemini', 'extensions', 'wa-sync');
    const metadata = await readFile(join(entry, '.gemini-extension-install.json'), 'utf8');
    expect(metadata).toBe(JSON.stringify({ source, type: 'link' }, null, 2));
    const manifest = JSON.parse(await readFile(join(source, 'gemini-extension.json'), 'utf8'));
    expect(manifest).toMatchObject({ name: 'wa-sync', version: '0.1.0' });
    expect(JSON.parse(await readFile(join(source, 'hooks', 'hooks.json'), 'utf8'))).toEqual({
      hooks: expectedHooks(dirs),
    });
  });

  it('leaves a foreign extension of the same name alone', async () => {
    await place.write('dev/.gemini/extensions/wa-sync/gemini-extension.json', '{"name":"wa-sync","version":"9"}');
    const before = await place.snapshot();
    await expect(installer.install(dirs, 'user')).rejects.toThrow(expect.objectContaining({ code: 'file_unusable' }));
    expect(await installer.uninstall(dirs, undefined)).toEqual([]);
    expect(await place.snapshot()).toEqual(before);
  });

  it('takes its own name out of what Gemini CLI remembers about extensions', async () => {
    const others = '{\n  "other": {\n    "overrides": [\n      "/home/dev/*"\n    ]\n  }\n}';
    await place.write('dev/.gemini/extensions/extension-enablement.json', others);
    const before = await place.snapshot();
    await installer.install(dirs, 'user');
    const both = { ...JSON.parse(others), 'wa-sync': { overrides: ['!/home/dev/*'] } };
    await place.write('dev/.gemini/extensions/extension-enablement.json', JSON.stringify(both, null, 2));
    await installer.uninstall(dirs, undefined);
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
      await moveBelow(name);
      const program = join(dirs.packageDir, 'wa-sync.js');
      await writeFile(program, 'console.log(JSON.stringify(process.argv.slice(2)))\n');
      await installer.install(dirs, 'user');
      expect(await runs(entry())).toEqual({ code: 0, output: '["mcp"]\n' });
      await rm(program);
      expect(await runs(entry())).toEqual({ code: 0, output: '' });
    },
  );

  it('is listed as out of date when the package lies elsewhere now', async () => {
    await installer.install(dirs, 'user');
    const [found] = await installer.list({ ...dirs, packageDir: join(place.root, 'moved') });
    expect(found).toMatchObject({ scope: 'user', installed: true, launcherExists: true, current: false });
  });

  it('needs no shell on Windows', async () => {
    await installer.install({ ...dirs, platform: 'win32' }, 'user');
    expect(entry()).toEqual({ command: 'node', args: [join(dirs.packageDir, 'wa-sync.js'), 'mcp'] });
  });

  it('comes with a skill that Gemini CLI can read', async () => {
    await installer.install(dirs, 'user');
    const folder = join(dirs.dataDir, 'gemini-extension', '0.1.0', 'skills', 'wa-sync-phone');
    const text = readFileSync(join(folder, 'SKILL.md'), 'utf8');
    expect(text).toMatch(/^---\nname: wa-sync-phone\ndescription: .{40,1024}\n---\n\n# /);
    for (const word of ['done', 'more', 'question', 'finished']) expect(text).toContain(`| \`wa: ${word}\` |`);
  });
});
