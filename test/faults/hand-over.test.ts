// A message between the workstation's journal and the model: whoever dies there, it is given, and given once.

import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { acquireLock } from '../../agent/fs/lock.ts';
import { type Running, until, type Workstation } from '../helpers/daemon.ts';
import { eachTest, type Scene } from '../helpers/scene.ts';

let ws: Workstation;
let newAgent: Scene['newAgent'];
let arrives: Scene['arrives'];
eachTest((scene) => {
  ({ ws, newAgent, arrives } = scene);
});

const startProgram = (): Promise<Running> => ws.runDaemon();
const ladder = () => ws.chat.ladder();
const timesIn = (context: string | undefined, text: string) => (context ?? '').split(`]\n${text}\n[`).length - 1;

describe('between the hand-over and its answer', () => {
  it('a power cut gives nothing away: the next turn gets it, marked as given again', async () => {
    const daemon = await startProgram();
    await arrives('after the cut');
    const victim = await newAgent('victim');
    await until('it is in the file', async () => (await ws.inbox()).length === 1);
    process.kill(daemon.pid, 'SIGKILL');
    await daemon.exited;
    // As a hand-over leaves it between its mark in the file and its line in the journal.
    const via = { tool: 'gemini', session: victim.session, transcript: victim.sessionFile, at: 0 };
    const messages = (await ws.inbox()).map((entry) => ({ ...entry, read: true, via }));
    await ws.foreignWrite(ws.inboxFile, { messages });
    await victim.kill();

    await startProgram();
    const agent = await newAgent('agent');
    const context = (await agent.turn('Nothing yet.')) ?? (await agent.turn('Seen.'));
    expect(timesIn(context, 'after the cut')).toBe(1);
    expect(context).toContain('given again, because it did not reach you before');
    await until('the relay knows', async () => (await ladder()).answered === 1);
    expect(await agent.turn('idle')).toBeUndefined();
  });

  it('the death of the daemon alone leaves it to the hook or to the next turn, once, and the answer counts', async () => {
    const daemon = await startProgram();
    await arrives('by the file');
    const agent = await newAgent('agent');
    // The daemon waits for the file while it dies.
    const lock = await acquireLock(ws.inboxFile, { timeoutMs: 5_000, short: false });
    const answer = agent.hook('BeforeAgent', { prompt: 'go on' });
    await until('the launcher runs', async () => (await childrenOf(agent.pid)).length > 0);
    process.kill(daemon.pid, 'SIGKILL');
    await lock.release();
    const first = (await answer).hookSpecificOutput?.additionalContext;
    await daemon.exited;

    await startProgram();
    const added = first === undefined ? [] : [{ text: `<hook_context>${first}</hook_context>` }];
    await agent.record('user', [{ text: 'go on' }, ...added]);
    await agent.record('gemini', 'One.');
    await agent.hook('AfterAgent', { prompt: 'go on', prompt_response: 'One.', stop_hook_active: false });
    const second = await agent.turn('Two.');
    await until('the relay knows', async () => (await ladder()).answered === 1);
    await until('both answers are on the phone', () => ws.chat.fromBot().length >= 2);
    expect(timesIn(first, 'by the file') + timesIn(second, 'by the file')).toBe(1);
    expect(await agent.turn('idle')).toBeUndefined();
  });
});

describe('after the answer of the hook', () => {
  it('a coding agent that dies before it kept the message never counts as having read it', async () => {
    await ws.start();
    await arrives('to nobody');
    const victim = await newAgent('victim');
    const first = (await victim.hook('BeforeAgent', { prompt: 'go on' })).hookSpecificOutput?.additionalContext;
    expect(timesIn(first, 'to nobody')).toBe(1);
    await victim.kill();
    await until('it is unread again', async () => (await ws.inbox())[0]?.read === false);
    expect(await ladder()).toEqual({ delivered: 1 });

    const agent = await newAgent('agent');
    const second = await agent.turn('Seen.');
    expect(timesIn(second, 'to nobody')).toBe(1);
    expect(second).toContain('given again');
    await until('the relay knows', async () => (await ladder()).answered === 1);
  });
});

/** A turn that was given `go`, and whose daemon is dead. */
async function turnWithoutDaemon() {
  const daemon = await startProgram();
  await arrives('go');
  const agent = await newAgent('agent');
  const context = (await agent.hook('BeforeAgent', { prompt: 'go on' })).hookSpecificOutput?.additionalContext;
  expect(timesIn(context, 'go')).toBe(1);
  process.kill(daemon.pid, 'SIGKILL');
  await daemon.exited;
  await agent.record('user', [{ text: 'go on' }, { text: `<hook_context>${context}</hook_context>` }]);
  return agent;
}

