// The end of a turn that waits for the phone, through the real launcher: who wakes it, who ends the wait, and what is told.

import { describe, expect, it } from 'vitest';
import { until, type Workstation } from '../helpers/daemon.ts';
import type { AgentProcess, HookAnswer } from '../helpers/launcher.ts';
import { holdLock } from '../helpers/locked.ts';
import { phoneOf } from '../helpers/phone.ts';
import { eachTest, type Scene } from '../helpers/scene.ts';

let ws: Workstation;
let agent: AgentProcess;
let newAgent: Scene['newAgent'];
eachTest(async (scene) => {
  ({ ws, newAgent } = scene);
  agent = await newAgent();
});

type Daemon = Awaited<ReturnType<Workstation['start']>>;
const { phone, told, ladder } = phoneOf(() => ws.chat);
const project = (daemon: Daemon) => (daemon.status() as { projects: Record<string, unknown>[] }).projects[0] ?? {};

/** A turn whose end is held, because its owner leaves meanwhile; `prompt` as the host gives it. */
async function beginHold(
  daemon: Daemon,
  prompt = 'go on',
  answer = 'At your service.',
): Promise<Promise<HookAnswer>[]> {
  await agent.hook('BeforeAgent', { prompt });
  await away();
  await agent.record('user', [{ text: prompt }]);
  await agent.record('gemini', answer);
  const held = agent.held('AfterAgent', { prompt, prompt_response: answer });
  await until('the turn is held', () => project(daemon).held === true);
  return [held];
}

async function away(): Promise<void> {
  await ws.chat.say('/away');
  await told(/^Away is on/);
}

describe('a held turn', () => {
  it('has its answer on the phone while it waits, and takes the next text as its next prompt, with proof', async () => {
    const daemon = await ws.start({ interactive: true });
    const [held] = await beginHold(daemon);
    await told(/^At your service\.$/);
    await ws.chat.say('Run the tests');
    const { decision, reason = '', systemMessage } = (await held) as HookAnswer;
    expect({ decision, systemMessage }).toEqual({
      decision: 'block',
      systemMessage: expect.stringMatching(/^From the phone: Run the tests\n\(The next prompt of this session\./),
    });
    expect(reason).toMatch(/\nRun the tests\n/);
    expect(await ws.inbox()).toMatchObject([{ text: 'Run the tests', read: true }]);

    expect(await agent.hook('BeforeAgent', { prompt: reason })).toEqual({});
    await agent.record('user', [{ text: reason }]);
    await agent.hook('BeforeModel', { llm_request: { model: 'm', messages: [{ role: 'user', content: reason }] } });
    await ladder('injected');
    await agent.record('gemini', 'All green.');
    const again = agent.held('AfterAgent', { prompt: 'go on', prompt_response: 'At your service.\nAll green.' });
    await told(/^All green\.$/);
    await ladder('answered');
    await until('it is held again', () => project(daemon).held === true);
    await ws.chat.say('/away off');
    expect(await again).toEqual({ systemMessage: expect.stringContaining('the keyboard is yours') });
    await told(/the keyboard is free again/);
  });

  it('gives a text back that Esc has lost, and says so', async () => {
    const daemon = await ws.start({ interactive: true });
    const [held] = await beginHold(daemon);
    await ws.chat.say('Run the tests');
    const { reason } = (await held) as HookAnswer;
    // As recorded from the host: both events, no request to the model, the text in its file.
    await agent.hook('BeforeAgent', { prompt: reason });
    await agent.record('user', [{ text: reason }]);
    expect(
      await agent.hook('AfterAgent', { prompt: reason, prompt_response: '[no response text]', stop_hook_active: true }),
    ).toEqual({});
    await told(/^Your message did not reach the agent: Esc/);
    expect(await ws.inbox()).toMatchObject([{ text: 'Run the tests', read: false, attempt: 1 }]);
    const { additionalContext: context = '' } = await agent.hook('BeforeAgent', { prompt: 'I am back' });
    expect(context).toMatch(/given again, because it did not reach you before\]\nRun the tests\n/);
    await agent.record('user', [{ text: 'I am back' }, { text: `<hook_context>${context}</hook_context>` }]);
    await agent.hook('AfterTool', { tool_name: 'write_file' });
    await ladder('injected');
  });

  it('ends with nothing when a prompt is typed at the terminal: Esc was pressed', async () => {
    const daemon = await ws.start({ interactive: true });
    const [held] = await beginHold(daemon);
    expect(await agent.hook('BeforeAgent', { prompt: 'I am back' })).toEqual({
      systemMessage: 'wa-sync: welcome back, away is off.',
    });
    expect(await held).toEqual({});
    expect(project(daemon)).toMatchObject({ held: false, away: false });
  });

  it('is one per session: a later one frees the earlier', async () => {
    const daemon = await ws.start({ interactive: true });
    const [first] = await beginHold(daemon);
    const second = agent.held('AfterAgent', { prompt: 'go on', prompt_response: 'Once more.' });
    expect(await first).toEqual({});
    await ws.chat.say('Only one gets this');
    expect((await second).reason).toContain('Only one gets this');
  });

  it('is released when the daemon stops, and the phone is told after the next start', async () => {
    const daemon = await ws.start({ interactive: true });
    const [held] = await beginHold(daemon);
    await daemon.stop();
    expect(await held).toEqual({});
    await ws.start({ interactive: true });
    await told(/^wa-sync stops or restarts: the terminal that waited for you is free again/);
    expect(phone().filter((text) => text === 'At your service.')).toHaveLength(1);
  });

  it('takes a burst as one prompt', async () => {
    const daemon = await ws.start({ interactive: true, inboxLockMs: 600_000 });
    const [held] = await beginHold(daemon);
    // Nothing wakes the turn before it stands in the file, so that the three come as near to each other as in any burst.
    const locked = await holdLock(ws.inboxFile);
    try {
      for (const text of ['One', 'Two', 'Three']) await ws.chat.say(text);
      await ladder('delivered', 3);
    } finally {
      await locked.release();
    }
    expect((await held)?.reason).toMatch(/\nOne\n[\s\S]*\nTwo\n[\s\S]*\nThree\n/);
  });

  it('starts a sprint at once', async () => {
    const daemon = await ws.start({ interactive: true });
    const [held] = await beginHold(daemon);
    await ws.chat.say('/sprint 2 docs');
    expect((await held)?.reason).toMatch(/^wa-sync sprint, task 1 of at most 2\.[\s\S]*owner: docs\n/);
  });
});

