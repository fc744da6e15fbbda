// How a coding agent is found, started and greeted, and what a person is told when that fails.

import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { adapterCommand, adapters } from '../../../../agent/owned/acp/adapters.ts';
import { acpRows } from '../../../../agent/owned/acp/agents.ts';
import { acpAgents } from '../../../../agent/owned/acp/start.ts';
import type { StartAgent } from '../../../../agent/owned/owned.ts';
import { recorder, scripted, scriptedCommand } from '../../../helpers/acp/scripted.ts';
import { temporaryFolder } from '../../../helpers/surroundings.ts';

async function starter(agents: Record<string, string> = {}, installAdapter?: (dir: string) => Promise<void>) {
  const dir = await temporaryFolder();
  const said: string[] = [];
  const start: StartAgent = acpAgents({
    config: { file: '/c/config.json', agents, agentCommands: {} },
    cacheDir: join(dir, 'cache'),
    platform: process.platform,
    version: '0.0.0',
    say: (line) => said.push(line),
    log: () => {},
    limits: { graceMs: 1_000 },
    installAdapter,
  });
  return { dir, said, start };
}

it('every row names how to log in, and a mode that asks unless nobody has tried the agent', () => {
  const rows = acpRows({ mine: { command: ['mine', 'acp'], env: {} } });
  expect(rows.map(({ name, isTested }) => [name, isTested])).toEqual([
    ['gemini', true],
    ['claude', true],
    ['codex', true],
    ['agy', false],
    ['mine', false],
  ]);
  expect(rows.filter(({ login, askMode, isTested }) => login === '' || (isTested && !askMode))).toEqual([]);
});

it('an unknown agent, and one that is not installed, are told with the entry that adds them', async () => {
  const { start, dir } = await starter();
  await expect(start('nosuch', { cwd: dir, env: {} })).rejects.toMatchObject({
    code: 'not_found',
    hint: expect.stringContaining('"agents": {"nosuch": {"command": ["…"]}} to /c/config.json'),
  });
  await expect(start('gemini', { cwd: dir, env: { PATH: dir } })).rejects.toMatchObject({
    code: 'not_found',
    message: 'Gemini CLI is not on this machine: no program `gemini` is on the PATH',
  });
});

it.each([
  ['gemini', 'gemini'],
  ['codex', 'codex login'],
] as const)('%s without a login names the command that logs in', async (style, command) => {
  const agent = await scripted({ style, faults: ['logged-out'] });
  const opening = (await agent.start()).open({ cwd: agent.dir }, recorder());
  await expect(opening).rejects.toMatchObject({ code: 'agent_login', hint: expect.stringContaining(`\`${command}\``) });
});

it('an agent that finds out at the prompt that it has no login fails that prompt with the command', async () => {
  const agent = await scripted({ style: 'claude', faults: ['logged-out'] });
  const session = await (await agent.start()).open({ cwd: agent.dir }, recorder());
  expect(await session.prompt([{ text: 'hi' }])).toMatchObject({
    type: 'failed',
    died: false,
    error: expect.stringContaining('`claude auth login`'),
  });
});

it('an agent that wants it is logged in to before its first session, by the key of the environment', async () => {
  const open = async (env: Record<string, string>, faults: string[]) => {
    const agent = await scripted({ style: 'agy', faults: ['logged-out', ...faults], env });
    return (await agent.start()).open({ cwd: agent.dir }, recorder());
  };
  expect((await open({ GEMINI_API_KEY: 'k' }, [])).id).toMatch(/^[0-9a-f-]{36}$/);
  await expect(open({ GEMINI_API_KEY: 'k' }, ['bad-key'])).rejects.toMatchObject({ code: 'agent_login' });
  await expect(open({}, [])).rejects.toMatchObject({ code: 'agent_login' });
});

it.each([
  ['dead', 'scripted ended with code 41: Cannot find the configuration file'],
  ['v9', 'scripted speaks version 9 of ACP, not 1'],
  ['silent', 'scripted did not answer within 2 s of its start'],
])('an agent that is %s at its start is named with its last words', async (fault, message) => {
  const agent = await scripted({ faults: [fault], limits: fault === 'silent' ? { handshakeMs: 2_000 } : {} });
  await expect(agent.start()).rejects.toMatchObject({ code: 'child_failed', message });
});

