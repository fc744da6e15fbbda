// From wa_outbox.json to the phone, on the real relay against the strict simulator.

import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isoSeconds } from '../../protocol/files.ts';
import { fileLimits } from '../../protocol/limits.ts';
import { until, type Workstation } from '../helpers/daemon.ts';
import { eachTest, type Scene } from '../helpers/scene.ts';
import type { FarSide } from '../helpers/stack.ts';

let far: FarSide;
let ws: Workstation;
let newAgent: Scene['newAgent'];
eachTest((scene) => {
  ({ far, ws, newAgent } = scene);
});

const timestamp = isoSeconds(Date.now());
const update = (text: string, changes: object = {}) => ({
  id: 'resp_1',
  timestamp,
  from: 'agent',
  text,
  sent: false,
  ...changes,
});
const phone = () => ws.chat.fromBot().map((message) => message.text);
const allSent = () =>
  until('every entry is marked', async () => {
    const entries = await ws.outbox();
    return entries.length > 0 && entries.every((entry) => entry.sent === true);
  });

describe('an entry of the outbox file', () => {
  it('of another program reaches the phone once and is marked sent; what it left out is completed', async () => {
    await ws.start();
    await ws.foreignWrite(ws.outboxFile, '{"messages":[{"text":"Startup complete.","step":3}],"by":"a script"}');
    await allSent();
    expect(phone()).toEqual(['Startup complete.']);
    const { messages, ...fields } = JSON.parse(await readFile(ws.outboxFile, 'utf8'));
    expect(fields).toEqual({ by: 'a script' });
    expect(messages).toEqual([
      {
        text: 'Startup complete.',
        step: 3,
        id: expect.stringMatching(/^resp_/),
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        from: 'agent',
        sent: true,
      },
    ]);
    expect((await stat(ws.outboxFile)).mode & 0o777).toBe(0o600);
  });

  it('that was written before the daemon started is sent at its start', async () => {
    await ws.foreignWrite(ws.outboxFile, { messages: [update('early'), update('already sent', { sent: true })] });
    await ws.start();
    await allSent();
    expect(phone()).toEqual(['early']);
  });

  it('is one of ten with one id in one second: ten messages, in order', async () => {
    await ws.start();
    const texts = Array.from({ length: 10 }, (_, index) => `step ${index}`);
    await ws.foreignWrite(ws.outboxFile, { messages: texts.map((text) => update(text)) });
    await until('the last one is on the phone', () => phone().includes('step 9'));
    await allSent();
    expect(phone()).toEqual(texts);
  });

  it('is not sent again when a stale foreign write revives it', async () => {
    await ws.start();
    const stale = { messages: [update('once')] };
    await ws.foreignWrite(ws.outboxFile, stale);
    await allSent();
    await ws.foreignWrite(ws.outboxFile, stale);
    await allSent();
    await ws.foreignWrite(ws.outboxFile, { messages: [update('once'), update('twice')] });
    await until('the new one is on the phone', () => phone().includes('twice'));
    await allSent();
    expect(phone()).toEqual(['once', 'twice']);
  });

  it('is not marked before the phone has it', async () => {
    far.sim.failNext({ method: 'sendMessage', status: 502, body: '<html>Bad Gateway</html>' });
    await ws.start();
    await ws.foreignWrite(ws.outboxFile, { messages: [update('patience')] });
    const refused = await far.sim.waitForCall((call) => call.answer.status === 502);
    expect(refused.params.text).toBe('patience');
    expect(await ws.outbox()).toEqual([update('patience')]);
    await allSent();
    expect(phone()).toEqual(['patience']);
  });

  it('that the phone refuses for good is marked sent with the error', async () => {
    const body = { ok: false, error_code: 403, description: 'Forbidden: bot was blocked by the user' };
    far.sim.failNext({ method: 'sendMessage', status: 403, body });
    await ws.start();
    await ws.foreignWrite(ws.outboxFile, { messages: [update('to nobody')] });
    await allSent();
    expect(await ws.outbox()).toEqual([update('to nobody', { sent: true, error: 'chat_unreachable' })]);
    expect(ws.log).toContainEqual({
      level: 'error',
      event: 'not delivered',
      fields: expect.objectContaining({ code: 'chat_unreachable' }),
    });
    expect(phone()).toEqual([]);
  });

  it('waits while the relay is away and goes out when it is back', async () => {
    const daemon = await ws.start();
    await until('connected', () => projectOf(daemon).relay === 'connected');
    await far.killRelay();
    await ws.foreignWrite(ws.outboxFile, { messages: [update('meanwhile')] });
    await until('the loss is noticed', () => projectOf(daemon).relay === 'failing');
    await until('the entry is noticed', () => projectOf(daemon).unsent === 1);
    expect(projectOf(daemon)).toMatchObject({ error: 'relay_unreachable' });
    expect(await ws.outbox()).toEqual([update('meanwhile')]);
    await far.startRelay();
    await allSent();
    expect(phone()).toEqual(['meanwhile']);
  });
});

