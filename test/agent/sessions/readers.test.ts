// The readers of the agents' session files, on recorded files and on what another program may have left there.

import { appendFile, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { agentsWithSessions, sessionFilesOf } from '../../../agent/drivers/session-files.ts';
import type { SessionEvent } from '../../../agent/drivers/sessions.ts';
import { readingOf, startOf } from '../../../agent/sessions/read.ts';
import { addTo, emptySummary } from '../../../agent/sessions/summary.ts';
import { type Agent, recorded } from '../../helpers/sessions.ts';
import { temporaryFolder } from '../../helpers/surroundings.ts';

const fixture = (name: string) => join(import.meta.dirname, '..', '..', 'fixtures', name);
const agents = Object.keys(recorded) as Agent[];

async function eventsOf(agent: string, path: string, from = 0): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  await readingOf({ agent, path }, from).next((event) => void events.push(event));
  return events;
}

function only<T extends SessionEvent['type']>(events: readonly SessionEvent[], type: T) {
  return events.filter((event): event is Extract<SessionEvent, { type: T }> => event.type === type);
}

it('every agent of the list has a recorded session here', () => {
  expect(agentsWithSessions().sort()).toEqual([...agents].sort());
});

it('a session of Claude Code gives prompt, answers with the model, tool with its result, tokens and cost', async () => {
  const events = await eventsOf('claude', fixture(recorded.claude.file));
  expect(only(events, 'session')[0]).toMatchObject({ id: recorded.claude.id, dir: '/home/dev/project' });
  expect(only(events, 'prompt').map(({ text }) => text)).toEqual(['RUN: echo hi-there']);
  expect(only(events, 'answer')).toMatchObject([
    { text: 'I will call Bash.', model: 'claude-opus-5-5' },
    { text: 'TOOL-RESULT-SEEN: hi-there', model: 'claude-opus-5-5' },
  ]);
  expect(only(events, 'tool')).toMatchObject([
    { id: 'toolu_fake000002', tool: 'Bash', input: { command: 'echo hi-there' } },
  ]);
  expect(only(events, 'result')).toMatchObject([{ id: 'toolu_fake000002', ok: true, text: 'hi-there' }]);
  const summary = emptySummary();
  for (const event of events) addTo(summary, event);
  // The two blocks of one message have the same usage.
  expect(summary).toMatchObject({ tokens: 240, costUsd: 0.0016, count: 3, errors: 0 });
});

it('a session of Claude Code shows thoughts, a failed request as an error, and the words of a Stop hook as a prompt', async () => {
  const at = '2026-11-20T21:27:42.241Z';
  const line = (value: object) => JSON.stringify({ timestamp: at, ...value });
  const said = (content: object[], more = {}) =>
    line({ type: 'assistant', message: { id: 'm1', model: 'x', content }, ...more });
  const read = sessionFilesOf('claude')?.reader();
  const events = [
    said([{ type: 'thinking', thinking: 'hm' }]),
    said([{ type: 'text', text: 'API Error: 529' }], { isApiErrorMessage: true }),
    line({ type: 'user', isMeta: true, message: { role: 'user', content: 'Stop hook feedback:\nnext task' } }),
    line({ type: 'user', isMeta: true, message: { role: 'user', content: 'a note of the agent' } }),
    line({ type: 'user', isSidechain: true, message: { role: 'user', content: 'asked of a sub-agent' } }),
    line({ type: 'user', isCompactSummary: true, message: { role: 'user', content: 'a summary' } }),
    line({ type: 'custom-title', customTitle: 'My title' }),
  ].flatMap((each) => read?.(each) ?? []);
  expect(only(events, 'thought').map(({ text }) => text)).toEqual(['hm']);
  expect(only(events, 'error').map(({ text }) => text)).toEqual(['API Error: 529']);
  expect(only(events, 'prompt').map(({ text }) => text)).toEqual(['next task']);
  expect(only(events, 'title')).toEqual([{ type: 'title', text: 'My title', by: 'person' }]);
});

