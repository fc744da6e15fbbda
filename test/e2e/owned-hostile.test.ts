// Sessions of agents that say nothing or do not end, and orders that come at once: none may hold up the phone or the daemon.

import { beforeEach, it } from 'vitest';
import { loadConfig } from '../../agent/config.ts';
import { askDaemon } from '../../agent/local-client.ts';
import { isoSeconds } from '../../protocol/files.ts';
import { textsIn } from '../../protocol/texts.ts';
import { scriptedCommand } from '../helpers/acp/scripted.ts';
import { createWorkstation, until, type Workstation } from '../helpers/daemon.ts';
import { phoneOf } from '../helpers/phone.ts';
import { eachTest } from '../helpers/scene.ts';
import type { FarSide } from '../helpers/stack.ts';
import { temporaryFolder } from '../helpers/surroundings.ts';

let far: FarSide;
let ws: Workstation;
eachTest((scene) => {
  far = scene.far;
});
const { phone, told, ladder } = phoneOf(() => ws.chat);

beforeEach(async () => {
  const dir = await temporaryFolder();
  ws = await createWorkstation(far, far.nextChat(), {
    agents: {
      silent: scriptedCommand(dir, { faults: ['none'], env: { ACP_NO_ANSWER: 'initialize' } }),
      mute: scriptedCommand(dir, { faults: ['none'], env: { ACP_NO_ANSWER: 'session/new' } }),
      claude: scriptedCommand(dir, { style: 'claude', faults: ['none'] }),
      gemini: scriptedCommand(dir, { style: 'gemini', faults: ['none'] }),
    },
  });
  return () => ws.close();
});

it.each(['silent', 'mute'])(
  'an agent that is %s gives way to the next order, and to the end of the daemon',
  async (agent) => {
    const daemon = await ws.start();
    await ws.chat.say(`/new ${agent}`);
    const starts = new RegExp(`^A new session of ${agent} starts`);
    await told(starts);
    await ws.chat.say('/new claude [[say: Hello there.]]');
    await told(/^Hello there\.$/);
    await ws.chat.say(`/new ${agent}`);
    await until('the second is told', () => phone().filter((text) => starts.test(text)).length === 2);
    await daemon.stop();
  },
);

it('of two orders at once one has the messages, and can be ended', async () => {
  await ws.start();
  const { dirs } = loadConfig({ env: ws.env, platform: process.platform, home: ws.root });
  const run = (agent: string) => askDaemon(dirs, 'POST', '/run', { agent, cwd: ws.project }, { holdMs: 30_000 });
  await Promise.all([run('claude'), run('gemini')]);
  await told(/ is ready \(session /);
  await ws.chat.say('[[say: One answer.]]');
  await told(/^One answer\.$/);
  await ws.chat.say('/end');
  await until('it is ended', () => phone().includes(textsIn('en').owned.sessions.endedNow));
});

it('a STOP that another program writes ends the running prompt', async () => {
  await ws.start();
  await ws.chat.say('/new claude');
  await told(/ is ready \(session /);
  await ws.chat.say('[[think: hm]][[wait: never]]');
  await ladder('injected');
  const at = isoSeconds(Date.now());
  const stop = { id: 'other_stop', timestamp: at, from: 'user', text: 'stop', read: false, control: 'stop' };
  await ws.foreignWrite(ws.inboxFile, { messages: [...(await ws.inbox()), stop] });
  await until('the stop is obeyed', async () => (await ws.inbox()).some(({ id, read }) => id === 'other_stop' && read));
  await ws.chat.say('[[say: Again here.]]');
  await told(/^Again here\.$/);
});
