// The promises for a bad day: of Telegram, of the network, of the machine, and of a task that is cut off in its middle.

import { describe, expect, it } from 'vitest';
import type { ApiFailure } from '../../agent/dev/telegram-sim/sim.ts';
import { createRelayClient } from '../../agent/relay/client.ts';
import { isoSeconds } from '../../protocol/files.ts';
import { relayLimits } from '../../protocol/limits.ts';
import { startLine } from '../../scripts/lab/line.ts';
import { createWorkstation, until, type Workstation } from '../helpers/daemon.ts';
import { timesIn } from '../helpers/launcher.ts';
import { eachTest, type Scene } from '../helpers/scene.ts';

let scene: Scene;
eachTest((given) => {
  scene = given;
});

const phone = (ws = scene.ws) => ws.chat.fromBot().map(({ text }) => text);
const texts = async (ws = scene.ws) => (await ws.inbox()).map(({ text }) => text);
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `m${index + 1}`);
const status = (text: string) => ({
  messages: [{ id: 'r', timestamp: isoSeconds(Date.now()), from: 'agent', text, sent: false }],
});

/** What the relay says of the scene's chat. */
async function asked() {
  const { far, ws } = scene;
  const client = createRelayClient({ url: far.url, token: far.token });
  const { mailboxes } = await client.status();
  const { deadLetters } = await client.deadLetters({ mailbox: ws.chat.mailbox, project: 0 });
  await client.close();
  return { mailbox: mailboxes.find(({ mailbox }) => mailbox === ws.chat.mailbox), deadLetters };
}

describe('Telegram answers a status update with', () => {
  const botApi = (code: number, description: string, parameters?: object) => ({
    status: code,
    body: { ok: false, error_code: code, description, ...(parameters && { parameters }) },
  });

  const passing: [string, ApiFailure][] = [
    ['500', { status: 500 }],
    ['502 and a page of HTML', { status: 502, body: '<html>Bad Gateway</html>' }],
    ['400 for its entities', botApi(400, "Bad Request: can't parse entities: unsupported entity")],
    ['429 for a second', { status: 429, headers: { 'Retry-After': '1' } }],
  ];
  it.each(passing)('%s: it is on the phone once, and then marked sent', async (_, failure) => {
    await scene.ws.start();
    scene.far.sim.failNext({ method: 'sendMessage', ...failure });
    await scene.ws.foreignWrite(scene.ws.outboxFile, status('**patience**'));
    await until('it is marked', async () => (await scene.ws.outbox())[0]?.sent === true);
    expect(phone()).toEqual(['patience']);
  });

  const lasting: [string, ApiFailure, string][] = [
    ['401', botApi(401, 'Unauthorized'), 'platform_unauthorized'],
    ['409', botApi(409, 'Conflict: terminated by other getUpdates request'), 'platform_conflict'],
    ['429 for hours', botApi(429, 'Too Many Requests: retry after 13938', { retry_after: 13_938 }), 'rate_limited'],
  ];
  it.each(lasting)('%s: it waits, unmarked, and status says why and until when', async (_, failure, code) => {
    await scene.ws.start();
    scene.far.sim.failNext({ method: 'sendMessage', ...failure });
    await scene.ws.foreignWrite(scene.ws.outboxFile, status('kept'));
    const paused = await until('status says it', async () => (await asked()).mailbox?.paused);
    expect(paused).toEqual({ code, untilAt: expect.any(Number) });
    if (code === 'rate_limited') expect(paused.untilAt - Date.now()).toBeGreaterThan(3 * 3_600_000);
    expect((await asked()).mailbox?.outbox).toMatchObject({ queued: 1, dead: 0 });
    expect(await scene.ws.outbox()).toMatchObject([{ text: 'kept', sent: false }]);
  });

  it('403: it is a letter with its reason, and marked with the error', async () => {
    await scene.ws.start();
    scene.far.sim.failNext({ method: 'sendMessage', status: 403 });
    await scene.ws.foreignWrite(scene.ws.outboxFile, status('to nobody'));
    await until('it is marked', async () => (await scene.ws.outbox())[0]?.sent === true);
    expect(await scene.ws.outbox()).toMatchObject([{ text: 'to nobody', error: 'chat_unreachable' }]);
    expect((await asked()).deadLetters).toMatchObject([
      { direction: 'out', preview: 'to nobody', error: { code: 'chat_unreachable', reason: /blocked/ } },
    ]);
  });

  it('nothing at all: it is sent once more when the call is given up', async () => {
    await scene.ws.start();
    scene.far.sim.failNext({ method: 'sendMessage', hang: true });
    await scene.ws.foreignWrite(scene.ws.outboxFile, status('hung'));
    await until('it is marked', async () => (await scene.ws.outbox())[0]?.sent === true, 120_000);
    expect(phone()).toEqual(['hung']);
  });
});

