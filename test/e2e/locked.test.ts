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

/** The file waits for its lock as long as a test lasts, so that nothing can come after it. */
const forever = { inboxLockMs: 600_000 };
const isInJournal = (count: number) =>
  until('the journal has it', async () => (await ws.chat.ladder()).delivered === count);
const inFile = async (text: string) => (await ws.inbox()).some((entry) => entry.text === text);

it.each<[string, () => Promise<unknown>, object, string]>([
  ['a tap on Approve', async () => tap(await question('npm publish'), 'Approve'), {}, '✅ Approved.'],
  ['a STOP', () => ws.chat.say('STOP'), { decision: 'deny' }, '⛔ Denied by your STOP.'],
])('%s answers the gate while another process holds the lock of the inbox file', async (_, decide, verdict, told) => {
  await ws.start(forever);
  await switchOn();
  await arrives('first');
  locked = await holdLock(ws.inboxFile);
  // Its place in the file is what the daemon waits for from now on.
  await ws.chat.say('second');
  await isInJournal(2);
  const answer = shell('npm publish');
  await question('npm publish');
  await decide();
  expect(await answer).toMatchObject(verdict);
  await shows(told);
  expect([await inFile('second'), locked.isHeld()]).toEqual([false, true]);
  await locked.release();
  await until('the file shows it', () => inFile('second'));
});

it('the words for a STOP, /later and /continue are on the phone while the lock is held, and the file shows it all later', async () => {
  await ws.start(forever);
  await arrives('first');
  locked = await holdLock(ws.inboxFile);
  await ws.chat.say('STOP');
  await shows('Nothing to stop: no turn is running.');
  await ws.chat.say('/continue');
  await shows('1 message released');
  await ws.chat.say('/later Paint it blue');
  await shows('Kept for the next turn.');
  expect([await inFile('Paint it blue'), locked.isHeld()]).toEqual([false, true]);
  await locked.release();
  await until('the file shows it', () => inFile('Paint it blue'));
});
