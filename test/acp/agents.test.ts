// The one driver with the real agents: what the phone may promise for each of them.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OwnedProcess, OwnedSession } from '../../agent/owned/owned.ts';
import { isOver } from '../../agent/process.ts';
import { type Recorder, recorder } from '../helpers/acp/scripted.ts';
import { until } from '../hosts/processes.ts';
import { type AgentName, type Stage, stageFor } from './stage.ts';

/** A valid PNG: Codex puts a text in the place of any other. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAJ0lEQVR42u3NsQkAAAjAsP7/tF7hIASyp6lTCQQCgUAgEAgEgi/BAjLD/C5w/SM9AAAAAElFTkSuQmCC',
  'base64',
);
const waitMs = 20_000;

const facts = {
  gemini: { ask: 'default', all: 'yolo', steer: false, list: false },
  claude: { ask: 'default', all: 'acceptEdits', steer: true, list: true },
  codex: { ask: 'workspace-write', all: 'agent-full-access', steer: true, list: true },
} as const;

const contentOf = (path: string) => readFile(path, 'utf8').catch(() => undefined);

describe.each(['gemini', 'claude', 'codex'] as AgentName[])('%s', (name) => {
  let stage: Stage;
  let process: OwnedProcess;
  let session: OwnedSession;
  let record: Recorder;
  const file = (path: string) => join(stage.project, path);
  const prompt = (text: string) => session.prompt([{ text }]);
  /** The text of the events since. */
  const textFrom = (index: number) =>
    record.events
      .slice(index)
      .map((event) => (event.type === 'text' ? event.text : ''))
      .join('');

  beforeAll(async () => {
    stage = await stageFor(name);
    ({ process, session, record } = await stage.open());
  });
  afterAll(() => stage?.close());

  it('streams a turn, in the mode in which a person is asked', async () => {
    const answer =
      'Hello from the model, in an answer that is long enough to come in several chunks, one after another.';
    expect(await prompt(`[[say: ${answer}]]`)).toEqual({ type: 'answered' });
    expect(record.text()).toBe(answer);
    const kinds = record.events.map(({ type }) => type).filter((type) => type === 'text' || type === 'inserted');
    expect(kinds[0]).toBe('inserted');
    expect(kinds.filter((kind) => kind === 'inserted')).toHaveLength(1);
    expect(session.modes.current).toBe(facts[name].ask);
    expect(process.can).toMatchObject({ images: true, resume: true, steer: facts[name].steer, list: facts[name].list });
    expect(session.commands().length).toBeGreaterThan(0);
  });

  it('runs a command after a yes, and not after a no', async () => {
    const allowed = prompt(`${stage.asks(`touch ${file('allowed')}`)} [[say: done]]`);
    const first = await record.asked();
    expect(first.request.tool.title).toContain('touch');
    first.answer(first.request.options.find(({ kind }) => kind === 'allowOnce')?.id);
    expect(await allowed).toEqual({ type: 'answered' });
    expect(await contentOf(file('allowed'))).toBe('');

    const denied = prompt(`${stage.asks(`touch ${file('denied')}`)} [[say: done]]`);
    const second = await record.asked();
    second.answer(second.request.options.find(({ kind }) => kind === 'denyOnce')?.id);
    expect(await denied).toEqual({ type: process.can.denyEndsTurn ? 'cancelled' : 'answered' });
    expect(await contentOf(file('denied'))).toBe(undefined);
  });

  it('ends a command with a cancel, and answers the next prompt', async () => {
    const running = prompt(stage.asks(`echo $$ > ${file('pid')}; sleep 300; touch ${file('survived')}`));
    const { request, answer } = await record.asked();
    answer(request.options.find(({ kind }) => kind === 'allowOnce')?.id);
    expect(await until(async () => /\d\n/.test((await contentOf(file('pid'))) ?? ''), waitMs)).toBe(true);
    await session.cancel();
    expect(await running).toEqual({ type: 'cancelled' });
    const from = record.events.length;
    expect(await prompt('[[say: after the cancel]]')).toEqual({ type: 'answered' });
    expect(textFrom(from)).toBe('after the cancel');
    const pid = Number(await contentOf(file('pid')));
    expect(await until(() => isOver({ pid, started: '' }), waitMs)).toBe(true);
  });

  it('lets a cancel withdraw the question that is open', async () => {
    const running = prompt(stage.asks(`touch ${file('never')}`));
    const { signal } = await record.asked();
    await session.cancel();
    expect(await running).toEqual({ type: 'cancelled' });
    expect(signal.aborted).toBe(true);
    expect(await contentOf(file('never'))).toBe(undefined);
  });

  it('takes no second prompt while one runs, and a text into the running one where it can', async () => {
    const running = prompt(`${stage.asks(`touch ${file('steered')}`)} [[say: first]]`);
    const { request, answer } = await record.asked();
    await expect(prompt('[[say: second]]')).rejects.toMatchObject({ code: 'turn_running' });
    if (process.can.steer) expect(await session.steer('Please remember: steered-in')).toBe('injected');
    answer(request.options.find(({ kind }) => kind === 'allowOnce')?.id);
    expect(await running).toEqual({ type: 'answered' });
    expect(stage.bodies().some((body) => body.includes('steered-in'))).toBe(process.can.steer);
    expect(stage.bodies().some((body) => body.includes('[[say: second]]'))).toBe(false);
  });

  it('shows the model an image', async () => {
    await session.prompt([{ text: '[[say: seen]]' }, { image: png, mimeType: 'image/png' }]);
    expect(stage.bodies().at(-1)).toMatch(/inlineData|"image"|input_image/);
  });

  it('changes mode and model', async () => {
    const { all, ask } = facts[name];
    await session.setMode(all);
    expect(session.modes.current).toBe(all);
    if (name !== 'claude') {
      const from = record.requests.length;
      expect(await prompt(`[[shell: touch ${file('unasked')}]]`)).toEqual({ type: 'answered' });
      expect(record.requests.length).toBe(from);
      expect(await contentOf(file('unasked'))).toBe('');
    }
    await session.setMode(ask);
    // The others of Claude may be names of the model that it has.
    const isOther = (id: string) => (name === 'claude' ? /haiku|sonnet/.test(id) : id !== 'auto');
    const other = session.models.all.find(({ id }) => id !== session.models.current && isOther(id));
    await session.setModel(other?.id ?? '');
    expect(session.models.current).toBe(other?.id);
    const before = modelOf(stage.bodies().at(-1));
    await prompt('[[say: another model]]');
    expect(modelOf(stage.bodies().at(-1))).not.toBe(before);
    await expect(session.setModel('no-such-model')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('fails a prompt with the error of the model, and answers the next', async () => {
    const from = record.events.length;
    const accept = stage.refuse(400);
    expect(await prompt('Please fail.')).toMatchObject({
      type: 'failed',
      died: false,
      error: expect.stringContaining('400'),
    });
    accept();
    expect(textFrom(from)).toBe('');
    expect(await prompt('[[say: fine]]')).toEqual({ type: 'answered' });
  });

  it('lists its sessions where it can', async () => {
    const listed = await process.list(stage.project);
    if (facts[name].list) expect(listed?.map(({ id }) => id)).toContain(session.id);
    else expect(listed).toBe(undefined);
  });

  it('answers a prompt once after kill -9 of its process, in the session that was opened again', async () => {
    const { session: victim, process: killed, record: seen } = await stage.open();
    await victim.prompt([{ text: 'Remember the word walnut. [[say: yes]]' }]);
    const running = victim.prompt([{ text: stage.asks(`touch ${file('killed')}`) }]);
    await seen.asked();
    globalThis.process.kill(killed.pid, 'SIGKILL');
    expect(await running).toMatchObject({ type: 'failed', died: true });
    expect(await killed.ended).toMatchObject({ signal: 'SIGKILL' });

    const again = await stage.open({ resume: victim.id });
    expect(again.session.id).toBe(victim.id);
    expect(again.session.modes.current).toBe(facts[name].ask);
    // A model may take up the command that was never answered.
    const taken = again.record
      .asked()
      .then(({ request, answer }) => answer(request.options.find(({ kind }) => kind === 'denyOnce')?.id));
    expect(await again.session.prompt([{ text: '[[say: back]]' }])).toEqual({ type: 'answered' });
    taken.catch(() => {});
    expect(again.record.text()).toBe('back');
    expect(stage.bodies().at(-1)).toContain('walnut');
  });

  it('names a session that it does not have', async () => {
    const resume = crypto.randomUUID();
    await expect(process.open({ cwd: stage.project, resume }, recorder())).rejects.toMatchObject({ code: 'not_found' });
  });

  it('leaves no process behind', async () => {
    await process.close();
    expect(isOver({ pid: process.pid, started: '' })).toBe(true);
  });
});

function modelOf(body: string | undefined): unknown {
  return (JSON.parse(body ?? '{}') as { model?: unknown }).model;
}
