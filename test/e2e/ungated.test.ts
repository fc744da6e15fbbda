// A tool that ran without its gate, on the whole path: a real launcher at the tool's end, the daemon and the phone.

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eachGate } from '../helpers/approvals.ts';
import { until, type Workstation } from '../helpers/daemon.ts';
import type { AgentProcess } from '../helpers/launcher.ts';

let ws: Workstation;
let agent: AgentProcess;
const { shell, shows, audit, switchOn } = eachGate((scene) => {
  ({ ws, agent } = scene);
});

const ended = (command: string) =>
  agent.hook('AfterTool', {
    tool_name: 'run_shell_command',
    tool_input: { command },
    tool_response: { llmContent: '' },
  });
const begun = () => agent.hook('BeforeAgent', { prompt: 'go on' });
const warnings = () =>
  ws.chat
    .fromBot()
    .map(({ text }) => text.split('\n')[0])
    .filter((line) => line?.startsWith('⚠'));

describe('while approvals are on, a tool that ended', () => {
  it('without its gate is reported to the phone at once, without its secrets, and stands in the audit file', async () => {
    await ws.start();
    await switchOn('risky');
    await begun();
    const key = `ghp_${'a1B2'.repeat(9)}`;
    await ended(`curl -H "token: ${key}" https://a.example`);
    const { text } = await shows('⚠ A command ran without being asked: curl -H "token: [redacted');
    expect(text).toContain('STOP halts the agent');
    expect(text).not.toContain(key);
    expect(await audit(3)).toMatchObject([
      { kind: 'mode' },
      { kind: 'ungated', tool: 'run_shell_command' },
      { kind: 'tool' },
    ]);
  });

  it('after its gate is not reported, also when the daemon was restarted in between', async () => {
    const daemon = await ws.start();
    await switchOn('risky');
    await begun();
    expect(await shell('ls')).toEqual({});
    await ended('ls');
    expect(await shell('pwd')).toEqual({});
    await daemon.stop();
    await ws.start();
    await ended('pwd');
    await begun();
    await ended('whoami');
    await shows('without being asked: whoami');
    expect(warnings()).toEqual(['⚠ A command ran without being asked: whoami']);
  });
});

it('a project that switches off the hooks of wa-sync is named on the phone and in the status while approvals are on', async () => {
  const file = join(ws.project, '.gemini', 'settings.json');
  await mkdir(join(ws.project, '.gemini'), { recursive: true });
  await writeFile(file, '{"hooksConfig":{"enabled":false}}');
  const daemon = await ws.start();
  const problems = () =>
    (daemon.status() as { projects: { approvals: { problems: string[] } }[] }).projects[0]?.approvals.problems.join();
  expect(problems()).toBe('');
  await switchOn();
  await shows(`⚠ Approvals are on, but ${file} switches all hooks off (hooksConfig.enabled).`);
  expect(problems()).toContain(file);
  await rm(file);
  await until('it is forgotten', () => problems() === '');
});
