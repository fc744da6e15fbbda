// The faults and habits that were measured at real agents, each by the name under which it was found, against the scripted agent.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isOver } from '../../../../agent/process.ts';
import { openScripted, recorder, scripted } from '../../../helpers/acp/scripted.ts';
import { until } from '../../../helpers/daemon.ts';

/** The process whose id stands in `path`. */
const isGone = async (path: string) => {
  const pid = Number(await readFile(path, 'utf8'));
  expect(pid).toBeGreaterThan(0);
  return isOver({ pid, started: '' });
};

it('G2: a replay that comes after the response to the load is not taken for an answer', async () => {
  const { session, start, dir } = await openScripted({ style: 'gemini' });
  await session.prompt([{ text: '[[say: the old answer]]' }]);
  await session.close();

  const record = recorder();
  const again = await (await start()).open({ cwd: dir, resume: session.id }, record);
  expect(await again.prompt([{ text: '[[say: the new answer]]' }])).toEqual({ type: 'answered' });
  expect(record.text()).toBe('the new answer');
});

it('G2: without a last update the silence after a replay ends it', async () => {
  const { session, start, dir } = await openScripted({ env: { ACP_NO_RESUME: '1' }, limits: { quietMs: 3_000 } });
  await session.prompt([{ text: '[[say: the old answer]]' }]);

  const record = recorder();
  const again = await (await start()).open({ cwd: dir, resume: session.id }, record);
  await again.prompt([{ text: '[[say: new]]' }]);
  expect(record.text()).toBe('new');
});

it('G3: a process that outlives its stdin and SIGTERM is killed with its children', async () => {
  const { session, process, dir } = await openScripted({ style: 'gemini', faults: ['deaf'], limits: { graceMs: 50 } });
  await session.prompt([{ text: `[[child: ${join(dir, 'pid')}]]` }]);
  await process.close();
  expect(await process.ended).toMatchObject({ signal: 'SIGKILL' });
  expect(await isGone(join(dir, 'pid'))).toBe(true);
});

it('G4: a tool that the agent leaves open is closed with the turn', async () => {
  const { session, record } = await openScripted({ style: 'gemini' });
  const denied = session.prompt([{ text: '[[run: true]]' }]);
  (await record.asked()).answer('no');
  await denied;
  await session.prompt([{ text: '[[open: Look around]]' }]);
  const closed = record.events.flatMap((event) =>
    event.type === 'tool' && event.tool.state === 'done' ? [event.tool] : [],
  );
  expect(closed).toEqual([
    { id: 'call_1', state: 'done', title: 'true' },
    { id: 'call_3', state: 'done', title: 'Look around' },
  ]);
});

it('a mode that Gemini CLI says as text is a mode and no answer', async () => {
  const { session, record } = await openScripted({ style: 'gemini' });
  await session.setMode('autoEdit');
  expect(record.events).toEqual([{ type: 'mode', id: 'autoEdit' }]);
});

it('C1: what comes after the end of a turn is told, and its own end with it', async () => {
  const { session, record } = await openScripted({ style: 'claude' });
  expect(await session.prompt([{ text: '[[say: started]] [[background: finished]]' }])).toEqual({ type: 'answered' });
  await record.seen('idle');
  expect(record.events).toEqual([
    { type: 'inserted' },
    { type: 'text', text: 'star' },
    { type: 'text', text: 'ted' },
    { type: 'text', text: 'finished' },
    { type: 'usage', used: 7, size: 100 },
    { type: 'idle' },
  ]);
});

it('C1: work without an end mark is over after a silence', async () => {
  const { session, record } = await openScripted({ style: 'claude', limits: { idleMs: 20 } });
  await session.prompt([{ text: '[[say: started]] [[afterwards: more]]' }]);
  await record.seen('idle');
  expect(record.text()).toBe('startedmore');
});

it('C1: work that was there before the prompt is no sign that the model has the prompt', async () => {
  const { session, record, release } = await openScripted({ style: 'claude' });
  await session.prompt([{ text: '[[say: started]] [[afterwards: more]]' }]);
  await record.seen('text', ({ text }) => text === 'more');
  const prompt = session.prompt([{ text: '[[say: still the task]] [[task-over]] [[wait: go]] [[say: the answer]]' }]);
  await record.seen('idle');
  expect(record.events.filter(({ type }) => type === 'inserted')).toHaveLength(1);
  await release('go');
  await prompt;
  expect(record.events.slice(record.events.findIndex(({ type }) => type === 'idle') + 1)).toEqual([
    { type: 'inserted' },
    { type: 'text', text: '\n\nthe a' },
    { type: 'text', text: 'nswer' },
  ]);
});

