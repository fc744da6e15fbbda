// A tap and a STOP are answered before the files are brought up to date, so that a slow writer of the inbox file holds up neither.

import { afterEach, expect, it } from 'vitest';
import { eachGate } from '../helpers/approvals.ts';
import { until, type Workstation } from '../helpers/daemon.ts';
import { holdLock, type Locked } from '../helpers/locked.ts';
import type { Scene } from '../helpers/scene.ts';

let ws: Workstation;
let arrives: Scene['arrives'];
let locked: Locked | undefined;
const { shell, question, shows, tap, switchOn } = eachGate((scene) => {
  ({ ws, arrives } = scene);
});
afterEach(async () => {
  await locked?.release();
  locked = undefined;
});

const gaveUp = () => ws.log.some(({ event }) => event === 'inbox not written');

it.each<[string, () => Promise<unknown>, object, string]>([
  ['a tap on Approve', async () => tap(await question('npm publish'), 'Approve'), {}, '✅ Approved.'],
  ['a STOP', () => ws.chat.say('STOP'), { decision: 'deny' }, '⛔ Denied by your STOP.'],
])('%s answers the gate while another process holds the lock of the inbox file', async (_, decide, verdict, told) => {
  await ws.start();
  await switchOn();
  await arrives('first');
  const answer = shell('npm publish');
  await question('npm publish');
  locked = await holdLock(ws.inboxFile);
  // Its place in the file is what the daemon waits for from now on.
  await ws.chat.say('second');
  await until('the journal has it', async () => (await ws.chat.ladder()).delivered === 2);
  await decide();
  expect(await answer).toMatchObject(verdict);
  await shows(told);
  expect([gaveUp(), locked.isHeld()]).toEqual([false, true]);
  await until('the daemon gives the file up for now', gaveUp);
  await locked.release();
  await until('the file shows it', async () => (await ws.inbox()).some(({ text }) => text === 'second'));
});

it('the words for a STOP are on the phone, and the next message in the journal, while the lock is held', async () => {
  await ws.start();
  await arrives('first');
  locked = await holdLock(ws.inboxFile);
  await ws.chat.say('STOP');
  await shows('Nothing to stop: no turn is running.');
  await ws.chat.say('second');
  await until('the journal has it', async () => (await ws.chat.ladder()).delivered === 2);
  expect([gaveUp(), locked.isHeld()]).toEqual([false, true]);
});
