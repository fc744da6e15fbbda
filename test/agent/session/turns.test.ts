// What becomes of the messages of a turn, and what the phone reads at its end, also while the disk is full.

import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eachTurns, id, now, p } from './turns-world.ts';

const { world, reports, appends, told, happens, message, texts } = eachTurns();

it('an answer that comes while the disk is full is reported at once, and its message settled when there is room, under the same id', async () => {
  const { context = '' } = await happens({ type: 'turnStart', prompt: 'go on' });
  await happens({ type: 'modelRequest', texts: [context] });
  // Answered before its work is done.
  while (message()?.phase !== 'injected') await new Promise((resolve) => setImmediate(resolve));
  world.diskIsFull = true;
  const end = { type: 'turnEnd', answer: 'Done.', run: 'the first' } as const;
  expect(await happens(end)).toEqual({});
  expect(reports).toMatchObject([{ text: 'Done.', failed: false, replyTo: id }]);
  expect(message()?.ended).toBeUndefined();

  world.diskIsFull = false;
  // Told again, and dropped by its id.
  await happens(end);
  expect(message()?.ended).toBe('answered');
  expect(reports[1]?.id).toBe(reports[0]?.id);
  await happens({ type: 'turnStart', prompt: 'go on' });
  await happens({ type: 'turnEnd', answer: 'And the next.', run: 'the second' });
  expect(new Set(reports.map(({ id: of }) => of)).size).toBe(2);
  expect(reports.at(-1)?.text).toBe('And the next.');
});

it('a message is answered in the append of the journal that has the answer, and in no other', async () => {
  const { context = '' } = await happens({ type: 'turnStart', prompt: 'go on' });
  await happens({ type: 'modelRequest', texts: [context] });
  await happens({ type: 'turnEnd', answer: 'Done.', run: '1' });
  expect(message()?.ended).toBe('answered');
  expect(reports).toMatchObject([{ text: 'Done.', receipts: [{ t: 'ended', state: 'answered', ids: [id] }] }]);
  expect(appends.filter((kinds) => kinds.includes('ended'))).toEqual([['report', 'ended']]);
});

it('a further turn that begins and ends while the disk is full is reported as well, each under its own id', async () => {
  await happens({ type: 'turnStart', prompt: 'go on' });
  world.diskIsFull = true;
  expect(await happens({ type: 'turnEnd', answer: 'One.', run: '1' })).toEqual({});
  for (const run of ['2', '3']) {
    await expect(happens({ type: 'turnStart', prompt: 'go on' })).rejects.toThrow('no space left');
    expect(await happens({ type: 'turnEnd', answer: `Answer ${run}.`, run })).toEqual({});
  }
  const ids = reports.filter(({ failed }) => !failed).map(({ id: of }) => of);
  expect(texts()).toEqual(expect.arrayContaining(['One.', 'Answer 2.', 'Answer 3.']));
  expect(new Set(ids).size).toBe(3);
});

it('a message is given only where the file says so, because a hook without the daemon reads no journal', async () => {
  world.fileIsFull = true;
  expect(await happens({ type: 'turnStart', prompt: 'go on' })).toEqual({});
  expect(message()).toMatchObject({ phase: 'waiting', attempt: 0 });
  world.fileIsFull = false;
  expect((await happens({ type: 'turnStart', prompt: 'go on' })).context).toContain(']\ngo\n[');
});

it('a turn that the host calls failed is told with the error of the host, never with the text that came along', async () => {
  const { context = '' } = await happens({ type: 'turnStart', prompt: 'go on' });
  await happens({ type: 'modelRequest', texts: [context] });
  await happens({ type: 'turnEnd', answer: 'API Error: 529', error: 'Overloaded.', run: '1', last: true });
  expect(reports).toMatchObject([{ text: 'Overloaded.', failed: true, replyTo: id }]);
  expect(message()?.ended).toBe('failed');
});

it('a message that waits at an end from which the host takes no prompt stays unread, and the terminal is not held', async () => {
  world.isTerminal = true;
  await happens({ type: 'turnStart', prompt: 'go on' });
  const row = { seq: 2, id: 'msg_e_0_2', at: now, kind: 'message', text: 'two', expiresAt: now + 1e9 } as const;
  await world.journal.append([{ t: 'row', p, at: now, row }]);
  await world.turns.steering.away('on');
  const end = { type: 'turnEnd', answer: undefined, cancelled: true, run: '1', last: true } as const;
  expect(await happens(end)).toEqual({});
  expect([world.turns.status().held, world.journal.project(p).messages.get('msg_e_0_2')?.phase]).toEqual([
    false,
    'waiting',
  ]);
  expect(texts()).toEqual(['Cancelled at the keyboard.']);
});