it('a session of Codex gives the prompt of the person and not those of the agent, the tool with its result, and the model', async () => {
  const events = await eventsOf('codex', fixture(recorded.codex.file));
  expect(only(events, 'session')).toMatchObject([{ id: recorded.codex.id, dir: '/home/dev/project', subAgent: false }]);
  expect(only(events, 'prompt').map(({ text }) => text)).toEqual(['RUN: echo hi-codex']);
  expect(only(events, 'answer')).toMatchObject([{ model: 'gpt-5.5-codex' }]);
  expect(only(events, 'tool')).toMatchObject([{ id: 'call_4', tool: 'exec_command', input: { cmd: 'echo hi-codex' } }]);
  expect(only(events, 'result')).toMatchObject([{ id: 'call_4', ok: true }]);
  expect(only(events, 'usage').map(({ tokens }) => tokens)).toEqual([110, 110]);
});

it('a session of Codex tells errors, failed commands, thoughts, and the session of a sub-agent', async () => {
  const read = sessionFilesOf('codex')?.reader();
  const events = [
    { type: 'session_meta', payload: { id: 'x', source: { subagent: 'review' } } },
    { type: 'event_msg', payload: { type: 'error', message: 'stream disconnected' } },
    { type: 'response_item', payload: { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] } },
    {
      type: 'response_item',
      payload: { type: 'function_call_output', call_id: 'c', output: 'Process exited with code 2\nOutput:\nno' },
    },
    {
      type: 'response_item',
      payload: {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: '<hook_prompt hook_run_id="stop:1">next task</hook_prompt>' }],
      },
    },
  ].flatMap((each) => read?.(JSON.stringify(each)) ?? []);
  expect(events).toMatchObject([
    { type: 'session', subAgent: true },
    { type: 'error', text: 'stream disconnected' },
    { type: 'thought', text: 'hm' },
    { type: 'result', ok: false },
    { type: 'prompt', text: 'next task' },
  ]);
});