describe('no turn is held', () => {
  it('in a headless run, even with away on', async () => {
    await ws.start({ interactive: false });
    await away();
    await agent.hook('BeforeAgent', { prompt: 'x' });
    expect(await agent.hook('AfterAgent', { prompt: 'x', prompt_response: 'Done.' })).toEqual({});
  });

  it('at the terminal, for a turn without the phone', async () => {
    await ws.start({ interactive: true });
    expect(await agent.hook('BeforeAgent', { prompt: 'x' })).toEqual({});
    expect(await agent.hook('AfterAgent', { prompt: 'x', prompt_response: 'Done.' })).toEqual({});
  });

  it('in a second terminal', async () => {
    await ws.start({ interactive: true });
    await away();
    await agent.hook('BeforeAgent', { prompt: 'x' });
    const second = await newAgent('second');
    try {
      expect(await second.hook('BeforeAgent', { prompt: 'y' })).toEqual({});
      expect(await second.hook('AfterAgent', { prompt: 'y', prompt_response: 'Done.' })).toEqual({});
    } finally {
      await second.kill();
    }
  });
});

it('a turn that runs gets a new text with the result of its next tool, and keeps what is for later', async () => {
  await ws.start();
  await agent.hook('BeforeAgent', { prompt: 'x' });
  await agent.record('user', [{ text: 'x' }]);
  expect(await agent.hook('AfterTool', { tool_name: 'write_file' })).toEqual({});
  await ws.chat.say('/later Then this');
  await told(/^Kept for after the running turn/);
  expect(await agent.hook('AfterTool', { tool_name: 'write_file' })).toEqual({});
  await ws.chat.say('Also this');
  await until('it is there', async () => (await ws.inbox()).some(({ text }) => text === 'Also this'));
  const { additionalContext = '' } = await agent.hook('AfterTool', { tool_name: 'write_file' });
  expect(additionalContext).toMatch(/^New while you work\. A message from the owner's phone/);
  expect(additionalContext).not.toContain('Then this');
  const output = `<untrusted_context>\nok\n</untrusted_context>\n\n<hook_context>${additionalContext}</hook_context>`;
  await agent.record('user', [{ functionResponse: { name: 'write_file', response: { output } } }]);
  await agent.record('gemini', 'Both.');
  const next = await agent.hook('AfterAgent', { prompt: 'x', prompt_response: 'Both.' });
  await ladder('answered');
  expect(next).toMatchObject({ decision: 'block', reason: expect.stringContaining('Then this') });
});