describe('a text of `wa-sync send`', () => {
  it('that finds the outbox full goes out after what fills it, also while the daemon runs', async () => {
    const daemon = await ws.start();
    await until('connected', () => projectOf(daemon).relay === 'connected');
    const agent = await newAgent();
    await agent.hook('BeforeAgent', { prompt: 'go' });
    await far.killRelay();
    const large = update('first', { padding: 'x'.repeat(fileLimits.windowBytes) });
    await ws.foreignWrite(ws.outboxFile, { messages: [large] });
    await until('the entry is noticed', () => projectOf(daemon).unsent === 1);
    expect(await ws.run('send', 'second').exited).toMatchObject({ code: 0 });
    expect(await ws.outbox()).toEqual([large, expect.objectContaining({ text: 'second', sent: false })]);
    await far.startRelay();
    await until('both are on the phone', () => phone().length === 2);
    expect(phone()).toEqual(['first', 'second']);
    // It is no answer of the turn that runs.
    await agent.hook('AfterAgent', { prompt: 'go', prompt_response: 'The answer.' });
    await until('the answer is on the phone', () => phone().length === 3);
    expect(phone().at(-1)).toBe('The answer.');
  });

  it('that finds the outbox full without a daemon goes out after what fills it, too', async () => {
    await ws.foreignWrite(ws.outboxFile, {
      messages: [update('first', { padding: 'x'.repeat(fileLimits.windowBytes) })],
    });
    expect(await ws.run('send', 'second').exited).toMatchObject({ code: 0 });
    expect((await ws.outbox()).map(({ text }) => text)).toEqual(['first', 'second']);
    await ws.start();
    await until('both are on the phone', () => phone().length === 2);
    expect(phone()).toEqual(['first', 'second']);
  });
});

