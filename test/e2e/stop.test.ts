// STOP and abort: out of band, remembered, and obeyed by the file alone.

import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isoSeconds } from '../../protocol/files.ts';
import { until, type Workstation } from '../helpers/daemon.ts';
import type { AgentProcess } from '../helpers/launcher.ts';
import { phoneOf } from '../helpers/phone.ts';
import { eachTest, type Scene } from '../helpers/scene.ts';

const signal =
  '⛔ STOP signal received from user. Complete your current action, write a final status update, and halt. Do not start any new tasks.';

let ws: Workstation;
let agent: AgentProcess;
let arrives: Scene['arrives'];
eachTest(async (scene) => {
  ({ ws, arrives } = scene);
  agent = await scene.newAgent();
});

const { phone, told } = phoneOf(() => ws.chat);
const stopEntry = async () => (await ws.inbox()).find(({ control }) => control !== undefined);
const tool = () => agent.hook('AfterTool', { tool_name: 'write_file' });
const begin = async () => {
  await agent.hook('BeforeAgent', { prompt: 'x' });
  await agent.record('user', [{ text: 'x' }]);
};
const end = async (answer = 'Status: half done.') => {
  await agent.record('gemini', answer);
  return agent.hook('AfterAgent', { prompt: 'x', prompt_response: answer });
};

describe('a STOP of the phone', () => {
  it('is told to the model with the next tool, ends with the turn, and the file shows both', async () => {
    await ws.start();
    await begin();
    await ws.chat.say('STOP');
    await told(/^Stop requested: the agent finishes its current action/);
    const entry = await until('the file shows it', stopEntry);
    expect(entry).toMatchObject({ id: 'stop_1', from: 'user', text: 'STOP', control: 'stop', read: false });
    expect((await tool()).additionalContext).toBe(signal);
    expect(await end()).toEqual({});
    await told(/^Stopped after the running turn \(\d+ s, 1 tool call\)\.$/);
    await until('the file shows that it is over', async () => (await stopEntry())?.read);
    await begin();
    expect(await tool()).toEqual({});
  });

  it('does not wait behind a command that cannot be carried out', async () => {
    await ws.start();
    await begin();
    // Where the gates for the time without a daemon belong stands something else.
    await rm(join(ws.runtimeDir, 'gate'), { recursive: true, force: true });
    await writeFile(join(ws.runtimeDir, 'gate'), '');
    await ws.chat.say('/approvals all');
    await until('it failed', () => ws.log.some(({ event }) => event === 'control not answered'));
    await ws.chat.say('STOP');
    await told(/^Stop requested/);
    expect((await tool()).additionalContext).toBe(signal);
  });

  it('releases what it parks when a newer message came with it, as after a sleep', async () => {
    const daemon = await ws.start();
    await daemon.stop();
    for (const text of ['before the stop', 'STOP', 'after the stop']) await ws.chat.say(text);
    await ws.start();
    await told(/^Nothing to stop/);
    const context = await until('both are given', async () => {
      const given = await agent.turn('Done.');
      return given?.includes('after the stop') ? given : undefined;
    });
    expect(context).toMatch(/sent before the STOP\]\nbefore the stop\n/);
  });

  it('is spent at once where nothing runs, and no later turn feels it', async () => {
    await ws.start();
    await ws.chat.say('stop');
    await told(/^Nothing to stop: no turn is running\.$/);
    await until('the file shows it spent', async () => (await stopEntry())?.read !== false);
    expect(await agent.hook('BeforeAgent', { prompt: 'x' })).toEqual({});
    expect(await tool()).toEqual({});
  });

  it('that came for a turn which ended unseen does not touch the next one', async () => {
    await ws.start();
    await begin();
    await ws.chat.say('/stop');
    await told(/^Stop requested/);
    expect(await agent.hook('BeforeAgent', { prompt: 'the next one' })).toEqual({});
    await told(/^Stopped: the turn had ended by itself/);
    expect(await tool()).toEqual({});
  });

  it('parks what waited before it, until a new text comes; then all of it is given, marked', async () => {
    await ws.start();
    await begin();
    await ws.chat.say('/later Paint it blue');
    await told(/^Kept for after/);
    await until('the file shows it', async () => (await ws.inbox()).length === 1);
    await ws.chat.say('/stop');
    await told(/1 message from before it is parked/);
    expect(await end()).toEqual({});
    const both = [{ text: 'Paint it blue', parked: true, read: false }, { control: 'stop' }];
    await expect.poll(() => ws.inbox()).toMatchObject(both);
    await arrives('New plan');
    const context = (await agent.hook('BeforeAgent', { prompt: 'y' })).additionalContext ?? '';
    expect(context).toMatch(/begin \S+ · [^\]]*sent before the STOP[^\]]*\]\nPaint it blue\n/);
    expect(context).toContain('\nNew plan\n');
  });

  it('survives a restart of the daemon in the middle of the turn', async () => {
    const first = await ws.start();
    await begin();
    await first.stop();
    await ws.chat.say('/stop');
    await ws.start();
    await told(/^Stop requested/);
    expect((await tool()).additionalContext).toBe(signal);
    expect(await end()).toEqual({});
    await told(/^Stopped after/);
  });

  it('ends a sprint that waits for its first turn', async () => {
    await ws.start();
    await ws.chat.say('/sprint 3 --for 2h');
    await told(/^Sprint of at most 3 tasks, for at most 2 h: it starts after the next turn of the coding agent/);
    await ws.chat.say('/stop');
    await told(/^Sprint over .*: stopped\.$/);
    expect(phone().filter((text) => /sprint|stop/i.test(text))).toHaveLength(2);
    expect(await agent.turn('Done.')).toBeUndefined();
    await told(/^Done\.$/);
  });
});

