// A gate without a daemon: closed while approvals are on, whatever else is missing.

import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until, type Workstation } from '../helpers/daemon.ts';
import type { AgentProcess } from '../helpers/launcher.ts';
import { eachTest } from '../helpers/scene.ts';
import { dist } from '../helpers/stack.ts';
import { printed, run } from './launcher-run.ts';

let ws: Workstation;
let agent: AgentProcess;
eachTest(async (scene) => {
  ({ ws } = scene);
  agent = await scene.newAgent();
});

const key = () => `${ws.chat.mailbox}.0`;
const line = '{"decision":"deny","reason":"of the gate file"}';
const denied = { decision: 'deny', reason: expect.stringContaining('nobody could approve this') };

async function mode(value: string | undefined): Promise<void> {
  const dir = join(ws.root, 'config', 'approvals');
  await mkdir(dir, { recursive: true });
  if (value === undefined) await rm(dir, { recursive: true });
  else await writeFile(join(dir, `${key()}.json`), value);
}

async function gateFile(): Promise<void> {
  await mkdir(join(ws.runtimeDir, 'gate'), { recursive: true, mode: 0o700 });
  await writeFile(join(ws.runtimeDir, 'gate', 'gemini-BeforeTool'), `${line}\n`);
}

const call = (cwd = ws.project) =>
  agent.hook('BeforeTool', { cwd, tool_name: 'run_shell_command', tool_input: { command: 'ls' } });

it('the reason of a closed gate names what a person can do', async () => {
  await mode('{"mode":"all"}');
  const { reason } = (await call()) as { reason: string };
  expect(reason).toContain('Start it with `wa-sync start`.');
  expect(reason).toContain('end the coding agent and run `wa-sync hooks uninstall` in a terminal of their own');
});

describe('without a daemon', () => {
  it('a tool runs where approvals were never on', async () => {
    expect(await call()).toEqual({});
  });

  it('a tool is denied where they are on, also after a restart of the machine took the gate file', async () => {
    await mode('{"mode":"risky"}');
    expect(await call()).toEqual(denied);
  });

  it('a tool runs where they are off, although another project has them on', async () => {
    await mode('{"mode":"off"}');
    await gateFile();
    expect(await call()).toEqual({});
  });

  it('a tool is denied where nobody ever set a mode and some gate is closed', async () => {
    await gateFile();
    expect(await call()).toEqual(denied);
  });

  it.each(['', '{"mode":', '{}', 'null'])('a tool is denied where the mode cannot be read: %s', async (text) => {
    await mode(text);
    expect(await call()).toEqual(denied);
  });

  it('a tool is denied where they are on, whatever the environment says of an installed hook', async () => {
    await mode('{"mode":"all"}');
    const nowhere = join(ws.root, 'nowhere');
    const env = {
      PATH: process.env.PATH ?? '',
      ...Object.fromEntries(
        ['WA_RUNTIME_DIR', 'WA_CONFIG_DIR', 'WA_STATE_DIR', 'WA_MAILBOX_DIR', 'XDG_CONFIG_HOME', 'HOME'].map((name) => [
          name,
          nowhere,
        ]),
      ),
      WA_RELAY_URL: 'nonsense',
    };
    const payload = { session_id: 's', cwd: ws.project, tool_name: 'run_shell_command', tool_input: { command: 'ls' } };
    const installed = [ws.runtimeDir, join(ws.root, 'config'), ws.stateDir];
    const launch = async (dirs: string[]) =>
      run(join(dist, 'wa-hook'), ['gemini', 'BeforeTool', '60', 'gate', ...dirs], env, JSON.stringify(payload));
    expect(JSON.parse((await launch(installed)).stdout)).toEqual(denied);
    expect(await launch([])).toEqual(printed('{}\n'));
  });

  it('a tool is denied where they are on, also with no config.json and after the state directory was deleted', async () => {
    const daemon = await ws.start();
    await ws.chat.say('/approvals all');
    const kept = join(ws.root, 'config', 'approvals', `${key()}.json`);
    await until('approvals are on', async () => (await readFile(kept, 'utf8')).includes('"all"'));
    await daemon.stop();
    await rm(join(ws.root, 'config', 'config.json'));
    await rm(ws.stateDir, { recursive: true });
    await rm(ws.runtimeDir, { recursive: true });
    expect(await call()).toEqual(denied);
  });

  it('a tool is denied where they are on, whatever lies in place of the mailbox', async () => {
    await mode('{"mode":"risky"}');
    await symlink('/', join(ws.project, '.gemini'));
    expect(await call()).toEqual(denied);
  });

  it('a tool is denied where they are on in a folder that no daemon has served yet', async () => {
    await mode('{"mode":"risky"}');
    await rm(join(ws.root, 'config', 'bound'), { recursive: true });
    expect(await call()).toEqual(denied);
  });

  it('a tool of a folder that is not ours runs', async () => {
    await mode('{"mode":"all"}');
    await gateFile();
    expect(await call('/')).toEqual({});
  });

  it('what nobody can read is denied while some gate is closed', async () => {
    const raw = async () => JSON.parse((await agent.raw('BeforeTool', '{"tool_na')).stdout);
    expect(await raw()).toEqual({});
    await gateFile();
    expect(await raw()).toEqual(JSON.parse(line));
  });

  it('a config that cannot be read opens nothing', async () => {
    await gateFile();
    await writeFile(join(ws.root, 'config', 'config.json'), '{');
    expect(await call()).toEqual(JSON.parse(line));
  });
});