describe('a turn that the daemon began and a hook ended alone', () => {
  it('is on the phone once and settled', async () => {
    const agent = await turnWithoutDaemon();
    await agent.record('gemini', 'Went.');
    await agent.hook('AfterAgent', { prompt: 'go on', prompt_response: 'Went.', stop_hook_active: false });
    await startProgram();
    expect(await agent.turn('Idle.')).toBeUndefined();
    await until('the relay knows', async () => (await ladder()).answered === 1);
    await until('both answers are on the phone', () => ws.chat.fromBot().some(({ text }) => text === 'Idle.'));
    expect(ws.chat.fromBot().map(({ text }) => text)).toEqual(['Went.', 'Idle.']);
  });
});

describe('a turn whose end a hook reported without the daemon, before the session file had the answer', () => {
  it('is settled by the next daemon and on the phone once, also after the next prompt', async () => {
    const agent = await turnWithoutDaemon();
    await agent.hook('AfterAgent', { prompt: 'go on', prompt_response: 'Went.', stop_hook_active: false });
    await agent.record('gemini', 'Went.');
    await startProgram();
    await until('the relay knows', async () => (await ladder()).answered === 1);
    expect(await agent.turn('Idle.')).toBeUndefined();
    await until('the next answer is on the phone', () => ws.chat.fromBot().some(({ text }) => text === 'Idle.'));
    expect(ws.chat.fromBot().map(({ text }) => text)).toEqual(['Went.', 'Idle.']);
  });
});

describe('two turns of which the second answer is the end of the first, around the death of the daemon', () => {
  const answersOf = () => ws.chat.fromBot().map(({ text }) => text);
  const [long, short] = ['\nRemoved the flag.\nDone.', '\nDone.'];

  it('are both on the phone', async () => {
    const daemon = await startProgram();
    const agent = await newAgent('agent');
    await agent.turn(long);
    await until('the first is on the phone', () => answersOf().length === 1);
    process.kill(daemon.pid, 'SIGKILL');
    await daemon.exited;
    await agent.turn(short);
    await startProgram();
    await agent.turn('And on.');
    await until('the last is on the phone', () => answersOf().includes('And on.'));
    expect(answersOf()).toEqual(['Removed the flag.\nDone.', 'Done.', 'And on.']);
  });

  it('are both on the phone when the first was told without it, too', async () => {
    const daemon = await startProgram();
    const agent = await newAgent('agent');
    await agent.hook('BeforeAgent', { prompt: 'go on' });
    process.kill(daemon.pid, 'SIGKILL');
    await daemon.exited;
    for (const answer of [long, short]) {
      await agent.record('user', [{ text: 'go on' }]);
      await agent.record('gemini', answer);
      await agent.hook('AfterAgent', { prompt: 'go on', prompt_response: answer, stop_hook_active: false });
    }
    await startProgram();
    await agent.turn('And on.');
    await until('the last is on the phone', () => answersOf().includes('And on.'));
    expect(answersOf()).toEqual(['Removed the flag.\nDone.', 'Done.', 'And on.']);
  });
});

describe('one answer that the daemon and a hook alone have both told', () => {
  it('is on the phone once, whoever of them was first', async () => {
    const daemon = await startProgram();
    const agent = await newAgent('agent');
    await agent.turn('One.');
    await agent.hook('BeforeAgent', { prompt: 'go on' });
    await agent.record('user', [{ text: 'go on' }]);
    await agent.record('gemini', 'Told by all.');
    const end = {
      prompt: 'go on',
      prompt_response: 'Told by all.',
      stop_hook_active: false,
      timestamp: new Date(1_790_000_000_000).toISOString(),
    };
    process.kill(daemon.pid, 'SIGKILL');
    await daemon.exited;
    // The hooks of two scopes, and the daemon that is back: one end.
    await agent.hook('AfterAgent', end);
    await agent.hook('AfterAgent', end);
    await startProgram();
    await agent.hook('AfterAgent', end);
    await agent.turn('And on.');
    await until('the last is on the phone', () => ws.chat.fromBot().some(({ text }) => text === 'And on.'));
    const ids = (await ws.outbox()).map(({ id }) => id);
    expect([ids.length, ids.every((id) => /^resp_[0-9a-f]{32}$/.test(id))]).toEqual([3, true]);
    expect(ws.chat.fromBot().map(({ text }) => text)).toEqual(['One.', 'Told by all.', 'And on.']);
  });
});

