// An owned session over ACP, against the scripted agent: what every agent can do, whatever its habits.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openScripted, recorder, scripted } from '../../../helpers/acp/scripted.ts';

it('a prompt is inserted at the first sign of the model, streams its text in order, and is answered', async () => {
  const { session, record, process } = await openScripted();

  const end = await session.prompt([{ text: '[[think: hm]] [[say: Hello from the model]]' }]);

  expect(end).toEqual({ type: 'answered' });
  expect(record.events).toEqual([
    { type: 'inserted' },
    { type: 'thought', text: 'hm' },
    { type: 'text', text: 'Hello from' },
    { type: 'text', text: ' the model' },
  ]);
  expect(process.version).toBe('1.2.3');
  expect(session.commands()).toEqual([
    { name: 'plan', description: 'Turn plan mode on.' },
    { name: 'status', description: '' },
  ]);
});

it('a tool runs when the person says yes, and not when the person says no', async () => {
  const { session, record, dir } = await openScripted();
  const allowed = session.prompt([{ text: '[[run: echo x > allowed; echo told]]' }]);
  const first = await record.asked();
  first.answer('yes');
  expect(await allowed).toEqual({ type: 'answered' });
  const denied = session.prompt([{ text: '[[run: echo x > denied]]' }]);
  (await record.asked()).answer('no');
  expect(await denied).toEqual({ type: 'answered' });

  expect(first.request).toEqual({
    tool: {
      id: 'call_1',
      title: 'echo x > allowed; echo told',
      kind: 'execute',
      state: 'waiting',
      input: { command: 'echo x > allowed; echo told' },
    },
    options: [
      { id: 'yes', name: 'Yes, once', kind: 'allowOnce' },
      { id: 'always', name: 'Yes, and do not ask again', kind: 'allowAlways' },
      { id: 'no', name: 'No', kind: 'denyOnce' },
    ],
  });
  expect(await readFile(join(dir, 'allowed'), 'utf8')).toBe('x\n');
  await expect(readFile(join(dir, 'denied'))).rejects.toThrow('ENOENT');
  const done = await record.seen('tool', ({ tool }) => tool.state === 'done');
  expect(done.tool).toEqual({ id: 'call_1', state: 'done', output: 'told\n' });
});

it('an option that the agent did not offer is never answered', async () => {
  const { session, record, dir } = await openScripted();
  const prompt = session.prompt([{ text: '[[run: echo x > made]]' }]);
  (await record.asked()).answer('invented');
  expect(await prompt).toEqual({ type: 'cancelled' });
  await expect(readFile(join(dir, 'made'))).rejects.toThrow('ENOENT');
});

it('a change of a file shows its diff in the request', async () => {
  const { session, record } = await openScripted({ style: 'claude' });
  const prompt = session.prompt([{ text: '[[edit: /p/a.txt]]' }]);
  const { request, answer } = await record.asked();
  answer('yes');
  await prompt;
  expect(request.tool).toMatchObject({
    title: 'Edit /p/a.txt',
    kind: 'edit',
    diffs: [{ path: '/p/a.txt', before: 'one\n', after: 'two\n' }],
    files: ['/p/a.txt'],
  });
});

it('a question of the agent is a form, and its answer goes back by the names of the fields', async () => {
  const { session, record } = await openScripted({ style: 'claude' });
  const prompt = session.prompt([{ text: '[[choose: Which colour? | Red | Blue]]' }]);
  const { question, answer } = await record.questioned();
  answer({ answers: { colour: 'Blue', colour_custom: 'navy', other: 'x' } });
  await prompt;

  expect(question).toEqual({
    text: 'Which colour?',
    fields: [
      {
        name: 'colour',
        title: 'Which colour?',
        required: true,
        choices: [
          { value: 'Red', title: 'Red' },
          { value: 'Blue', title: 'Blue' },
        ],
      },
      { name: 'colour_custom', title: 'Other', required: false },
    ],
  });
  expect(record.text()).toBe('Answer: {"action":"accept","content":{"colour":"Blue","colour_custom":"navy"}}');
});

