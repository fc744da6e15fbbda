// Topics of a chat, one project each, in real workerd against a Telegram that is strict about threads.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTelegramSim, type TelegramSim } from '../../agent/dev/telegram-sim/sim.ts';
import type { StatusAnswer, TopicAnswer } from '../../protocol/relay-api.ts';
import type { Standing } from '../../protocol/standing.ts';
import { type Relay, startRelay } from '../helpers/relay.ts';

const daemon = { id: 'daemon-of-desktop', startedAt: 1 };
const standing: Standing = {
  machine: 'desktop',
  folder: 'web',
  version: '0.1.0',
  zone: 'Asia/Kolkata',
  agent: 'Gemini CLI',
  session: '3f2a91c0',
  doing: 'idle',
  sinceAt: Date.parse('2026-02-15T20:00:00Z'),
  asked: 0,
  waiting: 0,
  away: false,
  approvals: 'off',
  usage: [],
};

let sim: TelegramSim;
let relay: Relay;
let project: number;
beforeAll(async () => {
  sim = await startTelegramSim({ privateTopics: true });
  relay = await startRelay({ sim });
});
afterAll(async () => {
  await relay.close();
  await sim.close();
});

const make = (name: string, of = relay) => of.call<TopicAnswer>('POST', '/v1/topics', { mailbox: of.mailbox, name });
const shown = (threadId?: number) =>
  sim.messages().filter((message) => message.from === 'bot' && message.threadId === threadId);
const textsIn = (threadId?: number) => shown(threadId).map(({ text }) => text);

describe('a topic for a project', () => {
  it('is made once, also when the answer was lost and the relay is asked again', async () => {
    const { status, body } = await make('web');
    expect([status, body]).toEqual([200, { project: expect.any(Number) }]);
    ({ project } = body);
    expect((await make('web')).body).toEqual({ project });
    const { body: told } = await relay.call<StatusAnswer>('GET', '/v1/status');
    expect(told.mailboxes[0]).toMatchObject({ topics: true });
    expect(told.mailboxes[0]?.projects.at(-1)).toMatchObject({ project, topic: 'web' });
  });

  it('is refused with what the owner has to turn on where the chat has none', async () => {
    const bare = await startTelegramSim();
    const other = await startRelay({ sim: bare });
    const { status, body } = await make('web', other);
    await other.close();
    await bare.close();
    expect([status, body.error]).toMatchObject([409, { code: 'no_topics', hint: expect.stringContaining('topics') }]);
  });
});

describe('a group with topics', () => {
  it('gets one for a project, and a group without them is told apart', async () => {
    const groups = [
      { id: -100_200, topics: {} },
      { id: -100_300, title: 'No topics' },
    ];
    const other = await startTelegramSim({ groups });
    const chats = groups.map(({ id }) => id).join(',');
    const of = await startRelay({
      sim: other,
      vars: { TELEGRAM_CHAT_ID: chats, TELEGRAM_USER_IDS: String(other.ownerId) },
    });
    const name = 'web';
    const made = await of.call<TopicAnswer>('POST', '/v1/topics', { mailbox: '-100200', name });
    expect(made.body).toEqual({ project: expect.any(Number) });
    await other.say('/sessions', { chatId: -100_300 });
    await other.say('for web', { chatId: -100_200, threadId: made.body.project });
    const { rows } = await of.poll({ mailbox: '-100200', project: made.body.project });
    expect(rows).toMatchObject([{ text: 'for web' }]);
    await expect
      .poll(async () => (await of.call<StatusAnswer>('GET', '/v1/status')).body.mailboxes.map(({ topics }) => topics))
      .toEqual([true, false]);
    await of.close();
    await other.close();
  });
});

describe('a message in a topic that no project is bound to', () => {
  it('is answered with the command that binds one, kept, and delivered to nobody else', async () => {
    await sim.say('fix the header', { threadId: project });
    await expect.poll(() => textsIn(project)).toEqual([expect.stringContaining(`wa-sync setup --topic ${project}`)]);
    expect((await relay.poll({ project: 0 })).rows).toEqual([]);
  });

  it('is delivered when one is bound, which the topic is told', async () => {
    const { epoch, rows } = await relay.poll({ project, daemon, standing });
    expect(rows).toMatchObject([{ kind: 'message', text: 'fix the header' }]);
    await relay.poll({ project, daemon, epoch, after: rows[0]?.seq ?? 0 });
    await expect.poll(() => textsIn(project).at(-1)).toBe('web on desktop is bound here now: 1 message delivered.');
  });
});

describe('times on the phone', () => {
  it('are those of the clock on the wall of the workstation', async () => {
    await sim.say('/status', { threadId: project });
    // 20:00 UTC is half past one of the next day in Kolkata.
    await expect
      .poll(() => textsIn(project).at(-1))
      .toMatch(/web on desktop, Gemini CLI, session 3f2a91c0\n(Now|When last seen): idle since 2026-02-16 01:30\./);
  });
});

describe('a topic that the owner has deleted', () => {
  it('sends its answers to the main chat, each with its project, and says so once', async () => {
    sim.deleteTopic(project);
    await relay.post([{ key: 'answer-one', parts: [{ text: 'done', entities: [] }] }, { key: 'answer-two' }], project);
    const notice = expect.stringMatching(/^The topic of web on desktop is gone\. Its answers come here\./);
    await expect.poll(() => textsIn().toSorted()).toEqual([notice, '[web]\nanswer-two', '[web]\ndone'].toSorted());
    expect((await relay.post([{ key: 'answer-one' }], project)).items).toMatchObject([{ state: 'sent' }]);
  });

  it('hears what is answered to them there', async () => {
    const answer = shown().find(({ text }) => text === '[web]\ndone');
    await sim.say('and the footer', { replyTo: answer?.messageId ?? 0 });
    await sim.say('somebody else');
    const { rows } = await relay.poll({ project, daemon });
    expect(rows.filter(({ kind }) => kind === 'message').at(-1)).toMatchObject({ text: 'and the footer' });
    expect((await relay.poll({ project: 0 })).rows).toMatchObject([{ text: 'somebody else' }]);
  });
});