describe('the word stop in a text', () => {
  it('is an ordinary message in a conversation', async () => {
    await ws.start();
    await arrives('Fix the stop button');
    expect(await agent.turn('Fixed.')).toContain('\nFix the stop button\n');
    expect(await stopEntry()).toBeUndefined();
  });

  it('is a STOP in a sprint, and its words still reach the agent', async () => {
    await ws.start();
    await ws.chat.say('/sprint 3');
    await told(/^Sprint of/);
    await begin();
    await ws.chat.say('please stop after the tests');
    await told(/^Stop requested/);
    expect((await tool()).additionalContext).toBe(`${signal}\nThe owner's words: please stop after the tests`);
    const next = await end();
    await told(/Sprint over after \d+ (?:s|min), 0 of 3 tasks done: stopped\.$/);
    expect(next.reason).toContain('please stop after the tests');
  });
});

describe('an abort', () => {
  it('refuses the next tool and ends the turn there', async () => {
    await ws.start();
    await begin();
    const gate = () => agent.hook('BeforeTool', { tool_name: 'run_shell_command', tool_input: { command: 'make' } });
    expect(await gate()).toEqual({});
    await ws.chat.say('/abort');
    await told(/^Abort requested/);
    const reason = 'Aborted from the phone by /abort.';
    expect(await gate()).toEqual({ decision: 'deny', reason, continue: false, stopReason: reason });
    await told(/^Failed: Aborted before a command ran\.$/);
    await until('it is spent', async () => (await stopEntry())?.read !== false);
    expect(await gate()).toEqual({});
  });
});

describe('an abort while a tool waits for its approval', () => {
  it('refuses it at once and ends the turn; the question is over', async () => {
    await ws.start();
    await ws.chat.say('/approvals all');
    await told(/approvals|Approvals/);
    await begin();
    const asked = agent.held('BeforeTool', { tool_name: 'run_shell_command', tool_input: { command: 'make' } });
    await told(/make/);
    await ws.chat.say('/abort');
    expect(await asked).toMatchObject({
      decision: 'deny',
      reason: 'Aborted from the phone by /abort.',
      continue: false,
    });
    await told(/^Failed: Aborted before a command ran\.$/);
  });
});