it('a cancel in a tool ends the prompt and the tool, and the next prompt is answered', async () => {
  const { session, record, dir } = await openScripted({ style: 'claude' });
  const prompt = session.prompt([{ text: `[[run: echo x > started; sleep 300; echo x > survived]]` }]);
  (await record.asked()).answer('yes');
  await record.seen('tool', ({ tool }) => tool.state === 'running');
  await session.cancel();

  expect(await prompt).toEqual({ type: 'cancelled' });
  expect(record.events.at(-1)).toMatchObject({ type: 'tool', tool: { state: 'failed' } });
  expect(await session.prompt([{ text: '[[say: after]]' }])).toEqual({ type: 'answered' });
  await expect(readFile(join(dir, 'survived'))).rejects.toThrow('ENOENT');
});

it('a second prompt is refused while one runs, and never reaches the agent', async () => {
  const { session, record, release } = await openScripted();
  const first = session.prompt([{ text: '[[say: one]] [[wait: go]] [[echo]]' }]);
  await record.seen('inserted');
  await expect(session.prompt([{ text: '[[say: two]]' }])).rejects.toMatchObject({ code: 'turn_running' });
  await release('go');
  expect(await first).toEqual({ type: 'answered' });
  expect(record.text()).not.toContain('two');
});

it.each(['claude', 'codex'] as const)(
  '%s takes a text into the running prompt, and says when none runs',
  async (style) => {
    const { session, record, process } = await openScripted({ style });
    expect(process.can.steer).toBe(true);
    expect(await session.steer('too early')).toBe('idle');
    const prompt = session.prompt([{ text: '[[say: go on. ]] [[steered]]' }]);
    await record.seen('inserted');
    expect(await session.steer('use tabs')).toBe('injected');
    expect(await prompt).toEqual({ type: 'answered' });
    expect(record.text()).toBe('go on. \n\nSteered: use tabs');
  },
);

it('images and files go with the text', async () => {
  const { session, record } = await openScripted();
  const image = new Uint8Array([137, 80, 78, 71]);
  await session.prompt([{ text: 'see [[echo]]' }, { image, mimeType: 'image/png' }, { file: '/p/a b.txt' }]);
  expect(record.text()).toContain('(1 images)');
});

it.each(['gemini', 'claude', 'codex'] as const)(
  '%s starts in the mode in which a person is asked, and modes and models change',
  async (style) => {
    const { session, dir, start } = await openScripted({ style });
    const asking = { gemini: 'default', claude: 'default', codex: 'workspace-write' }[style];
    const all = { gemini: 'yolo', claude: 'bypassPermissions', codex: 'agent-full-access' }[style];
    expect(session.modes.current).toBe(asking);
    await session.setMode(all);
    await session.setModel('large');
    expect([session.modes.current, session.models.current]).toEqual([all, 'large']);
    await expect(session.setMode('nonsense')).rejects.toMatchObject({ code: 'not_found' });
    await expect(session.setModel('nonsense')).rejects.toMatchObject({ code: 'not_found' });

    // What an earlier owner of the session allowed is not allowed for the next.
    const again = await (await start()).open({ cwd: dir, resume: session.id }, recorder());
    expect([again.modes.current, again.models.current]).toEqual([asking, 'large']);
  },
);

it('a change of mode by the agent itself is told', async () => {
  const { session, record } = await openScripted({ style: 'claude' });
  await session.prompt([{ text: '[[mode: plan]] [[plan: look|write]] [[usage: 7 100]] [[title: Work]]' }]);
  expect(session.modes.current).toBe('plan');
  expect(record.events).toEqual([
    { type: 'mode', id: 'plan' },
    { type: 'inserted' },
    {
      type: 'plan',
      entries: [
        { text: 'look', done: true },
        { text: 'write', done: false },
      ],
    },
    { type: 'usage', used: 7, size: 100, cost: '0.5000 USD' },
    { type: 'title', title: 'Work' },
  ]);
});

it('a sub-agent is a tool, and what it does are tools too', async () => {
  const { session, record } = await openScripted({ style: 'claude' });
  await session.prompt([{ text: '[[subagent: Find the bug]] [[say: found]]' }]);
  const tools = record.events.flatMap((event) => (event.type === 'tool' ? [event.tool] : []));
  expect(tools.map(({ title, state, name }) => ({ title, state, name }))).toEqual([
    { title: 'Find the bug', state: 'running', name: 'Task' },
    { title: 'Read a file', state: 'done', name: undefined },
    { title: undefined, state: 'done', name: undefined },
  ]);
});

