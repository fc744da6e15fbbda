// kill -9 of the daemon (the built program), of the relay with its workerd, and of hooks: nothing lost, nothing twice.

import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isoSeconds } from '../../protocol/files.ts';
import { until, type Workstation } from '../helpers/daemon.ts';
import { eachTest, type Scene } from '../helpers/scene.ts';
import type { FarSide } from '../helpers/stack.ts';

let far: FarSide;
let ws: Workstation;
let newAgent: Scene['newAgent'];
eachTest((scene) => {
  ({ far, ws, newAgent } = scene);
});

const texts = async () => (await ws.inbox()).map((entry) => entry.text);
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `m${index + 1}`);
const phone = () => ws.chat.fromBot().map((message) => message.text);

describe('kill -9 of the daemon', () => {
  it('at random moments while fifty messages flow in: each stands in the inbox file exactly once, in order', async () => {
    let flowing = true;
    const flow = (async () => {
      for (const text of numbered(50)) await ws.chat.say(text);
      flowing = false;
    })();
    let kills = 0;
    for (let daemon = await ws.runDaemon(); ; daemon = await ws.runDaemon()) {
      // A moment that differs from run to run: after some messages, in the middle of whatever comes next.
      const seen = (await texts()).length;
      const wanted = seen + 1 + Math.floor(Math.random() * 8);
      await until('some more arrived', async () => !flowing || (await texts()).length >= wanted);
      await daemon.kill9();
      kills += 1;
      if (!flowing && kills >= 4) break;
    }
    await flow;
    await ws.runDaemon();
    await until('all are there', async () => (await texts()).length >= 50);
    await until('the relay is rid of them', async () => (await ws.chat.ladder()).delivered === 50);
    expect(await texts()).toEqual(numbered(50));
  });

  it('after the journal has a message and before the file shows it: shown at the next start, once', async () => {
    // A folder in the file's place stops the daemon between the two.
    await ws.foreignWrite(join(ws.inboxFile, 'in-the-way'), '');
    const first = await ws.runDaemon();
    await ws.chat.say('custody');
    await until('the journal has it', async () =>
      (await readFile(join(ws.stateDir, 'journal.jsonl'), 'utf8')).includes('custody'),
    );
    await first.kill9();
    await rename(ws.inboxFile, join(ws.root, 'away'));
    await ws.runDaemon();
    await until('it is shown', async () => (await texts()).length > 0);
    await until('the relay knows', async () => (await ws.chat.ladder()).delivered === 1);
    expect(await texts()).toEqual(['custody']);
  });

  it('between the post of a status update and its mark: once on the phone, marked at the next start', async () => {
    const first = await ws.runDaemon();
    far.sim.failNext({ method: 'sendMessage', status: 429, headers: { 'Retry-After': '2' } });
    const entry = { id: 'r', timestamp: isoSeconds(Date.now()), from: 'agent', text: 'done', sent: false };
    await ws.foreignWrite(ws.outboxFile, { messages: [entry] });
    await far.sim.waitForCall((call) => call.params.chat_id === ws.chat.id);
    await first.kill9();
    expect(await ws.outbox()).toEqual([entry]);
    await until('the relay sends it without us', () => phone().includes('done'));
    await ws.runDaemon();
    await until('it is marked', async () => (await ws.outbox())[0]?.sent === true);
    expect(phone()).toEqual(['done']);
  });

  it('in a turn: the answer is reported by the files, and the message is answered after the next start', async () => {
    const first = await ws.runDaemon();
    await ws.chat.say('go');
    await until('it is there', async () => (await texts()).length === 1);
    const agent = await newAgent();
    const context = (await agent.hook('BeforeAgent', { prompt: 'x' })).additionalContext;
    expect(context).toContain('go');
    await first.kill9();
    await agent.record('user', [{ text: 'x' }, { text: `<hook_context>${context}</hook_context>` }]);
    await agent.record('gemini', 'Went.');
    await agent.hook('AfterAgent', { prompt: 'x', prompt_response: 'Went.' });
    await ws.runDaemon();
    await until('the answer is on the phone', () => phone().includes('Went.'));
    await until('the relay knows', async () => (await ws.chat.ladder()).answered === 1);
    expect(phone()).toEqual(['Went.']);
    expect(await agent.turn('idle')).toBeUndefined();
  });
});

describe('a daemon that hangs for a moment', () => {
  it('finds out what the hooks did on the files meanwhile: given once, answered, on the phone once', async () => {
    const daemon = await ws.runDaemon();
    await ws.chat.say('go');
    await until('it is there', async () => (await texts()).length === 1);
    const agent = await newAgent();
    await agent.hook('SessionStart', { source: 'startup' });
    await until('the relay knows', async () => (await ws.chat.ladder()).delivered === 1);
    await ws.hang(daemon);
    const context = (await agent.hook('BeforeAgent', { prompt: 'x' })).additionalContext;
    process.kill(daemon.pid, 'SIGCONT');
    expect(context).toContain('go');
    await agent.record('user', [{ text: 'x' }, { text: `<hook_context>${context}</hook_context>` }]);
    await agent.record('gemini', 'Went.');
    await agent.hook('AfterAgent', { prompt: 'x', prompt_response: 'Went.' });
    await until('the answer is on the phone', () => phone().includes('Went.'));
    await until('the relay knows', async () => (await ws.chat.ladder()).answered === 1);
    expect(await agent.turn('idle')).toBeUndefined();
    expect(phone()[0]).toBe('Went.');
  });
});

describe('kill -9 of a hook', () => {
  it('while the daemon was busy: the message is not given away and comes with the next turn', async () => {
    const daemon = await ws.runDaemon();
    await ws.chat.say('important');
    await until('it is there', async () => (await texts()).length === 1);
    const victim = await newAgent('victim');
    await ws.hang(daemon);
    const lost = victim.hook('BeforeAgent', { prompt: 'x' }).catch(() => 'killed');
    const launcher = await until('the launcher runs', () => launcherOf(victim.pid));
    await until('it has asked', async () => (await childrenOf(launcher)).length > 0);
    process.kill(launcher, 'SIGKILL');
    expect(await lost).toBe('killed');
    process.kill(daemon.pid, 'SIGCONT');
    expect(await victim.turn('Seen.')).toContain('important');
    await until('the relay knows', async () => (await ws.chat.ladder()).answered === 1);
  });
});

describe('kill -9 of the relay', () => {
  it('while messages wait in it and a poll is parked: nothing is lost, nothing comes twice', async () => {
    await ws.start();
    await ws.chat.say('before');
    await until('it is there', async () => (await texts()).length === 1);
    await far.killRelay();
    await far.startRelay();
    await ws.chat.say('after');
    await until('it is there', async () => (await texts()).includes('after'));
    await until('the relay knows', async () => (await ws.chat.ladder()).delivered === 2);
    expect(await texts()).toEqual(['before', 'after']);
  });

  it('while it has messages that no daemon has: they come when both are back', async () => {
    for (const text of numbered(5)) await ws.chat.say(text);
    await far.killRelay();
    await far.startRelay();
    await ws.start();
    await until('all are there', async () => (await texts()).length === 5);
    expect(await texts()).toEqual(numbered(5));
  });
});

async function childrenOf(pid: number): Promise<number[]> {
  const line = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return line.trim().split(' ').filter(Boolean).map(Number);
}

/** The only child of the coding agent's shell. */
async function launcherOf(shell: number): Promise<number | undefined> {
  return (await childrenOf(shell))[0];
}