it('an edit that is journalled while the old text is on its way follows as a correction', async () => {
  const edit = { seq: 2, id: 'msg_e_0_2', at: now, kind: 'edit', editOf: id, text: 'rather stop' } as const;
  world.beforeAppend = async () => {
    world.beforeAppend = undefined;
    await world.journal.append([{ t: 'row', p, at: now, row: edit }]);
  };
  const { context } = await happens({ type: 'turnStart', prompt: 'go on' });
  expect(context).toContain(']\ngo\n[');
  expect(message()).toMatchObject({ phase: 'handed', row: { text: 'go' } });
  expect((await happens({ type: 'turnStart', prompt: 'again' })).context).toContain('rather stop');
});

it('a prompt that the host writes into its session file and never starts gives its message back, and the phone reads that', async () => {
  const transcript = join(world.root, 'session.jsonl');
  const second = 'msg_e_0_2';
  await writeFile(transcript, '');
  const { context = '' } = await happens({ type: 'turnStart', prompt: 'go on' }, transcript);
  await happens({ type: 'modelRequest', texts: [context] }, transcript);
  const row = { seq: 2, id: second, at: now, kind: 'message', text: 'and this', expiresAt: now + 1e9 } as const;
  await world.journal.append([{ t: 'row', p, at: now, row }]);
  await writeFile(transcript, `${JSON.stringify({ id: 'g', type: 'gemini', content: 'Done.' })}\n`);
  const { next = '' } = await happens({ type: 'turnEnd', answer: 'Done.' }, transcript);
  expect(next).toContain('and this');
  await appendFile(transcript, `${JSON.stringify({ id: 'u', type: 'user', content: next })}\n`);
  world.time += 91_000;
  await world.turns.checkProcess();
  expect(world.journal.project(p).messages.get(second)).toMatchObject({ phase: 'waiting', attempt: 1 });
  expect([texts(), told]).toEqual([['Done.'], [expect.stringContaining('Your message did not reach the agent')]]);
});

it('a message that was given before a STOP and never reached the model waits for the owner, as what had not been given', async () => {
  const { context } = await happens({ type: 'turnStart', prompt: 'go on' });
  expect(context).toContain('\ngo\n');
  const { text, spent } = await world.turns.steering.stop({ id: 'stop', seq: 2, type: 'stop' });
  expect([text.includes('parked'), spent]).toEqual([false, false]);
  await happens({ type: 'turnEnd', answer: undefined });
  expect(message()).toMatchObject({ phase: 'waiting', attempt: 1, parked: 'parked' });
  expect(told).toContainEqual(
    expect.stringContaining('1 message did not reach the agent before the STOP and is parked'),
  );
  expect((await happens({ type: 'turnStart', prompt: 'something else' })).context).toBeUndefined();
  expect(await world.turns.steering.unpark()).toContain('1 message');
  expect((await happens({ type: 'turnStart', prompt: 'and now' })).context).toContain('\ngo\n');
});

it('a STOP of another program at an idle agent parks what waits, and the phone reads how to release it', async () => {
  world.foreignStop = { id: 'stop_x', type: 'stop', text: '', fromOwner: false };
  await world.turns.steering.looked();
  expect(message()).toMatchObject({ phase: 'waiting', parked: 'parked' });
  expect(told).toEqual([
    expect.stringMatching(/^Another program wrote a STOP .* 1 message from before it is parked: /),
  ]);
});

it('a message is not proved by another one of its turn whose id begins with its own', async () => {
  await happens({ type: 'turnStart', prompt: 'go on' });
  const second = 'msg_e_0_1z';
  const row = { seq: 71, id: second, at: now, kind: 'message', text: 'and this', expiresAt: now + 1e9 } as const;
  await world.journal.append([{ t: 'row', p, at: now, row }]);
  const { context = '' } = await happens({ type: 'toolEnd', tool: 'x', input: {} });
  await happens({ type: 'modelRequest', texts: [context] });
  await happens({ type: 'turnEnd', answer: 'Done.' });
  expect(message()).toMatchObject({ phase: 'waiting', attempt: 1 });
  expect(world.journal.project(p).messages.get(second)).toMatchObject({ ended: 'answered' });
});

it('the phone reads how full the context window is, as it was measured', async () => {
  const transcript = join(world.root, 'session.jsonl');
  const line = (type: string, content: string, input?: number) =>
    `${JSON.stringify({ id: type, type, content, ...(input === undefined ? {} : { tokens: { input } }) })}\n`;
  await writeFile(transcript, '');
  await world.turns.steering.sprint('s', '5');
  await happens({ type: 'turnStart', prompt: 'go on' }, transcript);
  await writeFile(transcript, line('user', 'go on') + line('gemini', 'Done.', 0.865 * 1_048_576));
  await happens({ type: 'turnEnd', answer: 'Done.' }, transcript);
  expect(told).toContain('The context window of the agent is 86 % full.');
});