describe('what leaves the workstation', () => {
  it('holds no secret: neither known forms nor our own tokens', async () => {
    const own = 'correct-horse-battery-staple-1234567890';
    await ws.start({ secrets: [own] });
    const key = `AKIA${'Q'.repeat(16)}`;
    const block = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBg'.repeat(8)}\n-----END PRIVATE KEY-----`;
    const text = `aws ${key}, relay ${far.token}, own ${own}, bot ${far.sim.token}\n\n${block}\n\nand the end`;
    await ws.foreignWrite(ws.outboxFile, { messages: [update(text)] });
    await allSent();
    const [shown = ''] = phone();
    expect(shown).toContain('and the end');
    for (const secret of [key, far.token, own, far.sim.token, 'MIIEvQIBADANBg']) expect(shown).not.toContain(secret);
  });

  it('is Markdown as entities that the strict server takes', async () => {
    await ws.start();
    const markdown =
      '**Done** 🚀: see `auth.test.ts`\n\n```ts\nexpect(1 < 2).toBe(true) // *not bold*\n```\n[doc](https://example.org/a_b)';
    await ws.foreignWrite(ws.outboxFile, { messages: [update(markdown)] });
    await allSent();
    const [message] = ws.chat.fromBot();
    const { text = '', entities = [] } = message ?? {};
    expect(entities.map(({ type, offset, length }) => [type, text.slice(offset, offset + length)])).toEqual([
      ['bold', 'Done'],
      ['code', 'auth.test.ts'],
      ['pre', expect.stringContaining('// *not bold*')],
      ['text_link', 'doc'],
    ]);
  });

  it('is never refused by the strict server, whatever the Markdown', async () => {
    const file = fileURLToPath(new URL('../fixtures/markdown/markdown-torture.md', import.meta.url));
    const torture = await readFile(file, 'utf8');
    const before = far.sim.calls.length;
    await ws.start();
    await ws.foreignWrite(ws.outboxFile, { messages: [update(torture)] });
    await allSent();
    const answers = far.sim.calls.slice(before).map((call) => call.answer.status);
    expect(answers.length).toBeGreaterThan(0);
    expect(answers.every((status) => status === 200)).toBe(true);
    expect((await ws.outbox())[0]).not.toHaveProperty('error');
  });

  it('is cut into the messages of one call when it is huge, and comes whole as a file', async () => {
    await ws.start();
    await ws.foreignWrite(ws.outboxFile, { messages: [update('A line of a very long answer.\n'.repeat(30_000))] });
    await until(
      'the last part is on the phone',
      () => phone().some((text) => text.includes('the rest is too long')),
      120_000,
    );
    await allSent();
    expect(ws.chat.fromBot().filter(({ document }) => !document)).toHaveLength(10);
    expect(phone().every((text) => text.length <= 4096)).toBe(true);
  });

  it('is nothing for an entry without a text, which is settled with the error', async () => {
    const without = (id: string, changes: object) => ({ id, timestamp, from: 'agent', sent: false, ...changes });
    const blank = [
      without('a', {}),
      without('b', { text: null }),
      without('c', { text: '' }),
      without('d', { text: ' \n' }),
    ];
    const noEntry = { id: 'no entry', note: 'of another program' };
    await ws.foreignWrite(ws.outboxFile, { messages: [...blank, noEntry, update('visible')] });
    await ws.start();
    await until('the visible one is on the phone', () => phone().includes('visible'));
    await until('all are settled', async () => (await ws.outbox()).every((entry) => entry.sent !== false));
    expect(await ws.outbox()).toEqual([
      ...['', '', '', ' \n'].map((text, index) =>
        without('abcd'.charAt(index), { text, sent: true, error: 'empty_text' }),
      ),
      update('visible', { sent: true }),
      noEntry,
    ]);
    expect(phone()).toEqual(['visible']);
  });

  it('is said to be nothing for a text of which nothing can be seen', async () => {
    await ws.start();
    await ws.foreignWrite(ws.outboxFile, { messages: [update('\u200b')] });
    await allSent();
    expect(phone()).toEqual(['(no visible text)']);
  });
});

describe('an outbox file that is', () => {
  it('malformed is moved aside, its entries are sent, and the phone is told', async () => {
    await ws.start();
    await ws.foreignWrite(ws.outboxFile, `${JSON.stringify({ messages: [update('saved')] }).slice(0, -2)},{"id":`);
    await until('the entry is on the phone', () => phone().includes('saved'));
    await allSent();
    const names = await readdir(dirname(ws.outboxFile));
    expect(names.filter((name) => name.includes('.corrupt-'))).toHaveLength(1);
    await until('the phone is told', () => phone().some((text) => text.includes('malformed wa_outbox.json')));
  });

  it('a folder is named as trouble and read when it is a file again', async () => {
    await mkdir(ws.outboxFile, { recursive: true });
    const daemon = await ws.start();
    await until('the trouble is named', () => projectOf(daemon).outboxTrouble !== null);
    await rm(ws.outboxFile, { recursive: true });
    await ws.foreignWrite(ws.outboxFile, { messages: [update('again')] });
    await allSent();
    expect(phone()).toEqual(['again']);
    expect(projectOf(daemon).outboxTrouble).toBeNull();
  });

  it('over its limit keeps every entry that is not sent, and sheds the sent ones', async () => {
    const old = Array.from({ length: fileLimits.entries + 20 }, (_, index) => update(`old ${index}`, { sent: true }));
    await mkdir(dirname(ws.outboxFile), { recursive: true });
    await writeFile(ws.outboxFile, JSON.stringify({ messages: [...old, update('new')] }));
    await ws.start();
    await until('the entry is on the phone', () => phone().includes('new'));
    await until('the file is small', async () => (await ws.outbox()).length <= fileLimits.entries);
    expect(phone()).toEqual(['new']);
  });
});

interface ProjectStatus {
  relay: string;
  error?: string;
  unsent: number;
  outboxTrouble: string | null;
}

function projectOf(daemon: { status(): object }): ProjectStatus {
  return (daemon.status() as { projects: [ProjectStatus] }).projects[0];
}
