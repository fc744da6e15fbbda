// An agent that polls over MCP: real server process, real daemon, relay in workerd, simulated Telegram.

import { afterEach, describe, expect, it } from 'vitest';
import type { SendResult } from '../../protocol/polling.ts';
import { runProgram, until, type Workstation } from '../helpers/daemon.ts';
import { type McpAgent, startMcp } from '../helpers/mcp.ts';
import { phoneOf } from '../helpers/phone.ts';
import { eachTest, type Scene } from '../helpers/scene.ts';
import type { FarSide } from '../helpers/stack.ts';

let far: FarSide;
let ws: Workstation;
let newAgent: Scene['newAgent'];
eachTest((scene) => {
  ({ far, ws, newAgent } = scene);
});
const connections: McpAgent[] = [];
afterEach(async () => {
  for (const connection of connections.splice(0).reverse()) await connection.close();
});

async function mcp(name?: string, cwd = ws.project, env = {}): Promise<McpAgent> {
  const agent = await startMcp({ cwd, env: { ...ws.env, ...env }, ...(name ? { name } : {}) });
  connections.push(agent);
  return agent;
}
const { phone, ladder } = phoneOf(() => ws.chat);
const arrives = (text: string) =>
  until(`"${text}" stands unread in the inbox`, async () =>
    (await ws.inbox()).some((entry) => entry.text === text && !entry.read),
  );
async function say(...texts: string[]): Promise<void> {
  for (const text of texts) await ws.chat.say(text);
  for (const text of texts) await arrives(text);
}
const wake = 'a long poll that a message ends';

