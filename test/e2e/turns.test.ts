// From the inbox through the real launcher into a coding agent's turn, and its answer to the phone.

import { appendFile, mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type EchoAgent, startEchoAgent } from '../../agent/dev/echo-agent.ts';
import { until, type Workstation } from '../helpers/daemon.ts';
import { apiError, timesIn } from '../helpers/launcher.ts';
import { phoneOf } from '../helpers/phone.ts';
import { eachTest, type Scene } from '../helpers/scene.ts';
import { dist, type FarSide } from '../helpers/stack.ts';

let far: FarSide;
let ws: Workstation;
let newAgent: Scene['newAgent'];
let arrives: Scene['arrives'];
eachTest((scene) => {
  ({ far, ws, newAgent, arrives } = scene);
});

const { phone, told, ladder } = phoneOf(() => ws.chat);

describe('a turn', () => {
  it('gets the texts, framed as the owner’s, and its answer answers the first of them on the phone', async () => {
    await ws.start();
    const first = await ws.chat.say('Which tests fail?');
    await arrives('And why?');
    const agent: EchoAgent = await startEchoAgent({
      launcher: join(dist, 'wa-hook'),
      projectDir: ws.project,
      workDir: join(ws.root, 'echo'),
      env: ws.env,
    });
    const { context = '' } = await agent.turn('go on', () => 'Two, in **auth**.');
    const ids = (await ws.inbox()).map((entry) => entry.id);
    expect(context).toMatch(/^2 messages from the owner's phone, relayed by wa-sync/);
    const bodies = [...context.matchAll(/\[\w+ [\w' ]+ · begin (\S+) · [^\]]*\]\n([\s\S]*?)\n\[\w+ end \1\]/g)];
    expect(bodies.map(([, id, text]) => [id, text])).toEqual([
      [ids[0], 'Which tests fail?'],
      [ids[1], 'And why?'],
    ]);
    expect((await ws.inbox()).map((entry) => entry.read)).toEqual([true, true]);
    await until('the answer is on the phone', () => phone().includes('Two, in auth.'));
    expect(ws.chat.fromBot()).toMatchObject([{ text: 'Two, in auth.', replyTo: first }]);
    await ladder('answered', 2);
    expect((await agent.turn('and now', () => 'Nothing.')).context).toBeUndefined();
  });

  it('is reported as injected while it runs, once the session file proves it', async () => {
    await ws.start();
    await arrives('take this');
    const agent = await newAgent();
    const context = (await agent.hook('BeforeAgent', { prompt: 'x' })).hookSpecificOutput?.additionalContext;
    expect((await ws.chat.ladder()).injected).toBeUndefined();
    await agent.record('user', [{ text: 'x' }, { text: `<hook_context>${context}</hook_context>` }]);
    await agent.hook('AfterTool', { tool_name: 'write_file' });
    await ladder('injected');
  });

  it('is proved by the model request where there is no session file', async () => {
    await ws.start();
    await arrives('take this');
    const agent = await newAgent();
    const context = (await agent.hook('BeforeAgent', { transcript_path: '', prompt: 'x' })).additionalContext;
    const llm_request = { model: 'm', messages: [{ role: 'user', content: `x\n${context}` }] };
    await agent.hook('BeforeModel', { transcript_path: '', llm_request });
    await ladder('injected');
    await agent.hook('AfterAgent', { transcript_path: '', prompt: 'x', prompt_response: 'Done.' });
    await ladder('answered');
    expect(phone()).toEqual(['Done.']);
  });

  it('that fails shows its error on the phone, and never an answer', async () => {
    await ws.start();
    await arrives('do it');
    await (await newAgent()).turn(undefined);
    await ladder('failed');
    await until('the phone is told', () => phone().length > 0);
    expect(phone()).toEqual([`Failed: ${apiError}`]);
  });

  it('whose text never reached the model gives it again, marked so, and proves it then', async () => {
    await ws.start();
    await arrives('important');
    const agent = await newAgent();
    await agent.turn('I did something else.', { proved: false });
    await until('it is unread again', async () => (await ws.inbox())[0]?.read === false);
    expect(await ws.inbox()).toMatchObject([{ text: 'important', attempt: 1, read: false }]);
    const context = await agent.turn('Now I see.');
    expect(context).toContain('given again, because it did not reach you before');
    await ladder('answered');
  });

  it('that never shows it three times in a row ends it as lost', async () => {
    await ws.start();
    await arrives('important');
    const agent = await newAgent();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(await agent.turn('Something else.', { proved: false })).toContain('important');
    }
    await ladder('lost');
    expect(await agent.turn('Something else.')).toBeUndefined();
  });

  it('gets twenty messages and hears how many wait; the next one gets the rest', async () => {
    await ws.start();
    await arrives(...Array.from({ length: 23 }, (_, index) => `m${index + 1}`));
    const agent = await newAgent();
    const first = (await agent.turn('ok')) ?? '';
    expect(first.match(/ begin msg_/g)).toHaveLength(20);
    expect(first).toContain('3 more messages wait and come with the next turn.');
    expect(((await agent.turn('ok')) ?? '').match(/ begin msg_/g)).toHaveLength(3);
    await ladder('answered', 23);
  });

  it('gets entries of other programs as theirs, completed in the file', async () => {
    await ws.start();
    await ws.foreignWrite(ws.inboxFile, { messages: [{ text: 'rm -rf, says the boss' }] });
    const context = (await (await newAgent()).turn('no')) ?? '';
    expect(context).toMatch(/^A message that another program on this machine wrote into the wa-sync inbox/);
    expect(context).not.toContain("owner's phone");
    const [entry] = await ws.inbox();
    expect(context).toContain(` begin ${entry?.id} · `);
    expect(entry).toMatchObject({ read: true, from: 'user' });
  });

  it('gets the workflow that a slash text names, and the text as it is behind a second slash', async () => {
    await mkdir(join(ws.project, '.agents', 'workflows'), { recursive: true });
    await writeFile(join(ws.project, '.agents', 'workflows', 'startup.md'), '---\ntitle: x\n---\nRead TASKS.md first.');
    await ws.start();
    await ws.chat.say('//nothing');
    await arrives('/startup quickly');
    const context = (await (await newAgent()).turn('ok')) ?? '';
    expect(context).toContain('workflow /startup, follow it]\nRead TASKS.md first.\n\nArguments: quickly\n');
    expect(context).toContain(']\n/nothing\n[');
  });

  it('that is given a message while it runs goes on showing its progress in one message, to the end', async () => {
    let passedMs = 0;
    await ws.start({ clock: () => Date.now() + passedMs });
    await arrives('first');
    const agent = await newAgent();
    await agent.hook('BeforeAgent', { prompt: 'x' });
    await agent.record('user', [{ text: 'x' }]);
    passedMs = 10_000;
    await told(/^Working, 1\d s$/);
    await arrives('second');
    const tool = await agent.hook('AfterTool', { tool_name: 'read_file' });
    expect(timesIn(tool.hookSpecificOutput?.additionalContext, 'second')).toBe(1);
    passedMs = 50_000;
    await told(/^Working, [56]\d s\n1 tool call: read$/);
    await agent.record('gemini', 'Done with both.');
    await agent.hook('AfterAgent', { prompt: 'x', prompt_response: 'Done with both.' });
    await told(/^Done after [56]\d s, 1 tool call\.$/);
    expect(phone().filter((text) => /^(Working|Done after)/.test(text))).toHaveLength(1);
  });

  it('that a hook ends alone, while the daemon stands still, is no longer shown as one that runs', async () => {
    let passedMs = 0;
    await ws.start({ clock: () => Date.now() + passedMs });
    await arrives('first');
    const agent = await newAgent();
    const context = (await agent.hook('BeforeAgent', { prompt: 'x' })).hookSpecificOutput?.additionalContext;
    await agent.record('user', [{ text: 'x' }, { text: `<hook_context>${context}</hook_context>` }]);
    await agent.record('gemini', 'Alone.');
    passedMs = 10_000;
    await told(/^Working, 1\d s$/);
    // As a hook does that the daemon did not answer: it finds no socket, and leaves its note in the file.
    const socket = join(ws.runtimeDir, 'hook.sock');
    await rename(socket, `${socket}.away`);
    await agent.hook('AfterAgent', { prompt: 'x', prompt_response: 'Alone.' });
    await rename(`${socket}.away`, socket);
    await told(/^Alone\.$/);
    await told(/^Done after 1\d s, 0 tool calls\.$/);
  });

  it('has its whole answer behind a button when the phone gets a summary', async () => {
    await ws.start();
    const answer = `It works.\n\n${'Every sentence tells a little more. '.repeat(100)}\n\nThe last words.`;
    await (await newAgent()).turn(answer);
    const summary = await until('the summary is on the phone', () => ws.chat.fromBot()[0]);
    expect(summary.text.length).toBeLessThanOrEqual(500);
    expect(summary.buttons).toMatchObject([[{ label: 'Full answer' }]]);
    await far.sim.press(summary.messageId, 'Full answer', ws.chat.id);
    await until('the rest is on the phone', () => phone().some((text) => text.endsWith('The last words.')));
  });
});

describe('which session', () => {
  it('a second terminal gets nothing and is not reported, until the first one is gone', async () => {
    await ws.start();
    const [first, second] = [await newAgent('first'), await newAgent('second')];
    await first.hook('SessionStart', { source: 'startup' });
    await arrives('for the first');
    expect(await second.turn('not mine')).toBeUndefined();
    expect((await ws.inbox())[0]?.read).toBe(false);
    await first.kill();
    expect(await second.turn('mine now')).toContain('for the first');
    await until('the answer is on the phone', () => phone().length > 0);
    expect(phone()).toEqual(['mine now']);
  });

  it('the binding moves with the process to a new session id', async () => {
    await ws.start();
    const agent = await newAgent();
    await agent.hook('SessionStart', { source: 'startup' });
    agent.session = 'after-clear';
    await arrives('hello');
    expect(await agent.turn('hi')).toContain('hello');
    await until('the answer is on the phone', () => phone().includes('hi'));
  });

  it('a sub-folder of the project is served, a folder outside is not and stays untouched', async () => {
    await ws.start();
    await arrives('hello');
    const [outside, inside] = [join(ws.root, 'elsewhere'), join(ws.project, 'src', 'deep')];
    await mkdir(outside);
    await mkdir(inside, { recursive: true });
    expect(await (await newAgent('a', outside)).turn('nobody')).toBeUndefined();
    expect(await readdir(outside)).toEqual([]);
    expect(await (await newAgent('b', inside)).turn('hi')).toContain('hello');
    expect(await readdir(inside)).toEqual([]);
  });
});

describe('a coding agent that is killed in its turn', () => {
  it('leaves a failed message and a word on the phone', async () => {
    await ws.start();
    await arrives('compile');
    const agent = await newAgent();
    const context = (await agent.hook('BeforeAgent', { prompt: 'x' })).additionalContext;
    await agent.record('user', [{ text: 'x' }, { text: `<hook_context>${context}</hook_context>` }]);
    await agent.kill();
    await ladder('failed');
    await until('the phone is told', () => phone().length > 0);
    expect(phone()).toEqual([expect.stringMatching(/^Failed: The .* ended .*answer/)]);
  });

  it('headless after an API error: the end of the session tells its text', async () => {
    await ws.start();
    await arrives('compile');
    const agent = await newAgent();
    const context = (await agent.hook('BeforeAgent', { prompt: 'x' })).additionalContext;
    await agent.record('user', [{ text: 'x' }, { text: `<hook_context>${context}</hook_context>` }]);
    await agent.record('error', apiError);
    await agent.hook('SessionEnd', { reason: 'exit' });
    await ladder('failed');
    await until('the phone is told', () => phone().length > 0);
    expect(phone()).toEqual([`Failed: ${apiError}`]);
  });
});

describe('the launcher with a daemon behind it', () => {
  it('gives one empty object for what it cannot read, and takes no message for it', async () => {
    await ws.start();
    await arrives('still here');
    const agent = await newAgent();
    const nothing = { code: 0, stdout: '{}\n', stderr: '' };
    const inputs = [
      '',
      'no json',
      '[]',
      '{"session_id":7}',
      '\u0000\u0001',
      `{"cwd":"${ws.project}"}`,
      '{"a":'.repeat(2000),
    ];
    for (const input of inputs) expect(await agent.raw('BeforeAgent', input)).toEqual(nothing);
    expect(await agent.raw('BeforeAgent', Buffer.alloc(6_000_000, '{'))).toEqual(nothing);
    expect(await agent.raw('NoSuchEvent', '{}')).toEqual(nothing);
    expect((await ws.inbox())[0]?.read).toBe(false);
  });

  it('gives the messages to one of two equal hook runs', async () => {
    await ws.start();
    await arrives('once');
    const agent = await newAgent();
    const payload = JSON.stringify({
      session_id: 's',
      transcript_path: agent.sessionFile,
      cwd: ws.project,
      prompt: 'x',
    });
    const outputs = [await agent.raw('BeforeAgent', payload), await agent.raw('BeforeAgent', payload)];
    expect(outputs.map(({ stdout }) => stdout.includes('once'))).toEqual([true, false]);
  });

  it('reads the answer of a session file that is written a moment after the event', async () => {
    await ws.start();
    await arrives('go');
    const agent = await newAgent();
    const context = (await agent.hook('BeforeAgent', { prompt: 'x' })).additionalContext;
    await agent.record('user', [{ text: 'x' }, { text: `<hook_context>${context}</hook_context>` }]);
    const ended = agent.hook('AfterAgent', { prompt: 'x', prompt_response: 'broken words' });
    await appendFile(agent.sessionFile, `${JSON.stringify({ type: 'gemini', content: 'whole words' })}\n`);
    await ended;
    await until('the answer is on the phone', () => phone().length > 0);
    expect(phone()).toEqual(['whole words']);
  });
});
