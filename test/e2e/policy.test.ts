// Policies on the whole path: what runs, what does not, and how much of it.

import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eachGate } from '../helpers/approvals.ts';
import { until, type Workstation } from '../helpers/daemon.ts';
import type { AgentProcess } from '../helpers/launcher.ts';

let ws: Workstation;
let agent: AgentProcess;
const { gate, shell, question, shows, tap, policy, audit, switchOn } = eachGate((scene) => {
  ({ ws, agent } = scene);
});
const denied = (words: string) => ({ decision: 'deny', reason: expect.stringContaining(words) });

describe('a policy', () => {
  it('denies, stops and rewrites without the phone, also while approvals are off', async () => {
    await policy({
      rules: [
        { match: { command: 'npm publish*' }, do: 'deny', reason: 'releases are made by CI' },
        { match: { command: 'shutdown*' }, do: 'stop' },
        { match: { command: 'npm install*' }, do: 'rewrite', set: { command: 'npm ci' } },
      ],
    });
    await ws.start();
    expect(await shell('npm publish')).toEqual(denied('releases are made by CI'));
    expect(await shell('shutdown now')).toEqual({ continue: false, stopReason: expect.stringContaining('policy') });
    expect((await shell('npm install left-pad')).hookSpecificOutput?.tool_input).toEqual({ command: 'npm ci' });
  });

  it('of the project tightens and cannot allow', async () => {
    await mkdir(join(ws.project, '.gemini'), { recursive: true });
    const file = join(ws.project, '.gemini', 'wa_policy.json');
    await writeFile(file, JSON.stringify({ rules: [{ tool: 'run_shell_command', do: 'deny' }] }));
    await ws.start();
    expect(await shell('ls')).toEqual(denied("the project's policy"));
    await writeFile(file, JSON.stringify({ rules: [{ do: 'allow' }] }));
    await switchOn('risky');
    const answer = shell('ls');
    await tap(await question('wa_policy.json'), 'Deny');
    await answer;
    await rm(file);
    expect(await shell('ls')).toEqual({});
  });

  it('makes a checkpoint of the working tree and tells its ref', async () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
        cwd: ws.project,
        encoding: 'utf8',
      });
    git('init', '-q');
    git('config', 'user.name', 't');
    git('config', 'user.email', 't@example.org');
    await writeFile(join(ws.project, 'a.txt'), 'committed');
    git('add', 'a.txt');
    git('commit', '-qm', 'first');
    await writeFile(join(ws.project, 'a.txt'), 'changed');
    await policy({ rules: [{ match: { command: 'make *' }, checkpoint: true }] });
    await ws.start();
    expect(await shell('make clean')).toEqual({});
    const told = await shows('Checkpoint before a command ran: refs/wa-sync/');
    const ref = /refs\/wa-sync\/\S+/.exec(told.text)?.[0] ?? '';
    expect(git('show', `${ref}:a.txt`)).toBe('changed');
    expect(await readFile(join(ws.project, 'a.txt'), 'utf8')).toBe('changed');
  });

  it('stops at the budget of the day and goes on when the owner allows as much again', async () => {
    await policy({ budgets: { turns: 1 } });
    await ws.start();
    await agent.turn('One.');
    expect(await agent.hook('BeforeAgent', { prompt: 'two' })).toEqual(denied('1 turns'));
    await tap(await shows("Today's budget is used up: 1 turns"), 'As much again today');
    await shows('As much again for today.');
    expect(await agent.hook('BeforeAgent', { prompt: 'two' })).toEqual({});
  });

  it('and its verdicts are shown by the command line, which changes nothing', async () => {
    const daemon = ws.run('start');
    await until('the daemon is up', () => daemon.stdout().includes('is running'));
    await switchOn('risky');
    const answer = shell('git push --force');
    await question('git push');
    expect((await ws.run('approvals').exited).stdout).toBe(
      `${ws.project}\n  Approvals: risky. wa-sync asks before a tool that may destroy, leak or loosen something; the tool waits for your answer, and no answer is a no.\n  1 question waits on the phone.\nChange it on the phone: /approvals off, risky or all.\n`,
    );
    await tap(await question('git push'), 'Deny');
    await answer;
    await audit(2);
    const shown = (await ws.run('audit', '--since', '1h').exited).stdout.trim().split('\n');
    expect(shown.map((line) => line.replace(/^\S+ +/, ''))).toEqual([
      'mode      risky',
      expect.stringMatching(
        /^decision {2}run_shell_command {2}denied {2}git push --force {2}by \d+ {2}\(overwrites .* \(force-push\)\)$/,
      ),
    ]);
    expect((await ws.run('audit', '--since', 'soon').exited).stderr).toContain('(bad_arguments)');
  });

  it('with a mistake is named by the command line before any tool call, until it is repaired', async () => {
    await ws.start();
    const said = async (name: string) => (await ws.run(name).exited).stdout;
    await writeFile(join(ws.root, 'config', 'policy.json'), '{\n  "rules": rulez\n}');
    await mkdir(join(ws.project, '.gemini'), { recursive: true });
    await writeFile(join(ws.project, '.gemini', 'wa_policy.json'), '{ "olny": 1 }');
    expect(await said('approvals')).toMatch(
      / {2}trouble: .*policy\.json is not JSON \(line 2\)\n {2}trouble: .*"olny" is not a known key/,
    );
    expect(await said('status')).toMatch(/ {2}trouble {3}.*policy\.json is not JSON \(line 2\)\n/);
    await rm(join(ws.project, '.gemini', 'wa_policy.json'));
    await policy({ rules: [] });
    expect(await said('approvals')).not.toContain('trouble');
    expect(await said('status')).not.toContain('trouble');
  });

  it('opens only the tools that it lists', async () => {
    await policy({ tools: { only: ['read_*'] } });
    await ws.start();
    expect(await gate('read_file', { file_path: 'a' })).toEqual({});
    expect(await shell('ls')).toEqual(denied('only these tools are open now: read_*'));
  });
});
