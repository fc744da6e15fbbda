// Names that are no command, from the phone to the coding agent, on the real relay and the real files.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until, type Workstation } from '../helpers/daemon.ts';
import { type Phone, phoneOf } from '../helpers/phone.ts';
import { eachTest, type Scene } from '../helpers/scene.ts';
import type { FarSide } from '../helpers/stack.ts';

let ws: Workstation;
let far: FarSide;
let arrives: Scene['arrives'];
let phone: Phone;
eachTest((scene) => {
  ({ ws, far, arrives } = scene);
  phone = phoneOf(() => ws.chat);
});

const texts = async () => (await ws.inbox()).map((entry) => entry.text);
const asked = (match: RegExp) =>
  until(`the phone is asked ${match}`, () => ws.chat.fromBot().find(({ text }) => match.test(text)));
const tap = (messageId: number, label: string) => far.sim.press(messageId, label, ws.chat.id);
const isSpent = (messageId: number) =>
  until('the buttons are gone', () =>
    ws.chat.fromBot().some((message) => message.messageId === messageId && message.buttons.length === 0),
  );

describe('a /name of no workflow', () => {
  it('reaches the agent only when the owner says so, once, and the button goes', async () => {
    await ws.start();
    await ws.chat.say('/nosuch do it');
    const question = await asked(/^No workflow "nosuch"/);
    await arrives('and a plain text');
    expect(await texts()).toEqual(['and a plain text']);
    await phone.ladder('refused');
    await tap(question.messageId, 'Send as text');
    await until('the text stands in the inbox', async () => (await texts()).includes('/nosuch do it'));
    await isSpent(question.messageId);
    expect(await texts()).toEqual(['and a plain text', '/nosuch do it']);
  });

  it('near a command becomes the command by a tap', async () => {
    await ws.start();
    await ws.chat.say('/stpo');
    const question = await asked(/Did you mean \/stop\?$/);
    await tap(question.messageId, '/stop');
    await phone.told(/^Nothing to stop/);
    await isSpent(question.messageId);
    expect(await texts()).not.toContain('/stpo');
  });

  it('goes to the agent at once with two slashes, and as ever where the workflow exists', async () => {
    await mkdir(join(ws.project, '.agents', 'workflows'), { recursive: true });
    await writeFile(join(ws.project, '.agents', 'workflows', 'startup.md'), 'Read the docs.');
    await ws.start();
    await arrives('/startup now');
    await ws.chat.say('//stpo');
    await until('both stand in the inbox', async () => (await texts()).join() === '/startup now,/stpo');
    expect(phone.phone()).toEqual([]);
  });
});

it('the menu of the phone is set with the first message to the phone, once for the chat', async () => {
  await ws.start();
  const scope = { type: 'chat', chat_id: ws.chat.id };
  const menus = () =>
    far.sim.calls.filter(
      ({ method, params }) => method === 'setMyCommands' && JSON.stringify(params.scope) === JSON.stringify(scope),
    );
  const pings = async (count: number) => {
    await ws.chat.say('/ping');
    await until(
      `the relay answers ${count} times`,
      () => phone.phone().filter((text) => text === 'pong').length === count,
    );
  };
  await pings(1);
  await until('the menu is set', () => menus().length === 1);
  expect(menus()[0]?.answer.status).toBe(200);
  await arrives('a message');
  // One call follows the other: when this answer comes, the relay has noted that the phone has the menu.
  await pings(2);
  await far.killRelay();
  await far.startRelay();
  await arrives('and one after a restart of the relay');
  await pings(3);
  // The menu would come after the first answer.
  await pings(4);
  expect(menus()).toHaveLength(1);
});
