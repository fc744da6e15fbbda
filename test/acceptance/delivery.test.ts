// The promises of a message's way, from the phone into a turn and back: one test each, on the real relay, the real daemon
// and the real launcher. What happens, and in which order, is asserted here; the seconds that a promise names are limits of
// `npm run bench` (its part `turn`), and here the time is only annotated.

import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDaemonId } from '../../agent/daemon/daemon-id.ts';
import { createRelayClient } from '../../agent/relay/client.ts';
import { until } from '../helpers/daemon.ts';
import { type AgentProcess, timesIn } from '../helpers/launcher.ts';
import { phoneOf } from '../helpers/phone.ts';
import { eachTest, type Scene } from '../helpers/scene.ts';

let scene: Scene;
let agent: AgentProcess;
eachTest(async (given) => {
  scene = given;
  agent = await scene.newAgent();
});

const { phone, told, ladder } = phoneOf(() => scene.ws.chat);
const reaction = (messageId: number, emoji: string) =>
  until(`${emoji} on the phone`, () =>
    scene.far.sim
      .messages(scene.ws.chat.id)
      .some((message) => message.messageId === messageId && message.reactions.includes(emoji)),
  );
const since = (startedAt: number) => `${Math.round(performance.now() - startedAt)} ms`;

describe('a message of the phone is injected, with proof', () => {
  it('into an idle agent: with its next turn', async ({ annotate }) => {
    await scene.ws.start();
    await agent.hook('SessionStart', { source: 'startup' });
    const said = performance.now();
    const message = await scene.ws.chat.say('Which tests fail?');
    await until('it is there', async () => (await scene.ws.inbox()).length === 1);
    const { additionalContext } = await agent.hook('BeforeAgent', { prompt: 'go on' });
    await annotate(`in the turn ${since(said)} after the phone sent it`);
    expect(timesIn(additionalContext, 'Which tests fail?')).toBe(1);
    await agent.record('user', [{ text: 'go on' }, { text: `<hook_context>${additionalContext}</hook_context>` }]);
    await agent.hook('AfterTool', { tool_name: 'read_file' });
    await reaction(message, '✍');
  });

  it('into a held agent: as its next prompt', async ({ annotate }) => {
    await scene.ws.start({ interactive: true });
    await agent.hook('BeforeAgent', { prompt: 'go on' });
    await scene.ws.chat.say('/away');
    await told(/^Away is on/);
    await agent.record('user', [{ text: 'go on' }]);
    await agent.record('gemini', 'Ready.');
    const held = agent.held('AfterAgent', { prompt: 'go on', prompt_response: 'Ready.' });
    // Its answer is on the phone before it waits.
    await told(/^Ready\.$/);
    const said = performance.now();
    const message = await scene.ws.chat.say('Which tests fail?');
    const { decision, reason } = await held;
    await annotate(`the next prompt ${since(said)} after the phone sent it`);
    expect([decision, timesIn(reason, 'Which tests fail?')]).toEqual(['block', 1]);
    await agent.hook('BeforeAgent', { prompt: reason });
    await agent.record('user', [{ text: reason }]);
    const messages = [{ role: 'user', content: reason }];
    await agent.hook('BeforeModel', { llm_request: { model: 'm', messages } });
    await reaction(message, '✍');
  });

  it('into a busy agent: with the result of its running tool', async ({ annotate }) => {
    await scene.ws.start();
    await agent.hook('BeforeAgent', { prompt: 'go on' });
    await agent.record('user', [{ text: 'go on' }]);
    await agent.hook('BeforeTool', { tool_name: 'run_shell_command', tool_input: { command: 'make' } });
    const said = performance.now();
    const message = await scene.ws.chat.say('Use the blue one');
    await until('it is there', async () => (await scene.ws.inbox()).length === 1);
    const { additionalContext } = await agent.hook('AfterTool', { tool_name: 'run_shell_command' });
    await annotate(`with the tool's result ${since(said)} after the phone sent it`);
    expect(timesIn(additionalContext, 'Use the blue one')).toBe(1);
    const output = `ok\n\n<hook_context>${additionalContext}</hook_context>`;
    await agent.record('user', [{ functionResponse: { name: 'run_shell_command', response: { output } } }]);
    await agent.hook('AfterTool', { tool_name: 'read_file' });
    await reaction(message, '✍');
  });
});