it('duplicate, reordered, edited, foreign, oversized and unknown updates, an album and a move of the group: each as promised', async () => {
  const { far, ws } = scene;
  await ws.start();
  const metrics = async () => {
    const headers = { authorization: `Bearer ${far.token}` };
    const text = await (await fetch(`${far.url}/v1/metrics`, { headers })).text();
    return (name: string) => Number(new RegExp(`^wa_ignored_total\\{reason="${name}"\\} (\\d+)$`, 'm').exec(text)?.[1]);
  };
  const before = await metrics();
  const first = 2_000_000_100;
  const sentAt = Math.floor(Date.now() / 1000) - 60;
  const update = (id: number, message: object, chatId = ws.chat.id, userId = far.sim.ownerId) => ({
    update_id: first + id,
    message: {
      message_id: 900_000 + id,
      date: sentAt + id,
      chat: { id: chatId, type: 'supergroup', title: 'x' },
      from: { id: userId, is_bot: false, first_name: 'x' },
      ...message,
    },
  });
  const photo = (id: string) => ({
    media_group_id: 'g1',
    photo: [{ file_id: id, file_unique_id: id, file_size: 10, width: 1, height: 1 }],
  });
  const deliver = async (each: object) => (await far.sim.deliver(each)).status;
  expect(await deliver(update(5, { text: 'first', date: sentAt }))).toBe(200);
  expect(await deliver(update(5, { text: 'first', date: sentAt }))).toBe(200);
  expect(await deliver(update(3, { text: 'second, of a lower number' }))).toBe(200);
  expect(await deliver(update(6, { text: 'of a stranger' }, ws.chat.id, 4_242))).toBe(200);
  expect(await deliver(update(7, { text: 'of elsewhere' }, -1_009_999_999_999))).toBe(200);
  expect(await deliver({ update_id: first + 8, of_tomorrow: { chat: { id: ws.chat.id } } })).toBe(200);
  expect(await deliver(update(9, { text: 'x'.repeat(relayLimits.webhookBodyBytes) }))).toBe(413);
  expect(await deliver(update(10, { ...photo('a'), caption: 'two pictures' }))).toBe(200);
  expect(await deliver(update(11, photo('b')))).toBe(200);
  expect(await deliver(update(12, { text: 'third' }))).toBe(200);
  const { message: edited } = update(12, { text: 'third, edited', edit_date: sentAt + 13 });
  expect(await deliver({ update_id: first + 13, edited_message: edited })).toBe(200);
  await until('the edit and the album are there', async () => {
    const found = await texts();
    return found.includes('third, edited') && found.some((text) => text.includes('two pictures'));
  });
  // A text may stand in the file before an album whose pictures are still fetched; a turn gets both in their order.
  const context = await (await scene.newAgent()).turn('Seen.');
  const given = [...(context ?? '').matchAll(/ begin (\S+) · [^\]]*\]\n([^\n]*)/g)].map(([, , text]) => text);
  expect(given).toEqual(['first', 'second, of a lower number', 'two pictures', 'third, edited']);
  const after = await metrics();
  expect([after('foreign') - before('foreign'), after('unknown') - before('unknown')]).toEqual([2, 1]);

  const moved = far.nextChat();
  expect(await deliver(update(14, { migrate_to_chat_id: moved.id }))).toBe(200);
  await until('the new chat is told', () => moved.fromBot().some(({ text }) => text.includes('supergroup')));
});