describe('a daemon that stood still while a turn began', () => {
  it('leaves the beginning to the hook that did it alone, and reports the turn once', async () => {
    const daemon = await startProgram();
    await arrives('go');
    const agent = await newAgent('agent');
    await ws.hang(daemon);
    const context = (await agent.hook('BeforeAgent', { prompt: 'go on' })).hookSpecificOutput?.additionalContext;
    expect(timesIn(context, 'go')).toBe(1);
    await agent.record('user', [{ text: 'go on' }, { text: `<hook_context>${context}</hook_context>` }]);
    await agent.record('gemini', 'Went.');
    const ended = agent.hook('AfterAgent', { prompt: 'go on', prompt_response: 'Went.', stop_hook_active: false });
    await until('the hook asks', async () => {
      const [launcher = 0] = await childrenOf(agent.pid);
      return (await childrenOf(launcher)).length > 0;
    });
    process.kill(daemon.pid, 'SIGCONT');
    await ended;
    await until('the relay knows', async () => (await ladder()).answered === 1);
    expect(await agent.turn('Idle.')).toBeUndefined();
    await until('both answers are on the phone', () => ws.chat.fromBot().some(({ text }) => text === 'Idle.'));
    expect(ws.chat.fromBot().map(({ text }) => text)).toEqual(['Went.', 'Idle.']);
  });
});

describe('a turn that a hook began alone and one ended while a daemon started', () => {
  it('is told once and settled', async () => {
    const daemon = await startProgram();
    await arrives('go');
    await daemon.kill9();
    const agent = await newAgent('agent');
    const context = (await agent.hook('BeforeAgent', { prompt: 'go on' })).hookSpecificOutput?.additionalContext;
    expect(timesIn(context, 'go')).toBe(1);
    await agent.record('user', [{ text: 'go on' }, { text: `<hook_context>${context}</hook_context>` }]);
    await agent.record('gemini', 'Went.');

    // The next daemon starts, and does not get to the inbox yet.
    const lock = await acquireLock(ws.inboxFile, { timeoutMs: 5_000, short: false });
    const next = ws.runDaemon();
    await agent.hook('AfterAgent', { prompt: 'go on', prompt_response: 'Went.', stop_hook_active: false });
    await lock.release();
    await next;
    expect(await agent.turn('Idle.')).toBeUndefined();
    await until('the relay knows', async () => (await ladder()).answered === 1);
    await until('both answers are on the phone', () => ws.chat.fromBot().some(({ text }) => text === 'Idle.'));
    expect(ws.chat.fromBot().map(({ text }) => text)).toEqual(['Went.', 'Idle.']);
  });
});

describe('an answer of a hook alone that another program took out of the file', () => {
  it('is on the phone once a later turn, with a message, was begun by a hook alone', async () => {
    const daemon = await startProgram();
    await arrives('one');
    await arrives('two');
    await until('both are in the file', async () => (await ws.inbox()).length === 2);
    await daemon.kill9();
    const agent = await newAgent('agent');
    const [one, two] = await ws.inbox();
    const without = async (answer: string) => {
      expect((await ws.outbox()).map(({ text }) => text)).toEqual([answer]);
      await ws.foreignWrite(ws.outboxFile, { messages: [] });
    };
    await ws.foreignWrite(ws.inboxFile, { messages: [one as object] });
    expect(timesIn(await agent.turn('First.'), 'one')).toBe(1);
    await without('First.');
    await ws.foreignWrite(ws.inboxFile, { messages: [...(await ws.inbox()), two as object] });
    expect(timesIn(await agent.turn('Second.'), 'two')).toBe(1);
    await startProgram();
    await until('the relay knows', async () => (await ladder()).answered === 2);
    await until('both answers are on the phone', () => ws.chat.fromBot().length >= 2);
    expect(
      ws.chat
        .fromBot()
        .map(({ text }) => text)
        .sort(),
    ).toEqual(['First.', 'Second.']);
  });
});

describe('a session that gets a new id in the same process', () => {
  it('goes on to receive and to report while no daemon runs', async () => {
    const daemon = await ws.start();
    const agent = await newAgent('agent');
    await agent.turn('Before.');
    await daemon.stop();
    agent.session = 'after-clear';
    const waiting = { id: 'x', timestamp: new Date().toISOString(), from: 'user', text: 'still there?', read: false };
    await ws.foreignWrite(ws.inboxFile, { messages: [waiting] });
    expect(timesIn(await agent.turn('After.'), 'still there?')).toBe(1);
    expect((await ws.outbox()).map(({ text }) => text)).toEqual(['Before.', 'After.']);
  });
});

async function childrenOf(pid: number): Promise<number[]> {
  const line = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return line.trim().split(' ').filter(Boolean).map(Number);
}