describe('what an agent did', () => {
  it('is summed up on the phone, once, below the message that asked', async ({ annotate }) => {
    await scene.ws.start();
    const message = await scene.ws.chat.say('Build it');
    await until('it is there', async () => (await scene.ws.inbox()).length === 1);
    const answer = `It builds.\n\n${'Every sentence tells a little more. '.repeat(60)}`;
    await agent.turn(answer);
    const ended = performance.now();
    const summary = await until('the summary is on the phone', () => scene.ws.chat.fromBot()[0]);
    await annotate(`on the phone ${since(ended)} after the turn`);
    expect(summary).toMatchObject({ text: expect.stringMatching(/^It builds\./), replyTo: message });
    expect(summary.text.length).toBeLessThanOrEqual(500);
    await until('it is marked', async () => (await scene.ws.outbox())[0]?.sent === true);
    await reaction(message, '👍');
    expect(phone()).toHaveLength(1);
  });

  it('comes back from the workflow /startup that the phone called by its name', async () => {
    const { ws } = scene;
    await mkdir(join(ws.project, '.agents', 'workflows'), { recursive: true });
    await writeFile(join(ws.project, '.agents', 'workflows', 'startup.md'), '---\ntitle: x\n---\nRead TASKS.md first.');
    await ws.start();
    const message = await ws.chat.say('/startup');
    await until('it is there', async () => (await ws.inbox()).length === 1);
    const context = await agent.turn('Startup complete. 3 tasks to do.');
    expect(context).toContain('workflow /startup, follow it]\nRead TASKS.md first.\n[');
    await told(/./);
    await ladder('answered');
    expect(ws.chat.fromBot()).toMatchObject([{ text: 'Startup complete. 3 tasks to do.', replyTo: message }]);
    expect(await ws.inbox()).toMatchObject([{ text: '/startup', read: true }]);
    await until('it is marked', async () => (await ws.outbox())[0]?.sent === true);
    expect(await ws.outbox()).toMatchObject([{ text: 'Startup complete. 3 tasks to do.', from: 'agent', sent: true }]);
  });
});

describe('a message is given exactly once', () => {
  it('when a new session of the agent takes over what the ended one left unread', async () => {
    await scene.ws.start();
    await agent.turn('Idle.');
    await scene.arrives('left over', 'and this');
    await agent.hook('SessionEnd', { reason: 'exit' });
    await agent.kill();
    const next = await scene.newAgent('next');
    await next.hook('SessionStart', { source: 'startup' });
    const context = await next.turn('Both are done.');
    expect([timesIn(context, 'left over'), timesIn(context, 'and this')]).toEqual([1, 1]);
    await ladder('answered', 2);
    expect(await next.turn('Idle.')).toBeUndefined();
  });

  it('when Telegram delivers its update three times', async () => {
    const { far, ws } = scene;
    await ws.start();
    const update = {
      update_id: 2_000_000_001,
      message: {
        message_id: 900_001,
        date: Math.floor(Date.now() / 1000),
        chat: { id: ws.chat.id, type: 'supergroup', title: 'x' },
        from: { id: far.sim.ownerId, is_bot: false, first_name: 'Owner' },
        text: 'only once',
      },
    };
    const answers = await Promise.all([far.sim.deliver(update), far.sim.deliver(update)]);
    answers.push(await far.sim.deliver(update));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    await scene.arrives('the next');
    expect((await ws.inbox()).map(({ text }) => text)).toEqual(['only once', 'the next']);
    expect(timesIn(await agent.turn('Done.'), 'only once')).toBe(1);
    expect(await agent.turn('Idle.')).toBeUndefined();
  });
});

it('an empty poll is an answer without rows; it makes no file, and the next message comes as ever', async () => {
  const { far, ws } = scene;
  const relay = createRelayClient({ url: far.url, token: far.token });
  const poll = {
    mailbox: ws.chat.mailbox,
    project: 0,
    epoch: null,
    after: null,
    holdMs: 0,
    // An earlier start of the same workstation, so that its daemon takes over at once.
    daemon: { id: await readDaemonId(join(ws.root, 'config')), startedAt: 1 },
    receipts: [],
  };
  const answer = await relay.poll(poll, AbortSignal.timeout(30_000));
  await relay.close();
  expect(answer).toEqual({
    epoch: expect.any(String),
    now: expect.any(Number),
    phone: expect.anything(),
    rows: [],
    controls: [],
    cursor: 0,
  });
  const daemon = await ws.start();
  await until('the relay is polled', () => {
    const { projects } = daemon.status() as { projects: [{ relay: string }] };
    return projects[0].relay === 'connected';
  });
  expect(await agent.hook('BeforeAgent', { prompt: 'x' })).toEqual({});
  await expect(stat(ws.inboxFile)).rejects.toMatchObject({ code: 'ENOENT' });
  await scene.arrives('after the silence');
});