describe('six messages arrive once each, in order, although in their middle', () => {
  async function sixWith(ws: Workstation, fault: () => Promise<unknown>): Promise<void> {
    for (const [index, text] of numbered(6).entries()) {
      if (index === 3) await fault();
      await ws.chat.say(text);
    }
    await until('all are there', async () => (await texts(ws)).includes('m6'), 120_000);
    await until('the relay is rid of them', async () => (await ws.chat.ladder()).delivered === 6);
    expect(await texts(ws)).toEqual(numbered(6));
  }

  it('the daemon is killed', async () => {
    const daemon = await scene.ws.runDaemon();
    await sixWith(scene.ws, async () => {
      await daemon.kill9();
      await scene.ws.runDaemon();
    });
  });

  it('the relay is killed', async () => {
    await scene.ws.start();
    await sixWith(scene.ws, async () => {
      await scene.far.killRelay();
      await scene.far.startRelay();
    });
  });

  it('the power is cut: both are killed', async () => {
    const daemon = await scene.ws.runDaemon();
    await sixWith(scene.ws, async () => {
      await Promise.all([daemon.kill9(), scene.far.killRelay()]);
      await scene.far.startRelay();
      await scene.ws.runDaemon();
    });
  });

  it.each([
    ['the laptop sleeps for eight hours', 8 * 3_600_000],
    ['its clock jumps back by a day', -24 * 3_600_000],
  ])('%s', async (_, jumpMs) => {
    let offsetMs = 0;
    await scene.ws.start({ clock: () => Date.now() + offsetMs });
    await sixWith(scene.ws, async () => {
      offsetMs = jumpMs;
    });
  });

  it('the network is cut in a request, stays away for a while, and comes back: status updates too', async () => {
    const { far } = scene;
    const line = await startLine(() => Number(new URL(far.url).port));
    const ws = await createWorkstation({ ...far, url: `http://127.0.0.1:${line.port}` });
    try {
      const daemon = await ws.start();
      const relay = () => (daemon.status() as { projects: [{ relay: string }] }).projects[0].relay;
      await sixWith(ws, async () => {
        await until('three are there', async () => (await texts(ws)).length === 3);
        line.arm({ kind: 'truncateAnswer' });
        await ws.chat.say('/ping');
        line.setDown(true);
        await until('the loss is noticed', () => relay() === 'failing');
        await ws.foreignWrite(ws.outboxFile, status('written meanwhile'));
        line.heal();
      });
      await until('the update is on the phone', () => phone(ws).includes('written meanwhile'));
      await until('it is marked', async () => (await ws.outbox())[0]?.sent === true);
      expect(relay()).toBe('connected');
      expect(phone(ws).filter((text) => text === 'written meanwhile')).toHaveLength(1);
    } finally {
      await ws.close();
      await line.close();
    }
  });
});

describe('a crash in the middle of a task', () => {
  /** The turn has the message, the model has seen it, a tool runs. */
  async function inTheMiddle() {
    await scene.arrives('compile it');
    const agent = await scene.newAgent();
    const { additionalContext } = await agent.hook('BeforeAgent', { prompt: 'x' });
    expect(timesIn(additionalContext, 'compile it')).toBe(1);
    await agent.record('user', [{ text: 'x' }, { text: `<hook_context>${additionalContext}</hook_context>` }]);
    await agent.hook('BeforeTool', { tool_name: 'run_shell_command', tool_input: { command: 'make' } });
    return agent;
  }

  it('of the daemon costs nothing: the turn goes on, its answer is on the phone once, the message is answered', async () => {
    const daemon = await scene.ws.runDaemon();
    const agent = await inTheMiddle();
    await daemon.kill9();
    expect(await agent.hook('AfterTool', { tool_name: 'run_shell_command' })).toEqual({});
    await scene.ws.runDaemon();
    await agent.record('gemini', 'It compiles.');
    await agent.hook('AfterAgent', { prompt: 'x', prompt_response: 'It compiles.' });
    await until('the relay knows', async () => (await scene.ws.chat.ladder()).answered === 1);
    await until('the answer is on the phone', () => phone().includes('It compiles.'));
    expect(phone()).toEqual(['It compiles.']);
    expect(await agent.turn('Idle.')).toBeUndefined();
  });

  it('of the coding agent is told with Retry, which gives the message to the next one', async () => {
    const { far, ws } = scene;
    await ws.start();
    await (await inTheMiddle()).kill();
    const failed = await until('it is told, with Retry', () =>
      ws.chat.fromBot().find(({ text, buttons }) => text.startsWith('Failed: ') && buttons.length > 0),
    );
    expect((await ws.chat.ladder()).failed).toBe(1);
    await far.sim.press(failed.messageId, 'Retry', ws.chat.id);
    await until('it is unread again', async () => (await ws.inbox()).some(({ read }) => !read));
    const next = await scene.newAgent('next');
    expect(timesIn(await next.turn('Compiled.'), 'compile it')).toBe(1);
    await until('the relay knows', async () => (await ws.chat.ladder()).answered === 1);
  });
});
