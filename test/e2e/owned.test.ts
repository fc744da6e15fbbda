// A session that the daemon runs itself, from the phone through daemon and a scripted ACP agent, and back.

import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scriptedCommand } from '../helpers/acp/scripted.ts';
import { createWorkstation, until, type Workstation } from '../helpers/daemon.ts';
import { phoneOf } from '../helpers/phone.ts';
import { eachTest } from '../helpers/scene.ts';
import type { FarSide } from '../helpers/stack.ts';

let far: FarSide;
let ws: Workstation;
eachTest((scene) => {
  far = scene.far;
});

const { phone, told, ladder } = phoneOf(() => ws.chat);
const say = (text: string) => ws.chat.say(text);
const count = (text: string) => phone().filter((each) => each === text).length;

beforeEach(async () => {
  const chat = far.nextChat();
  const dir = join('/tmp', `wa-owned-${process.pid}-${chat.mailbox}`);
  ws = await createWorkstation(far, chat, {
    agents: {
      gem: scriptedCommand(dir, { style: 'gemini', faults: ['none'] }),
      clau: scriptedCommand(dir, { style: 'claude', faults: ['none'] }),
      cod: scriptedCommand(dir, { style: 'codex', faults: ['none'] }),
    },
  });
});
afterEach(async (context) => {
  if (context.task.result?.state === 'fail') console.log(phone(), JSON.stringify(ws.log.slice(-30), null, 1));
  await ws.close();
});

describe('a new session', () => {
  it('gets the text behind /new as its first prompt, and each message one answer', async () => {
    await ws.start();
    const first = await say('/new clau [[say: Hello there.]]');
    await told(/^A new session of clau starts/);
    await told(/^Hello there\.$/);
    expect(ws.chat.fromBot().find(({ text }) => text === 'Hello there.')?.replyTo).toBe(first);
    await say('[[say: Second answer.]]');
    await told(/^Second answer\.$/);
    await ladder('answered', 2);
    expect([count('Hello there.'), count('Second answer.')]).toEqual([1, 1]);
  });
});