describe('a STOP that another program wrote into the file', () => {
  const foreignSignal = signal.replace(
    'signal received from user',
    'signal, written into the inbox by another program',
  );
  const foreign = (control: string) => ({
    messages: [{ id: 'stop_x', timestamp: isoSeconds(Date.now()), from: 'user', text: 'stop', read: false, control }],
  });

  it('is obeyed like one of the phone', async () => {
    await ws.start();
    await begin();
    await ws.foreignWrite(ws.inboxFile, foreign('stop'));
    await until('the model is told', async () => (await tool()).additionalContext === foreignSignal);
    expect(await end()).toEqual({});
    expect((await stopEntry())?.read).toBe(true);
  });

  it('is obeyed with the daemon down, told at the next tool and spent with the turn', async () => {
    const daemon = await ws.start();
    await begin();
    await daemon.stop();
    await ws.foreignWrite(ws.inboxFile, foreign('stop'));
    expect((await tool()).additionalContext).toContain(foreignSignal);
    expect(await end()).toEqual({});
    expect((await stopEntry())?.read).toBe(true);
    expect(await tool()).toEqual({});
  });

  it('as an abort refuses the next tool with the daemon down', async () => {
    await begin();
    await ws.foreignWrite(ws.inboxFile, foreign('abort'));
    const gate = await agent.hook('BeforeTool', { tool_name: 'write_file', tool_input: {} });
    expect(gate).toMatchObject({ decision: 'deny', continue: false });
    expect((await stopEntry())?.read).toBe(true);
  });
});

it('a STOP that the hooks obeyed alone ends the sprint and is spent when the daemon is back', async () => {
  const first = await ws.start();
  await ws.chat.say('/sprint 3');
  await told(/^Sprint of/);
  await begin();
  await ws.chat.say('/stop');
  await told(/^Stop requested/);
  await first.stop();
  expect((await tool()).additionalContext).toContain(signal);
  expect(await end()).toEqual({});
  await ws.start();
  await told(/Sprint over .*: stopped\.$/);
  await told(/^Stopped by the hooks alone/);
  expect(await agent.turn('Something else.')).toBeUndefined();
  expect(await readFile(join(ws.stateDir, 'journal.jsonl'), 'utf8')).toContain('"t":"spent"');
});

describe('the command line at the terminal', () => {
  it('stops, sprints and goes away like the phone', async () => {
    await ws.start();
    const run = async (...args: string[]) => (await ws.run(...args).exited).stdout;
    expect(await run('stop')).toBe('Nothing to stop: no turn is running.\n');
    expect(await run('away')).toMatch(/^Away is on: a turn in a terminal waits for your messages/);
    expect(await run('status')).toMatch(/modes\s+away/);
    expect(await run('away', 'off')).toBe('Away is off.\n');
    expect(await run('sprint', '2')).toMatch(/^Sprint of at most 2 tasks: it starts after the next turn/);
    expect(await run('status')).toContain('sprint: 0 of 2 tasks done');
    expect(await ws.run('sprint', '3').exited).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/a sprint runs already, 0 of 2 tasks done \(sprint_running\)\n.*`wa-sync stop`/),
    });
    await begin();
    expect(await run('stop')).toMatch(/^Stop requested/);
    expect((await tool()).additionalContext).toBe(signal);
    await end();
    await told(/^Stopped after the running turn/);
  });

  it('stops what waits for an answer of the phone, and parks nothing that comes later', async () => {
    await ws.start();
    await ws.chat.say('/approvals all');
    await told(/approvals|Approvals/);
    await arrives('before the stop');
    await agent.hook('BeforeAgent', { prompt: 'x' });
    const asked = agent.held('BeforeTool', { tool_name: 'run_shell_command', tool_input: { command: 'make' } });
    await told(/make/);
    await ws.run('stop').exited;
    expect(await asked).toMatchObject({ decision: 'deny', reason: expect.stringContaining('STOP') });
    await arrives('after the stop');
    await until('it is unread', async () => {
      const entry = (await ws.inbox()).find(({ text }) => text === 'after the stop');
      return entry?.read === false && entry.parked === undefined;
    });
  });

  it('says how to start the daemon that it needs', async () => {
    const { code, stderr } = await ws.run('stop').exited;
    expect(code).toBe(1);
    expect(stderr).toMatch(/no daemon answers[\s\S]*Start it with `wa-sync`/);
  });
});