describe('an agent that polls', () => {
  it('gets a message while it waits, answers it on the phone, acknowledges it, and the phone shows it as answered', async () => {
    await ws.start();
    const agent = await mcp();
    const polled = agent.poll({ timeout: 30 });
    const sent = await ws.chat.say(wake);
    const { messages, combined_context } = await polled;
    expect(messages).toEqual([
      {
        message_id: expect.stringMatching(/^msg_/),
        chat_id: ws.chat.mailbox,
        from_user: 'owner',
        text: wake,
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      },
    ]);
    expect(combined_context).toBeUndefined();
    expect((await ws.inbox()).filter((entry) => !entry.read)).toEqual([]);
    const result = await agent.ask<SendResult>('telegram_send', { text: 'Done: **two** tests fail.' });
    const [shown] = ws.chat.fromBot();
    expect(result).toEqual({ success: true, chunks_sent: 1, message_id: String(shown?.messageId) });
    expect(shown).toMatchObject({
      text: 'Done: two tests fail.',
      entities: [{ type: 'bold', offset: 6, length: 3 }],
      replyTo: sent,
    });
    expect(await ws.chat.ladder()).toEqual({ delivered: 1 });
    const ids = messages.map((message) => message.message_id);
    expect(await agent.ask('telegram_ack', { message_ids: ids })).toEqual({ success: true, acked: 1 });
    await ladder('answered');
    expect(await agent.poll({ timeout: 0 })).toEqual({ messages: [] });
    expect(await agent.ask('telegram_ack', { message_ids: ids })).toEqual({ success: true, acked: 1 });
    expect(agent.noise).toEqual([]);
  });

  it('gets several messages in order with one combined text, at most as many as it asked for', async () => {
    await ws.start();
    await say('first', 'second', 'third');
    const agent = await mcp();
    const two = await agent.poll({ limit: 2 });
    expect(two.messages.map(({ text }) => text)).toEqual(['first', 'second']);
    expect(two.combined_context).toMatch(/^2 messages from the owner's phone[\s\S]*first[\s\S]*second/);
    expect((await agent.poll()).messages.map(({ text }) => text)).toEqual(['third']);
  });

  it('may acknowledge only after it has sent something', async () => {
    await ws.start();
    await say('do it');
    const agent = await mcp();
    const ids = (await agent.poll()).messages.map((message) => message.message_id);
    expect(await agent.call('telegram_ack', { message_ids: ids })).toEqual({
      isError: true,
      text: expect.stringContaining('call telegram_send with the result first'),
    });
    expect(await ws.chat.ladder()).toEqual({ delivered: 1 });
    await agent.ask('telegram_send', { text: 'done' });
    expect(await agent.ask('telegram_ack', { message_ids: ids })).toEqual({ success: true, acked: 1 });
  });

  it('gives the message back when it closes without an acknowledgement, and the next agent reads that the message was given before', async () => {
    await ws.start();
    await say('important');
    const first = await mcp();
    const [taken] = (await first.poll()).messages;
    await first.close();
    await arrives('important');
    expect(await ws.inbox()).toMatchObject([{ text: 'important', read: false, attempt: 1 }]);
    const second = await mcp();
    const again = await second.poll();
    expect(again.messages).toMatchObject([{ message_id: taken?.message_id, text: 'important' }]);
    expect(again.combined_context).toContain('given again');
    await second.ask('telegram_send', { text: 'done' });
    await second.ask('telegram_ack', { message_ids: [taken?.message_id] });
    await ladder('answered');
  });

  it('gives the message back when it is killed, also to a turn', async () => {
    await ws.start();
    await say('important');
    const agent = await mcp();
    await agent.poll();
    process.kill(agent.pid, 'SIGKILL');
    await arrives('important');
    expect(await (await newAgent()).turn('done')).toContain('important');
    await ladder('answered');
  });

  it('keeps its messages while the daemon restarts, and acknowledges them to the new daemon', async () => {
    const daemon = await ws.start();
    await say('across a restart');
    const agent = await mcp();
    const ids = (await agent.poll()).messages.map((message) => message.message_id);
    await agent.ask('telegram_send', { text: 'done' });
    await daemon.stop();
    await ws.start();
    expect(await (await newAgent()).turn('nothing to do')).toBeUndefined();
    expect(await agent.ask('telegram_ack', { message_ids: ids })).toEqual({ success: true, acked: 1 });
    await ladder('answered');
  });

  it('goes on waiting when the daemon is killed and started again, and each of its texts arrives once', async () => {
    const serve = async () => {
      const program = ws.run('start');
      await until('the daemon runs', () => program.stdout().includes('is running'));
      return program;
    };
    const first = await serve();
    const agent = await mcp();
    const polled = agent.poll({ timeout: 30 });
    const sent = agent.ask<SendResult>('telegram_send', { text: 'I am listening.' });
    await until('it is on the phone', () => phone().includes('I am listening.'));
    first.child.kill('SIGKILL');
    await first.exited;
    const second = await serve();
    expect(await sent).toMatchObject({ success: true, chunks_sent: 1 });
    await ws.chat.say('after the crash');
    expect((await polled).messages).toMatchObject([{ text: 'after the crash' }]);
    second.child.kill('SIGKILL');
    await second.exited;
    expect(phone()).toEqual(['I am listening.']);
  });

  it('gives the message back at the next start of the daemon when it died while no daemon ran', async () => {
    const daemon = await ws.start();
    await say('orphan');
    const agent = await mcp();
    await agent.poll();
    await daemon.stop();
    process.kill(agent.pid, 'SIGKILL');
    await ws.start();
    await arrives('orphan');
  });

  it('fails a message that it left unacknowledged three times, and the phone gets a Retry button', async () => {
    // However long the agents take to start: time stands still, so that the phone is not told that the message waits for one.
    const startedAt = Date.now();
    await ws.start({ clock: () => startedAt });
    await say('poison');
    for (let round = 0; round < 3; round += 1) {
      if (round > 0) await arrives('poison');
      const agent = await mcp('crashing-agent');
      expect((await agent.poll()).messages).toHaveLength(1);
      await agent.close();
    }
    await ladder('failed');
    await until('the phone is told', () => ws.chat.fromBot()[0]?.buttons.length === 1);
    expect(phone()).toEqual([
      'crashing-agent took this message 3 times and went away each time without an answer. It is not given again by itself.',
    ]);
    expect(await (await mcp()).poll({ timeout: 0 })).toEqual({ messages: [] });
  });

  it('loses a message that it has held for twelve hours', async () => {
    let ahead = 0;
    await ws.start({ clock: () => Date.now() + ahead });
    await say('forgotten');
    const agent = await mcp();
    await agent.poll();
    ahead = 12 * 3_600_000 + 1_000;
    await arrives('forgotten');
  });
});

describe('a message that an agent holds', () => {
  it('is not given to a turn, and the agent gets no message of a turn', async () => {
    await ws.start();
    await say('for the one who asks');
    const agent = await mcp();
    await agent.poll();
    const hooks = await newAgent();
    expect(await hooks.turn('nothing for me')).toBeUndefined();
    await say('for the turn');
    const context = await hooks.hook('BeforeAgent', { prompt: 'go' });
    expect(JSON.stringify(context)).toContain('for the turn');
    expect(await agent.poll({ timeout: 0 })).toEqual({ messages: [] });
  });

  it('is parked when it comes back after a STOP, until the owner sends a new message', async () => {
    await ws.start();
    await say('before the stop');
    const agent = await mcp();
    await agent.poll();
    await ws.chat.say('/stop');
    await until('the STOP is answered', () => phone().some((text) => text === 'Nothing to stop: no turn is running.'));
    await agent.close();
    const entry = async () => (await ws.inbox()).find(({ text }) => text === 'before the stop');
    await until('it came back, parked', async () => (await entry())?.attempt === 1 && (await entry())?.parked === true);
    const hooks = await newAgent();
    expect(await hooks.turn('nothing for me')).toBeUndefined();
    await say('go on then');
    expect(await until('both are given', () => hooks.turn('work'))).toMatch(
      /sent before the STOP[^\n]*\nbefore the stop\n.*go on then/s,
    );
  });

  it('is not given by a hook without a daemon, even when another program marks the message unread', async () => {
    const daemon = await ws.start();
    await say('held while nobody serves');
    const agent = await mcp();
    await agent.poll();
    await daemon.stop();
    const [entry] = await ws.inbox();
    expect(entry).toMatchObject({ text: 'held while nobody serves', read: true });
    await ws.foreignWrite(ws.inboxFile, { messages: [{ ...entry, read: false }] });
    expect(await (await newAgent()).turn('alone')).toBeUndefined();
  });

  it('is given once when a poll and a turn ask for it at the same moment', async () => {
    await ws.start();
    const agent = await mcp();
    const hooks = await newAgent();
    for (let round = 0; round < 5; round += 1) {
      const text = `race ${round}`;
      await say(text);
      const [polled, turned] = await Promise.all([
        agent.poll({ timeout: 0 }),
        hooks.hook('BeforeAgent', { prompt: `go ${round}` }),
      ]);
      const count = (where: unknown) => JSON.stringify(where).split(text).length - 1;
      expect(count(polled.messages) + count(turned.hookSpecificOutput ?? '')).toBe(1);
    }
  });

  it('is shown by status and letters with its holder and the time left', async () => {
    const program = ws.run('start');
    await until('the daemon runs', () => program.stdout().includes('is running'));
    await say('held for long');
    const agent = await mcp('my-agent');
    await agent.poll();
    const status = (await ws.run('status').exited).stdout;
    expect(status).toMatch(/held\s+1 by my-agent \(pid \d+\), back unread in (11 h 59 min|12 h)/);
    const letters = (await ws.run('letters').exited).stdout;
    expect(letters).toMatch(
      /^msg_\S+ {2}\S+ {2}held by my-agent \(pid \d+\), back unread in 1\d h.*\n {4}held for long/,
    );
    expect(JSON.parse((await ws.run('letters', '--json').exited).stdout).held).toMatchObject([
      { client: 'my-agent', pid: agent.pid, preview: 'held for long' },
    ]);
  });

  it('is not lost when it came in while a cancelled poll was answered', async () => {
    await ws.start();
    const agent = await mcp();
    const cancel = new AbortController();
    const polled = agent.call('telegram_poll', { timeout: 30 }, cancel.signal);
    // The request has reached the server when it answers the next one.
    await agent.client.ping();
    cancel.abort();
    await expect(polled).rejects.toThrow();
    await say('after the cancelled poll');
    expect((await agent.poll()).messages).toMatchObject([{ text: 'after the cancelled poll' }]);
  });
});

describe('a text for the phone', () => {
  it('is sent in the mode that the agent chose, and unchanged when it breaks the rules of that mode', async () => {
    await ws.start();
    const agent = await mcp();
    const send = (text: string, parse_mode: string) => agent.ask('telegram_send', { text, parse_mode });
    await send('*bold* and _it_ 1\\.5', 'MarkdownV2');
    await send('<b>bold</b> &amp; <code>x</code>', 'HTML');
    await send('**not** <b>parsed</b>', 'Plain');
    await send('broken *bold.', 'MarkdownV2');
    await send('<b>broken', 'HTML');
    const simple = ws.chat.fromBot().map(({ text, entities }) => [text, entities?.map(({ type }) => type) ?? []]);
    expect(simple).toEqual([
      ['bold and it 1.5', ['bold', 'italic']],
      ['bold & x', ['bold', 'code']],
      ['**not** <b>parsed</b>', []],
      ['broken *bold.', []],
      ['<b>broken', []],
    ]);
  });

  it('that is longer than ten messages arrives whole and in order', async () => {
    await ws.start();
    const agent = await mcp();
    const text = Array.from({ length: 9_000 }, (_, index) => `w${index}`).join(' ');
    const result = await agent.ask<SendResult>('telegram_send', { text, parse_mode: 'Plain' });
    expect(result).toMatchObject({ success: true });
    expect(result.chunks_sent).toBeGreaterThan(10);
    const arrived = () => phone().map((part) => part.replace(/^\(\d+\/\d+\)\n/, ''));
    await until('all parts are there', () => phone().length === result.chunks_sent, 120_000);
    expect(arrived().join(' ')).toBe(text);
  });

  it('is queued while Telegram does not answer, and is sent when it does', async () => {
    await ws.start();
    await far.killRelay();
    const agent = await mcp();
    const result = agent.ask<SendResult>('telegram_send', { text: 'from the tunnel' });
    expect(await result).toEqual({ success: true, chunks_sent: 1, queued: true });
    await far.startRelay();
    await until('it arrives', () => phone().includes('from the tunnel'), 120_000);
    expect(phone()).toEqual(['from the tunnel']);
  });

  it('never carries a secret, in any mode', async () => {
    await ws.start();
    const agent = await mcp();
    for (const parse_mode of ['Markdown', 'MarkdownV2', 'HTML', 'Plain']) {
      await agent.ask('telegram_send', { text: `the token is ${far.token}`, parse_mode });
    }
    expect(phone()).toHaveLength(4);
    expect(phone().join()).not.toContain(far.token);
  });
});

describe('a call of a tool that cannot work', () => {
  it('names the command to run when no daemon runs', async () => {
    const agent = await mcp();
    for (const [tool, args] of [
      ['telegram_poll', {}],
      ['telegram_send', { text: 'x' }],
      ['telegram_ack', { message_ids: ['msg_1'] }],
      ['telegram_send_typing', {}],
    ] as const) {
      const { text, isError } = await agent.call(tool, args);
      expect([isError, text]).toEqual([true, expect.stringContaining('Start it with `wa-sync`')]);
    }
  });

  it('says that the folder is not bound', async () => {
    await ws.start();
    const agent = await mcp('x', ws.root);
    expect(await agent.call('telegram_poll')).toEqual({
      isError: true,
      text: expect.stringMatching(/lies in no folder that this daemon serves.*\(not_bound\)/),
    });
  });

  it('says so whatever the environment names, because a project may have set the environment', async () => {
    await ws.start();
    const agent = await mcp('x', ws.root, { GEMINI_PROJECT_DIR: ws.project, CLAUDE_PROJECT_DIR: ws.project });
    expect(await agent.call('telegram_poll')).toMatchObject({
      isError: true,
      text: expect.stringContaining('(not_bound)'),
    });
  });

  it('names the bound chat when another was asked for, and sends nothing', async () => {
    await ws.start();
    const agent = await mcp();
    const refused = { isError: true, text: expect.stringContaining(`this folder is bound to chat ${ws.chat.mailbox}`) };
    expect(await agent.call('telegram_send', { text: 'x', chat_id: 4711 })).toEqual(refused);
    expect(await agent.call('telegram_send_typing', { chat_id: '4711' })).toEqual(refused);
    expect(await agent.ask('telegram_send', { text: 'y', chat_id: ws.chat.id })).toMatchObject({ success: true });
    expect(phone()).toEqual(['y']);
  });

  it('is refused by the schema for wrong arguments, and by the tool for foreign ids', async () => {
    await ws.start();
    const agent = await mcp();
    const wrong = [
      ['telegram_poll', { timeout: -1 }],
      ['telegram_poll', { limit: 0 }],
      ['telegram_send', {}],
      ['telegram_send', { text: 'x', parse_mode: 'Word' }],
      ['telegram_ack', { message_ids: 'msg_1' }],
    ] as const;
    for (const [tool, args] of wrong) {
      const answer = await agent.call(tool, args).catch((cause: Error) => ({ isError: true, text: cause.message }));
      expect([answer.isError, answer.text]).toEqual([true, expect.stringMatching(/validation|Invalid/i)]);
    }
    expect(await agent.call('telegram_ack', { message_ids: ['msg_zz_0_1'] })).toEqual({
      isError: true,
      text: expect.stringContaining('you do not hold msg_zz_0_1'),
    });
  });

  it('leaves the server running after garbage on stdin, and stdout carries JSON-RPC alone until stdin closes', async () => {
    const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
    const lines = ['no JSON', '{}', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello })];
    const { code, stdout } = await runProgram(['mcp'], ws.env, ws.project, `${lines.join('\n')}\n`).exited;
    expect(code).toBe(0);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([{ jsonrpc: '2.0', id: 1, result: { serverInfo: { name: 'wa-sync' } } }]);
  });
});