it('a program that does not start is not found', async () => {
  const { start, dir } = await starter({ gemini: '/no/such/gemini' });
  await expect(start('gemini', { cwd: dir, env: {} })).rejects.toMatchObject({ code: 'not_found' });
});

it('a program that prints no ACP ends, and its words are told', async () => {
  const dir = await temporaryFolder();
  const program = join(dir, 'gemini');
  await writeFile(program, '#!/bin/sh\necho "Unknown option --acp" >&2\nexit 2\n');
  await chmod(program, 0o755);
  const { start } = await starter({ gemini: program });
  await expect(start('gemini', { cwd: dir, env: { PATH: process.env.PATH } })).rejects.toMatchObject({
    code: 'child_failed',
    message: 'Gemini CLI ended with code 2: Unknown option --acp',
  });
});

describe('an adapter', () => {
  const env = { PATH: process.env.PATH };

  /** In place of npm: the scripted agent as the adapter. */
  const install =
    (adapter: 'claude' | 'codex', version: string = adapters[adapter].version) =>
    async (dir: string) => {
      const { name } = adapters[adapter];
      const folder = join(dir, 'node_modules', name);
      await mkdir(join(folder, 'dist'), { recursive: true });
      await writeFile(join(folder, 'package.json'), JSON.stringify({ name, version, type: 'module' }));
      const agent = scriptedCommand(dir).command.at(-1);
      await writeFile(join(folder, 'dist', 'index.js'), `await import(${JSON.stringify(agent)});\n`);
    };

  it('is installed once, told, and started with the program of the person', async () => {
    const { start, dir, said } = await starter({ claude: '/opt/claude' }, install('claude'));
    const open = async () => {
      const started = await start('claude', { cwd: dir, env: { ...env, ACP_SESSIONS: dir } });
      const record = recorder();
      const session = await started.open({ cwd: dir }, record);
      await session.prompt([{ text: '[[env: CLAUDE_CODE_EXECUTABLE]]' }]);
      await started.close();
      return record.text();
    };
    expect([await open(), await open()]).toEqual(['/opt/claude', '/opt/claude']);
    expect(said).toEqual([
      `The adapter of claude is not here yet: installing @agentclientprotocol/claude-agent-acp 0.100.0 (78 MB) into ${dir}/cache/claude-acp-0.100.0, once.`,
    ]);
  });

  it.each(['claude', 'codex'] as const)(
    'of %s is installed at the version of its lock file, with checksums of all packages',
    async (adapter) => {
      const dir = await temporaryFolder();
      let files:
        | { manifest: object; lock: { packages: Record<string, { version?: string; integrity?: string }> } }
        | undefined;
      const read = async (folder: string) => {
        const json = async (name: string) => JSON.parse(await readFile(join(folder, name), 'utf8'));
        files = { manifest: await json('package.json'), lock: await json('package-lock.json') };
        await install(adapter)(folder);
      };
      await adapterCommand(adapter, { cacheDir: dir, say: () => {}, env, install: read });
      const { name, version } = adapters[adapter];
      expect(files?.manifest).toMatchObject({ private: true, dependencies: { [name]: version } });
      const { '': _root, ...packages } = files?.lock.packages ?? {};
      expect(packages[`node_modules/${name}`]?.version).toBe(version);
      expect(Object.entries(packages).filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
    },
  );

  it('that two sessions need at once is installed by one of them', async () => {
    const dir = await temporaryFolder();
    let runs = 0;
    const counted = async (folder: string) => {
      runs++;
      await install('codex')(folder);
    };
    const options = { cacheDir: dir, say: () => {}, env, install: counted };
    await Promise.all([adapterCommand('codex', options), adapterCommand('codex', options)]);
    expect(runs).toBe(1);
  });

  it('that cannot be installed leaves nothing behind, and the error names the repair', async () => {
    const dir = await temporaryFolder();
    const options = { cacheDir: dir, say: () => {}, env: { PATH: dir } };
    await expect(adapterCommand('codex', options)).rejects.toMatchObject({
      code: 'not_found',
      hint: expect.stringContaining('Install npm'),
    });
    const other = install('codex', '2.6.1');
    await expect(adapterCommand('codex', { ...options, install: other })).rejects.toMatchObject({
      code: 'child_failed',
      message: expect.stringContaining('2.6.0'),
    });
    await adapterCommand('codex', { ...options, install: install('codex') });
  });
});
