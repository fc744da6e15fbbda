// What fails while a tool waits for the phone: nothing runs without a yes.

import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Daemon } from '../../agent/daemon/daemon.ts';
import { eachGate } from '../helpers/approvals.ts';
import { until, type Workstation } from '../helpers/daemon.ts';
import type { AgentProcess } from '../helpers/launcher.ts';
import type { FarSide } from '../helpers/stack.ts';

let far: FarSide;
let ws: Workstation;
let agent: AgentProcess;
const { shell, questions, question, shows, tap, gateFile, exists, policy, audit, switchOn } = eachGate((scene) => {
  ({ far, ws, agent } = scene);
});
const denied = (words: string) => ({ decision: 'deny', reason: expect.stringContaining(words) });

const unsent = (daemon: Daemon) => (daemon.status() as { projects: { unsent: number }[] }).projects[0]?.unsent;

describe('a fault', () => {
  it('of time denies: no answer comes', async () => {
    let now = Date.now();
    await policy({ timeoutSeconds: 20 });
    const daemon = await ws.start({ clock: () => now });
    await switchOn();
    const answer = shell('npm run slow');
    const asked = await question('npm run slow');
    await until('the daemon knows that the phone has it', () => unsent(daemon) === 0);
    now += 21_000;
    expect(await answer).toEqual(denied('did not answer in time'));
    await shows('⌛ Too late, denied');
    // The late tap finds no button; one that was on its way is told.
    expect(await far.sim.press(asked.messageId, 'Approve', ws.chat.id).catch(() => 'no button')).toBe('no button');
  });

  it('of the relay denies: the phone cannot be reached', async () => {
    let now = Date.now();
    const daemon = await ws.start({ clock: () => now });
    await switchOn();
    await until('the daemon knows that the phone has its answer', () => unsent(daemon) === 0);
    await far.killRelay();
    try {
      const answer = shell('npm run unheard');
      await until('it was asked', () => unsent(daemon) === 1);
      now += 31_000;
      const reason =
        'the relay or the chat platform cannot be reached, so this was denied. See `wa-sync status`. A person can';
      expect(await answer).toEqual(denied(reason));
    } finally {
      await far.startRelay();
    }
  });

  it('of the daemon denies: it is killed while it asks, and the next one says so', async () => {
    const daemon = ws.run('start');
    await until('the daemon is up', () => daemon.stdout().includes('is running'));
    await switchOn();
    const answer = shell('npm run killed');
    const asked = await question('npm run killed');
    daemon.child.kill('SIGKILL');
    expect(await answer).toEqual(denied('nobody could approve this'));
    expect(await shell('npm run later')).toEqual(denied('nobody could approve this'));
    await ws.start();
    const told = await shows('⚠ Too late, denied: the daemon ended while this waited.');
    expect(told.messageId).toBe(asked.messageId);
    expect(questions()).toHaveLength(1);
  });

  it('of daemon and Node denies by the gate file, which goes when approvals are switched off', async () => {
    const daemon = ws.run('start');
    await until('the daemon is up', () => daemon.stdout().includes('is running'));
    await switchOn();
    expect(JSON.parse(await readFile(gateFile(), 'utf8'))).toEqual(denied('nobody could approve this'));
    expect((await stat(gateFile())).mode & 0o777).toBe(0o600);
    await ws.chat.say('/approvals off');
    await shows('Approvals are off');
    expect(await exists(gateFile())).toBe(false);
    daemon.child.kill('SIGKILL');
    await daemon.exited;
    expect(await shell('npm test')).toEqual({});
  });

  it('of the state directory opens nothing: the mode that the phone set outlives a deleted directory', async () => {
    const { stop } = await ws.start();
    await switchOn('risky');
    await stop();
    await rm(ws.stateDir, { recursive: true });
    expect(await shell('git push --force origin main')).toEqual(denied('nobody could approve this'));
    // Long after the phone has said it, so that the relay does not say it again.
    await far.pass(3_600_000);
    await ws.start();
    const answer = shell('git push --force origin main');
    await tap(await question('git push'), 'Deny');
    expect(await answer).toEqual(denied('The owner denied this'));
    await ws.chat.say('/approvals off');
    await shows('Approvals are off');
    expect(await shell('git push --force origin main')).toEqual({});
  });

  it('of the host withdraws: the hook that asked is gone, and a tap approves nothing', async () => {
    await ws.start();
    await switchOn();
    const answer = shell('npm run gone').catch(() => 'killed');
    const asked = await question('npm run gone');
    await agent.kill();
    expect(await answer).toBe('killed');
    await tap(asked, 'Approve').catch(() => {});
    await shows('▫️ Too late, denied');
    expect(await audit(2)).toMatchObject([{ kind: 'mode' }, { kind: 'decision', verdict: 'withdrawn' }]);
  });

  it('of the phone approves nothing twice: the second tap hears what the first decided', async () => {
    await ws.start();
    await switchOn();
    const answer = shell('npm run double');
    const asked = await question('npm run double');
    await Promise.all([tap(asked, 'Deny'), tap(asked, 'Approve')]);
    const { decision } = await answer;
    await shows('This was decided before');
    const [, first] = await audit(2);
    expect([first?.verdict, decision]).toEqual(decision === 'deny' ? ['denied', 'deny'] : ['approved', undefined]);
    expect(await audit(2)).toHaveLength(2);
  });

  it('of the person denies: a stranger, whom the relay lets in but the policy does not, decides nothing', async () => {
    await policy({ approvers: ['4242'] });
    await ws.start();
    await switchOn();
    const answer = shell('npm run stranger');
    await tap(await question('npm run stranger'), 'Approve');
    await shows('Only the owner can answer this. Nothing was approved.');
    await policy({});
    await tap(await question('npm run stranger'), 'Deny');
    expect(await answer).toEqual(denied('The owner denied this'));
  });

  it('of the payload denies: a call that cannot be read does not run', async () => {
    await ws.start();
    await switchOn();
    const { stdout } = await agent.raw('BeforeTool', '{"tool_name":"run_shell_command","tool_inp');
    expect(JSON.parse(stdout)).toEqual(denied('nobody could approve'));
  });

  it('of a policy asks about every call', async () => {
    await ws.start();
    await switchOn('risky');
    await writeFile(join(ws.root, 'config', 'policy.json'), '{ "rules": [');
    const answer = shell('ls');
    const asked = await question('policy.json is not JSON');
    await policy({});
    await tap(asked, 'Deny');
    expect(await answer).toEqual(denied('The owner denied this'));
  });

  it.skipIf(process.getuid?.() === 0)('of the disk denies: the question cannot be journalled', async () => {
    await ws.start();
    await switchOn();
    await chmod(ws.stateDir, 0o500);
    expect(await shell('ls')).toEqual(denied('could not ask'));
    await chmod(ws.stateDir, 0o700);
  });
});