it('a patched session of Gemini CLI is the conversation that the agent itself would show, each message once', async () => {
  const path = fixture('gemini-0.61.0/session.interactive.jsonl');
  const events = await eventsOf('gemini', path, await startOf({ agent: 'gemini', path }));
  const prompts = only(events, 'prompt').map(({ text }) => text.replace(/ \[\[.*/, ''));
  expect(prompts).toEqual([
    'first prompt',
    'PHONE MESSAGE: please also do step two',
    'typed while hook blocks',
    'third prompt',
    'fourth prompt',
    'run A',
    'run D',
    'run C',
  ]);
  expect(only(events, 'tool').map(({ input }) => input.command)).toEqual([
    'echo AAA > a.txt',
    'touch d.txt',
    'touch c.txt',
  ]);
  expect(only(events, 'result').map(({ ok }) => ok)).toEqual([true, true, true]);
});

it('a session of Gemini CLI counts the tokens of a message once, however often its history was rewritten', async () => {
  const summary = emptySummary();
  for (const event of await eventsOf('gemini', fixture(recorded.gemini.file))) addTo(summary, event);
  expect(summary).toMatchObject({ id: recorded.gemini.id, tokens: 1177 + 1178 + 1179 + 1180 + 1181, count: 6 });
  expect(summary.named).toBe('Here is the plan: step one, step two.');
});

it('a failed request of Gemini CLI is an error of the session', async () => {
  const events = await eventsOf('gemini', fixture('gemini-0.61.0/session.interactive-api-error.jsonl'));
  expect(only(events, 'error')).toMatchObject([{ text: expect.stringContaining('Scripted error 400') }]);
});

it('the older document of Gemini CLI gives the same conversation as the lines, piece by piece', async () => {
  const dir = await temporaryFolder();
  const messages = [
    { id: 'u1', timestamp: '2026-01-02T22:02:05.094Z', type: 'user', content: 'Say "}]{[" and \\' },
    {
      id: 'g1',
      timestamp: '2026-01-02T22:02:06.094Z',
      type: 'gemini',
      content: 'done {',
      tokens: { total: 7 },
      model: 'm',
      toolCalls: [
        {
          id: 't1',
          name: 'ls',
          args: { path: '[' },
          status: 'success',
          result: [{ functionResponse: { id: 't1', response: { output: 'a' } } }],
        },
      ],
    },
  ];
  const document = {
    sessionId: recorded.gemini.id,
    startTime: '2026-01-02T22:02:05Z',
    messages,
    memory: { list: [{ type: 'error', content: 'not a message' }] },
  };
  for (const [name, space] of [
    ['narrow', 0],
    ['wide', 2],
  ] as const) {
    const path = join(dir, `session-${name}.json`);
    await writeFile(path, JSON.stringify(document, null, space));
    const events = await eventsOf('gemini', path);
    expect(events.map(({ type }) => type)).toEqual([
      'rewritten',
      'session',
      'prompt',
      'answer',
      'tool',
      'result',
      'usage',
    ]);
    expect(events[2]).toMatchObject({ text: 'Say "}]{[" and \\' });
  }
});

it.each(agents)('of %s only the new lines are read, and half a line when it is whole', async (agent) => {
  const path = join(await temporaryFolder(), 'session.jsonl');
  const text = await readFile(fixture(recorded[agent].file), 'utf8');
  const whole = await eventsOf(agent, fixture(recorded[agent].file));
  const reading = readingOf({ agent, path });
  const events: SessionEvent[] = [];
  await writeFile(path, '');
  for (let at = 0; at < text.length; at += 4_999) {
    await appendFile(path, text.slice(at, at + 4_999));
    await reading.next((event) => void events.push(event));
  }
  expect(events).toEqual(whole);
  expect(reading.position).toBe(Buffer.byteLength(text.slice(0, text.lastIndexOf('\n') + 1)));
});

it.each(agents)(
  'the reader of %s skips garbage, unknown types and lines of the wrong form, and goes on',
  async (agent) => {
    const path = join(await temporaryFolder(), 'session.jsonl');
    const text = await readFile(fixture(recorded[agent].file), 'utf8');
    const wrong = ['type', 'message', 'payload', '$set', 'content', 'toolCalls', 'sessionId', '$rewindTo'].flatMap(
      (key) =>
        [null, 1, 'x', [null, [1]], { type: { a: 1 } }].map((value) =>
          JSON.stringify({ type: 'user', [key]: value, timestamp: value }),
        ),
    );
    const garbage = ['', '{', '\u0000\u0001', '[]', '"x"', 'null', '{"type":"from-the-future"}', ...wrong].join('\n');
    await writeFile(path, `${garbage}\n${text}`);
    const seen = (events: readonly SessionEvent[]) => only(events, 'tool');
    expect(seen(await eventsOf(agent, path))).toEqual(seen(await eventsOf(agent, fixture(recorded[agent].file))));
  },
);

it('a line that no agent writes, of 20 MB, is skipped', async () => {
  const path = join(await temporaryFolder(), 'session.jsonl');
  const text = await readFile(fixture(recorded.codex.file), 'utf8');
  await writeFile(path, `{"type":"response_item","payload":"${'x'.repeat(20_000_000)}"}\n${text}`);
  expect(only(await eventsOf('codex', path), 'prompt')).toHaveLength(1);
});

it('a session file that is a link is not read', async () => {
  const path = join(await temporaryFolder(), 'session.jsonl');
  await symlink(fixture(recorded.codex.file), path);
  await expect(eventsOf('codex', path)).rejects.toThrow();
});

it('a document of very many brackets is read in the time that its size costs', async () => {
  const path = join(await temporaryFolder(), 'session-deep.json');
  const [deep, said] = [300_000, { type: 'user', id: 'm', content: [{ text: 'AAA' }] }];
  const junk = `${'['.repeat(deep)}${'[],'.repeat(deep)}[]${']'.repeat(deep)}`;
  await writeFile(path, `{"junk":${junk},"messages":[${JSON.stringify(said)}]}`);
  expect(only(await eventsOf('gemini', path), 'prompt').map(({ text }) => text)).toEqual(['AAA']);
});