it('kill -9 of the agent ends the prompt as died, and a new process opens the session again', async () => {
  const { session, process, start, dir } = await openScripted();
  const end = await session.prompt([{ text: 'remember me [[say: yes]] [[die: 9]]' }]);
  expect(end).toMatchObject({ type: 'failed', died: true, error: expect.stringContaining('SIGKILL') });
  expect(await process.ended).toMatchObject({ signal: 'SIGKILL', lastWords: 'fatal: out of luck' });

  const record = recorder();
  const again = await (await start()).open({ cwd: dir, resume: session.id }, record);
  expect(again.id).toBe(session.id);
  expect(await again.prompt([{ text: '[[say: back]]' }])).toEqual({ type: 'answered' });
  expect(record.text()).toBe('back');
});

it('sessions are listed newest first', async () => {
  const { session, process, dir } = await openScripted({ style: 'claude' });
  await session.prompt([{ text: 'first' }]);
  const second = await process.open({ cwd: dir }, recorder());
  await second.prompt([{ text: 'second' }]);
  const listed = await process.list(dir);
  expect(listed?.map(({ id, title }) => ({ id, title }))).toEqual([
    { id: second.id, title: 'second' },
    { id: session.id, title: 'first' },
  ]);
  expect(await process.list('/elsewhere')).toEqual([]);
});

it('two sessions of one process do not hear each other', async () => {
  const { session, process, record, dir } = await openScripted();
  const other = recorder();
  const second = await process.open({ cwd: dir }, other);
  await Promise.all([session.prompt([{ text: '[[say: mine]]' }]), second.prompt([{ text: '[[say: yours]]' }])]);
  expect([record.text(), other.text()]).toEqual(['mine', 'yours']);
});

it('the end of a session that is asked for is no failure', async () => {
  const { session, process } = await openScripted({ limits: { graceMs: 30_000 } });
  await session.prompt([{ text: '[[stop: max_tokens]]' }]);
  await session.close();
  await process.close();
  expect(await process.ended).toMatchObject({ code: 0 });
});

it('a session that does not exist is named', async () => {
  for (const style of ['gemini', 'claude'] as const) {
    const agent = await scripted({ style });
    const id = crypto.randomUUID();
    const opening = (await agent.start()).open({ cwd: agent.dir, resume: id }, recorder());
    await expect(opening).rejects.toMatchObject({ code: 'not_found', message: expect.stringContaining(id) });
  }
});

it.each(['gemini', 'claude', 'codex'] as const)(
  '%s: the tokens of a prompt are told once, before its end',
  async (style) => {
    const { session, record } = await openScripted({ style });
    expect(await session.prompt([{ text: '[[say: counted]] [[took: 30 12]]' }])).toEqual({ type: 'answered' });
    expect(record.events.filter(({ type }) => type === 'tokens')).toEqual([{ type: 'tokens', tokens: 42 }]);
    await session.prompt([{ text: '[[say: not counted]]' }]);
    expect(record.events.filter(({ type }) => type === 'tokens')).toHaveLength(1);
  },
);

it.each(['claude', 'codex'] as const)(
  '%s: a request that names its tool by the id alone has all that was said of it',
  async (style) => {
    const { session, record } = await openScripted({ style });
    const prompt = session.prompt([{ text: '[[run: true]] [[edit: a.txt]]' }]);
    const command = await record.asked();
    expect(command.request.tool).toMatchObject({ kind: 'execute', state: 'waiting', input: { command: 'true' } });
    command.answer('yes');
    const edit = await record.asked();
    expect(edit.request.tool).toMatchObject({
      kind: 'edit',
      diffs: [{ path: 'a.txt', before: 'one\n', after: 'two\n' }],
    });
    edit.answer('yes');
    await prompt;
  },
);

it('two messages of the model without a tool between them are two paragraphs of the answer', async () => {
  const { session, record } = await openScripted({ style: 'codex' });
  await session.prompt([{ text: '[[say: First.]] [[say: Second.]] [[tool: look]] [[say: Third.]]' }]);
  expect(record.text()).toBe('First.\n\nSecond.Third.');
});
