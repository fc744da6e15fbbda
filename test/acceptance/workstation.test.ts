// The promises for what people do to their workstation, and for what must never leave it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runProgram, until } from '../helpers/daemon.ts';
import { startAgent, timesIn } from '../helpers/launcher.ts';
import { outputOf } from '../helpers/output.ts';
import { eachTest, type Scene } from '../helpers/scene.ts';

let scene: Scene;
eachTest((given) => {
  scene = given;
});

const phone = () => scene.ws.chat.fromBot().map(({ text }) => text);

describe('nothing is lost and the error names the repair', () => {
  it('when a second daemon is started', async () => {
    const { ws } = scene;
    await ws.start();
    const { code, stderr } = await ws.run('start', '--quiet').exited;
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^wa-sync: .*\(daemon_running\)\n.*wa-sync down/)]);
    await scene.arrives('to the first');
  });

  it('when a second session of the agent is open: the first one gets the message, and its answer reaches the phone', async () => {
    await scene.ws.start();
    const [first, second] = [await scene.newAgent('first'), await scene.newAgent('second')];
    await first.hook('SessionStart', { source: 'startup' });
    await second.hook('SessionStart', { source: 'startup' });
    await scene.arrives('for the first');
    expect(await second.turn('Not mine.')).toBeUndefined();
    expect(timesIn(await first.turn('Mine.'), 'for the first')).toBe(1);
    await until('the answer is on the phone', () => phone().length > 0);
    expect(phone()).toEqual(['Mine.']);
  });

  it('when the installed hook script is removed: the agent runs as without hooks', async () => {
    const { ws } = scene;
    await ws.start();
    await scene.arrives('keep me');
    const installed = await ws.run('hooks', 'install', '--agent', 'gemini', '--scope', 'project').exited;
    expect([installed.code, installed.stderr]).toEqual([0, '']);
    const settings = JSON.parse(await readFile(join(ws.project, '.gemini', 'settings.json'), 'utf8'));
    const [entry] = settings.hooks.BeforeAgent[0].hooks as { command: string }[];
    const input = JSON.stringify({ session_id: 's', cwd: ws.project, prompt: 'x' });
    const command = entry?.command.replace(/ BeforeAgent 60 /, ' BeforeAgent 60x10 ') ?? '';
    expect(command).toContain('60x10');
    const run = async () => {
      const child = spawn('sh', ['-c', command], { env: { PATH: process.env.PATH ?? '', ...ws.env } });
      const output = outputOf(child);
      // A shell that finds no program does not read.
      child.stdin.on('error', () => {}).end(input);
      const [status] = await once(child, 'close');
      return { status, ...output };
    };
    await rm(join(ws.root, 'home', '.local'), { recursive: true });
    expect(await run()).toEqual({ status: 0, stdout: expect.stringMatching(/^(\{\}\n)?$/), stderr: '' });
    expect((await ws.run('hooks', 'list').exited).stdout).toMatch(/hooks install/);
    await ws.run('hooks', 'install', '--agent', 'gemini', '--scope', 'project').exited;
    expect(await run()).toEqual({ status: 0, stdout: expect.stringContaining('keep me'), stderr: '' });
  });

  it('when the project is moved: bound in its new place, it has what was unread', async () => {
    const { ws } = scene;
    const daemon = await ws.start();
    await scene.arrives('keep me');
    await daemon.stop();
    const moved = join(ws.root, 'moved');
    await rename(ws.project, moved);
    const lost = await ws.start();
    await until('status names it', async () =>
      /the project folder .*my project does not exist\. If it was moved, .*config\.json/.test(
        (await runProgram(['status'], ws.env, ws.root).exited).stdout,
      ),
    );
    await lost.stop();
    expect(await readdir(ws.root)).not.toContain('my project');

    const bindings = [{ dir: moved, mailbox: ws.chat.mailbox, project: 0 }];
    await writeFile(join(ws.root, 'config', 'config.json'), JSON.stringify({ bindings }));
    const found = runProgram(['start', '--quiet'], ws.env, moved);
    try {
      await until('the daemon runs', () => found.stdout().includes('is running'));
      const agent = await startAgent({ project: moved, env: ws.env, dir: join(ws.root, 'agent') });
      expect(timesIn(await agent.turn('Seen.'), 'keep me')).toBe(1);
      await agent.kill();
      await until('the answer is on the phone', () => phone().includes('Seen.'));
    } finally {
      found.child.kill('SIGKILL');
      await found.exited;
    }
  });

  it('when the journal is of a newer version: nothing is touched', async () => {
    const { ws } = scene;
    const daemon = await ws.start();
    await scene.arrives('keep me');
    await daemon.stop();
    const file = join(ws.stateDir, 'journal.jsonl');
    const [version = '', ...lines] = (await readFile(file, 'utf8')).split('\n');
    const newer = [version.replace(/"version":\d+/, '"version":99'), ...lines].join('\n');
    await writeFile(file, newer);
    const { code, stderr } = await ws.run('start', '--quiet').exited;
    expect([code, stderr]).toEqual([1, expect.stringMatching(/version 99.*\(journal_version\)\n.*git pull && npm ci/)]);
    expect(await readFile(file, 'utf8')).toBe(newer);
    await writeFile(file, [version, ...lines].join('\n'));
    await ws.start();
    expect(timesIn(await (await scene.newAgent()).turn('Seen.'), 'keep me')).toBe(1);
  });
});

it('secrets in what the agent says are redacted before they leave the workstation, with the daemon and without it', async () => {
  const { far, ws } = scene;
  const secrets = [
    `AKIA${'Q'.repeat(16)}`,
    `ghp_${'a1B2'.repeat(9)}`,
    far.token,
    far.sim.token,
    'MIIEvQIBADANBg'.repeat(8),
  ];
  const [aws, github, relay, bot, key] = secrets;
  const answer = `The keys: ${aws}, ${github}, ${relay}, ${bot}.\n-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----`;
  const agent = await scene.newAgent();
  await agent.turn(`One. ${answer}`);
  const calls = far.sim.calls.length;
  await ws.start();
  await agent.turn(`Two. ${answer}`);
  await until('both are on the phone', () => phone().length === 2);
  expect(
    phone()
      .map((text) => text.slice(0, 14))
      .sort(),
  ).toEqual(['One. The keys:', 'Two. The keys:']);
  const sent = JSON.stringify(far.sim.calls.slice(calls).map(({ params }) => params));
  expect(secrets.filter((secret) => sent.includes(secret))).toEqual([]);
});
