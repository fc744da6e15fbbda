import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { createDayUsage } from '../../../agent/daemon/day-usage.ts';
import type { TurnEvent } from '../../../protocol/turn-events.ts';
import { type TestClock, temporaryFolder, testClock } from '../../helpers/surroundings.ts';

let dir: string;
let path: string;
let transcript: string;
let clock: TestClock;
beforeEach(async () => {
  dir = await temporaryFolder();
  path = join(dir, 'usage', '1000001.0.json');
  transcript = join(dir, 'session.jsonl');
  clock = testClock(new Date(2026, 1, 15, 15, 0).getTime());
});

const open = () => createDayUsage(path, { clock: clock.now, log: () => {} });
const call = (type: TurnEvent['type'], session = 'session-one') => ({
  agent: 'gemini',
  session,
  transcript,
  cwd: dir,
  event: { type, source: '', prompt: '', answer: '' } as TurnEvent,
});
const line = (id: string, total: number, input = 0) =>
  `${JSON.stringify({ id, type: 'gemini', content: 'x', tokens: { total, input } })}\n`;

it('counts turns, and the tokens that the session file says, each message once and none of before', async () => {
  await writeFile(transcript, line('earlier', 1_000));
  const usage = await open();
  usage.note(call('turnStart'));
  // The count of what was there is taken before the turn goes on.
  await usage.stop();
  expect(usage.sessions()).toEqual([]);
  await appendFile(transcript, line('a', 10) + line('a', 30, 104_858));
  usage.note(call('turnEnd'));
  await usage.stop();
  await appendFile(transcript, line('a', 40) + line('b', 2));
  usage.note(call('turnEnd'));
  await usage.stop();
  const [only, ...others] = usage.sessions();
  expect(others).toEqual([]);
  expect(only).toMatchObject({ session: 'session-one', agent: 'gemini', turns: 2, tokens: 42 });
  expect(only?.context).toBeLessThan(0.11);
});

it('counts the tokens that the end of a turn tells, where there is no session file to read', async () => {
  const usage = await open();
  const end = { type: 'turnEnd', answer: 'done', tokens: 42 } as const;
  for (let turn = 0; turn < 2; turn += 1) usage.note({ ...call('turnEnd'), transcript: undefined, event: end });
  await usage.stop();
  expect(usage.sessions()).toEqual([{ session: 'session-one', agent: 'gemini', turns: 2, tokens: 84 }]);
});

it('goes on after a restart, with the session that ended a turn last first, and begins anew with the day', async () => {
  await writeFile(transcript, '');
  const first = await open();
  first.note(call('turnEnd', 'one'));
  first.note(call('turnEnd', 'two'));
  first.note(call('turnEnd', 'one'));
  await first.stop();
  const second = await open();
  expect(second.sessions().map(({ session, turns }) => [session, turns])).toEqual([
    ['one', 2],
    ['two', 1],
  ]);
  clock.advance(9 * 3_600_000 - 1);
  expect(second.sessions()).toHaveLength(2);
  clock.advance(1);
  expect(second.sessions()).toEqual([]);
});

it('counts turns alone where no session file can be read, and nothing of a file that another program wrote', async () => {
  const usage = await open();
  usage.note(call('turnEnd'));
  await usage.stop();
  expect(usage.sessions()).toEqual([{ session: 'session-one', agent: 'gemini', turns: 1 }]);
  expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ format: 1 });
  await writeFile(path, '{"format":1,"day":"2026-2-15","sessions":[{"session":7},null]}');
  expect((await open()).sessions()).toEqual([]);
});

it('remembers a bounded number of sessions', async () => {
  const usage = await open();
  for (let at = 0; at < 20; at += 1) usage.note(call('turnEnd', `s${at}`));
  await usage.stop();
  expect(usage.sessions().map(({ session }) => session)).toEqual([
    's19',
    's18',
    's17',
    's16',
    's15',
    's14',
    's13',
    's12',
  ]);
});
