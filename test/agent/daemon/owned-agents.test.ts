// Which agents the daemon starts itself in which folders: what a cloned repository brings must not run because a phone said /new.

import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../../agent/config.ts';
import { ownedAgents } from '../../../agent/daemon/owned-agents.ts';
import { temporaryFolder } from '../../helpers/surroundings.ts';

async function machine(agent: 'claude' | 'codex') {
  const home = await temporaryFolder();
  const bin = join(home, 'bin');
  const clone = join(home, 'code', 'clone');
  for (const dir of [bin, join(clone, '.git'), join(clone, 'packages'), join(home, '.codex')]) {
    await mkdir(dir, { recursive: true });
  }
  await writeFile(join(bin, agent), '#!/bin/sh\n');
  await chmod(join(bin, agent), 0o755);
  const env = { HOME: home, PATH: bin };
  const config = loadConfig({ env, platform: process.platform, home });
  const agents = ownedAgents({ config, env, platform: process.platform, version: '0.0.0', log: () => {} });
  return {
    clone,
    /** The code of the error; a start that goes on ends at the adapter, which no npm installs here. */
    start: (cwd: string) =>
      agents.start(agent, { cwd, env }).then(
        () => 'started',
        (cause) => cause.code,
      ),
    trust: (dir: string) =>
      agent === 'claude'
        ? writeFile(
            join(home, '.claude.json'),
            JSON.stringify({ projects: { [dir]: { hasTrustDialogAccepted: true } } }),
          )
        : writeFile(join(home, '.codex', 'config.toml'), `[projects."${dir}"]\ntrust_level = "trusted"\n`),
  };
}

it.each(['claude', 'codex'] as const)(
  '%s is not started in a folder that nobody has told it to trust',
  async (agent) => {
    const { clone, start, trust } = await machine(agent);
    expect(await start(clone)).toBe('folder_untrusted');
    await trust(join(clone, '..'));
    expect(await start(clone)).toBe('folder_untrusted');
    await trust(clone);
    expect([await start(clone), await start(join(clone, 'packages'))]).toEqual(['not_found', 'not_found']);
  },
);

it('a folder that is to be trusted is named with the program that asks for it', async () => {
  const { clone } = await machine('claude');
  const home = join(clone, '..', '..');
  const env = { HOME: home, PATH: join(home, 'bin') };
  const config = loadConfig({ env, platform: process.platform, home });
  const { start } = ownedAgents({ config, env, platform: process.platform, version: '0.0.0', log: () => {} });
  await expect(start('claude', { cwd: clone, env })).rejects.toMatchObject({
    message: expect.stringContaining(`Claude Code would run the hooks and MCP servers of ${clone}`),
    hint: expect.stringContaining('Run `claude` there once in a terminal'),
  });
});

it('no session that an agent has named like an option, or in words of a shell, becomes an argument', async () => {
  const config = loadConfig({ env: { HOME: '/h' }, platform: process.platform, home: '/h' });
  const agents = ownedAgents({ config, env: {}, platform: process.platform, version: '0.0.0', log: () => {} });
  expect(agents.resumeCommand('claude', 'a-1')).toEqual(['claude', '--resume', 'a-1']);
  for (const id of ['--dangerously-skip-permissions', '-x', '', 'a b', 'a;b', 'a\nb', '../a']) {
    expect(agents.resumeCommand('claude', id)).toBeUndefined();
  }
});
