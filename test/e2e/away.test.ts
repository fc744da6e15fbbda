// The relay speaks for a workstation that does not: in real workerd, with a real daemon that goes and comes back.

import { expect, it } from 'vitest';
import { relayLimits } from '../../protocol/limits.ts';
import { until, type Workstation } from '../helpers/daemon.ts';
import { eachTest } from '../helpers/scene.ts';
import type { FarSide } from '../helpers/stack.ts';

let far: FarSide;
let ws: Workstation;
eachTest(
  (scene) => {
    ({ far, ws } = scene);
  },
  { chats: 1 },
);

/** Of the relay itself, without the hour, and without the day that stands before another day's hour; the time zone is the daemon's. */
const told = () =>
  ws.chat.fromBot().map(({ text }) => text.replace(/(?:\d{4}-\d\d-\d\d )?\d\d:\d\d(?: UTC)?/g, '00:00'));

it('ninety seconds without a poll while a message waits are told once, and so is the return', async () => {
  const daemon = await ws.start();
  await ws.chat.say('before');
  await until('it is delivered', async () => (await ws.chat.ladder()).delivered === 1);
  await daemon.stop();
  await ws.chat.say('hello?');
  // A relay that was restarted knows only until when the last poll might have been held.
  await far.pass(relayLimits.holdMs + relayLimits.offlineAfterMs);
  await until('the phone is told', () => told().length > 0);
  await ws.chat.say('still there?');
  await far.pass(600_000);
  await ws.start();
  await until('the phone is told that it is back', () => told().length > 1);
  await until('both stand in the inbox', async () => (await ws.inbox()).length === 3);
  expect(told()).toEqual([
    expect.stringMatching(
      /^Workstation last seen 00:00 \((?:\d+ s|2 min) ago\)\. 1 message waits; it expires at .*, in 24 h\.$/,
    ),
    'The workstation is back: 2 messages delivered.',
  ]);
  expect((await ws.inbox()).map(({ text }) => text)).toEqual(['before', 'hello?', 'still there?']);
});