it('C2: a child that the agent leaves behind when it is killed does not live on', async () => {
  const { session, process, dir } = await openScripted({ style: 'claude' });
  await session.prompt([{ text: `[[child: ${join(dir, 'pid')}]] [[die: 9]]` }]);
  await process.ended;
  expect(await isGone(join(dir, 'pid'))).toBe(true);
});

it('X1: a command that outlives a cancel is ended by closing the session, which is opened again and said', async () => {
  const { session, record, dir } = await openScripted({ style: 'codex' }, { model: 'large' });
  const prompt = session.prompt([{ text: '[[run: echo $$ > pid; exec sleep 300]]' }]);
  (await record.asked()).answer('yes');
  await until('the command runs', async () => (await readFile(join(dir, 'pid'), 'utf8')).endsWith('\n'));
  await session.cancel();

  expect(await prompt).toEqual({ type: 'cancelled' });
  const said = await record.seen('notice');
  expect(said.text).toBe(
    'Codex lets the command `echo $$ > pid; exec sleep 300` run on after a cancel, so its session was closed and opened again, which ended it.',
  );
  expect([session.modes.current, session.models.current]).toEqual(['workspace-write', 'large']);
  expect(await session.prompt([{ text: '[[say: after]]' }])).toEqual({ type: 'answered' });
  expect(await isGone(join(dir, 'pid'))).toBe(true);
});

it('X1: the late result of a command of an earlier turn is no sign of the next', async () => {
  const { session, record } = await openScripted({ style: 'codex' });
  await session.prompt([{ text: '[[open: build]]' }]);
  const before = record.events.length;
  await session.prompt([{ text: '[[late: call_1]] [[say: ok]]' }]);
  expect(record.events.slice(before).map(({ type }) => type)).toEqual(['tool', 'inserted', 'text', 'text']);
});

it('a refused tool that ends the turn is a cancelled prompt, and the next one is taken', async () => {
  const { session, record, process } = await openScripted({ style: 'codex' });
  expect(process.can).toMatchObject({ denyEndsTurn: true, cancelStopsTool: false });
  const prompt = session.prompt([{ text: '[[run: true]] [[say: never]]' }]);
  (await record.asked()).answer('no');
  expect(await prompt).toEqual({ type: 'cancelled' });
  expect(record.events.some(({ type }) => type === 'notice')).toBe(false);
  expect(await session.prompt([{ text: '[[say: because]]' }])).toEqual({ type: 'answered' });
});

it.each([
  ['says notices', []],
  ['writes its warnings as text of the answer', ['old']],
])('X2: a warning of an agent that %s is a notice', async (_name, faults) => {
  const { session, record } = await openScripted({ style: 'codex', faults });
  await session.prompt([{ text: '[[notice: Metadata not found.]] [[say: ok]]' }]);
  expect(record.events).toEqual([
    { type: 'notice', severity: 'warning', text: 'Metadata not found.' },
    { type: 'inserted' },
    { type: 'text', text: 'o' },
    { type: 'text', text: 'k' },
  ]);
});

it.each([
  ['gemini', []],
  ['claude', []],
  ['claude', ['old']],
  ['codex', []],
  ['codex', ['old']],
  ['plain', []],
] as const)('X3: an API error of %s %o fails the prompt, and is no answer', async (style, faults) => {
  const { session } = await openScripted({ style, faults });
  const end = await session.prompt([{ text: '[[error: API Error: 400 no]]' }]);
  expect(end).toEqual({ type: 'failed', error: 'API Error: 400 no', died: false });
  expect(await session.prompt([{ text: '[[say: fine]]' }])).toEqual({ type: 'answered' });
});

it('X4: a model that the agent does not take back is named', async () => {
  const { session } = await openScripted({ style: 'codex', faults: ['no-way-back'] });
  await session.setModel('large');
  await expect(session.setModel('small')).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('small'),
  });
  expect(session.models.current).toBe('large');
});

