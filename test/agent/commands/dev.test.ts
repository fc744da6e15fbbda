// `wa-sync dev` of the built program, started twice and started where it cannot work.

import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Running, runProgram, until } from '../../helpers/daemon.ts';

let home: string;
let project: string;
const running: Running[] = [];
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'wa-dev-')));
  project = join(home, 'project');
  await mkdir(project);
});
afterEach(async () => {
  for (const each of running.splice(0)) {
    each.child.kill('SIGTERM');
    await each.exited;
  }
  await rm(home, { recursive: true, force: true });
});

function start(args: string[], env: Record<string, string> = {}): Running {
  const started = runProgram(args, { HOME: home, ...env }, project);
  running.push(started);
  return started;
}

describe('wa-sync dev', () => {
  it('refuses to start twice in one folder, and leaves the first one as it was', async () => {
    const first = start(['dev', '--agent', 'none']);
    await until('the first runs', () => first.stdout().includes('Ctrl+C stops everything'), 60_000);
    const dev = join(home, '.local', 'state', 'wa-sync', 'dev');
    const [name = ''] = await readdir(dev);
    const config = () => readFile(join(dev, name, 'config', 'config.json'), 'utf8');
    const before = await config();
    const second = await start(['dev', '--agent', 'none']).exited;
    expect(second.code).toBe(1);
    const said = new RegExp(`already runs for this folder: .*process ${first.pid} .*\\(daemon_running\\)\n`);
    expect(second.stderr).toMatch(said);
    expect(await config()).toBe(before);
    // The hint works as it stands.
    const [, variables = ''] = /from here: (.*) wa-sync down\n/.exec(second.stderr) ?? [];
    const env = Object.fromEntries(variables.split(' ').map((pair) => pair.split('=')));
    expect((await start(['status'], env).exited).stdout).toContain(project);
    expect(await start(['down'], env).exited).toMatchObject({ code: 0, stderr: '' });
    expect((await first.exited).code).toBe(0);
  }, 90_000);

  it('with Gemini CLI installs hooks that serve its own directories, whatever their environment says', async () => {
    const first = start(['dev', '--agent', 'gemini']);
    await until('it runs', () => first.stdout().includes('Ctrl+C stops everything'), 60_000);
    const { hooks } = JSON.parse(await readFile(join(project, '.gemini', 'settings.json'), 'utf8'));
    const { command } = hooks.BeforeTool[0].hooks[0];
    const [, variables = ''] = /\n {2}export (.*)\n/.exec(first.stdout()) ?? [];
    const env = Object.fromEntries(variables.split(' ').map((pair) => pair.split('=')));
    expect(command.endsWith(` '${env.WA_RUNTIME_DIR}' '${env.WA_CONFIG_DIR}' '${env.WA_STATE_DIR}'`)).toBe(true);
    expect((await start(['status'], env).exited).stdout).not.toContain('hooks /');
    expect(await start(['down'], env).exited).toMatchObject({ code: 0 });
    await first.exited;
  }, 90_000);

  it('with Gemini CLI says first that its settings cannot be edited, and what works without them', async () => {
    await mkdir(join(project, '.gemini'));
    await writeFile(join(project, '.gemini', 'settings.json'), '{"hooks":');
    const { code, stdout, stderr } = await start(['dev', '--agent', 'gemini']).exited;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/settings\.json cannot be edited: .*\(settings_unreadable\)\n.*`wa-sync dev --agent none`/);
  });
});