it('a cancel answers the question that is open, and the person is told that it is withdrawn', async () => {
  for (const style of ['gemini', 'claude', 'codex'] as const) {
    const { session, record } = await openScripted({ style });
    const prompt = session.prompt([{ text: '[[run: true]]' }]);
    const { signal } = await record.asked();
    await session.cancel();
    expect(await prompt).toEqual({ type: 'cancelled' });
    expect(signal.aborted).toBe(true);
  }
});

it('an agent that ignores a cancel is ended, and its prompt with it', async () => {
  const { session, record, process } = await openScripted({ limits: { cancelMs: 50 } });
  const prompt = session.prompt([{ text: '[[say: x]] [[deaf]]' }]);
  await record.seen('inserted');
  await session.cancel();
  expect(await prompt).toEqual({ type: 'cancelled' });
  expect(await process.ended).toMatchObject({ signal: 'SIGKILL' });
});

it('updates that are unknown, of wrong types or no message at all change nothing', async () => {
  const { session, record } = await openScripted();
  const raw = [
    '{"sessionUpdate":"state_update","state":"idle"}',
    '{"sessionUpdate":7}',
    '{"sessionUpdate":"tool_call"}',
    'null',
    'no json',
    '{"sessionUpdate":"plan","entries":3}',
  ];
  await session.prompt([{ text: `${raw.map((each) => `[[raw: ${each}]]`).join('')} [[say: ok]]` }]);
  expect(record.events).toEqual([
    { type: 'inserted' },
    { type: 'plan', entries: [] },
    { type: 'text', text: 'o' },
    { type: 'text', text: 'k' },
  ]);
});

it('files and terminals of the machine are not for the agent to ask for', async () => {
  const { session, record } = await openScripted();
  await session.prompt([{ text: '[[request: fs/read_text_file]] [[request: terminal/create]]' }]);
  expect(record.text().match(/-32601/g)).toHaveLength(2);
});

it('a flood of text is cut, and the turn still ends', async () => {
  const { session, record } = await openScripted();
  expect(await session.prompt([{ text: '[[flood: chunks 10000]]' }])).toEqual({ type: 'answered' });
  expect(record.text().length).toBeLessThanOrEqual(8 * 1024 * 1024);
  expect(record.events.filter(({ type }) => type === 'notice')).toHaveLength(1);
});

it('a flood of tools is cut', async () => {
  const { session, record } = await openScripted();
  await session.prompt([{ text: '[[flood: tools 1500]]' }]);
  const ids = new Set(record.events.flatMap((event) => (event.type === 'tool' ? [event.tool.id] : [])));
  expect(ids.size).toBe(1_000);
});

it('a message above the bound ends the process, and the prompt says so', async () => {
  const { session } = await openScripted({ limits: { graceMs: 50 } });
  const end = await session.prompt([{ text: `[[flood: line ${20 * 1024 * 1024}]]` }]);
  expect(end).toMatchObject({ type: 'failed', died: true });
});

it('requests for a session that is not of this process are cancelled', async () => {
  const agent = await scripted({ style: 'claude' });
  const process = await agent.start();
  const record = recorder();
  const session = await process.open({ cwd: agent.dir }, record);
  await session.prompt([{ text: '[[foreign]]' }]);
  expect(record.requests).toEqual([]);
  expect(record.text()).toBe('cancelled');
});

it('an answer that never comes is an error that names the call, and holds nobody up', async () => {
  const silent = (method: string, limits: object) =>
    openScripted({ style: 'claude', env: { ACP_NO_ANSWER: method }, limits });
  await expect(silent('session/new', { openMs: 200 })).rejects.toMatchObject({
    code: 'child_failed',
    message: 'Claude Code did not answer `session/new` within 0.2 s',
  });
  const { session } = await silent('session/set_mode,session/set_config_option,_session/steering', { answerMs: 200 });
  await expect(session.setMode('acceptEdits')).rejects.toMatchObject({ code: 'child_failed' });
  const running = session.prompt([{ text: '[[think: hm]][[wait: never]]' }]);
  await expect(session.steer('more')).rejects.toMatchObject({ code: 'child_failed' });
  await session.cancel();
  expect(await running).toEqual({ type: 'cancelled' });
});

it('a question of a background task ends with the process', async () => {
  const { session, process, record } = await openScripted({ style: 'claude' });
  await session.prompt([{ text: '[[run-later: true]]' }]);
  const { signal } = await record.asked();
  const ended = new Promise((resolve) => signal.addEventListener('abort', resolve));
  await process.close();
  await ended;
});
