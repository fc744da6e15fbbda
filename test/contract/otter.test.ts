// Otter, a coding agent that no part of the product names, end to end: its hooks on the daemon's socket, its owner on the phone.

import { appendFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { addFootprint } from '../../agent/drivers/footprints.ts';
import { addDriver } from '../../agent/drivers/registry.ts';
import { hookHeaders } from '../../protocol/hook.ts';
import { until, type Workstation } from '../helpers/daemon.ts';
import { eachTest } from '../helpers/scene.ts';
import type { FarSide } from '../helpers/stack.ts';
import { otter } from './otter/driver.ts';
import { footprint } from './otter/footprint.ts';

const undo = [addDriver(otter), addFootprint(footprint)];
afterAll(() => {
  for (const step of undo) step();
});

let far: FarSide;
let ws: Workstation;
let log: string;
let count = 0;
eachTest(async (scene) => {
  ({ far, ws } = scene);
  log = join(ws.root, 'otter.log');
  await writeFile(log, '');
});

/** As the host runs it; the answer may take as long as a person. */
function hook(event: string, fields: object = {}): Promise<Record<string, unknown>> {
  count += 1;
  const body = JSON.stringify({ who: 's1', where: ws.project, log, count, ...fields });
  const headers = {
    [hookHeaders.parentPid]: process.pid,
    [hookHeaders.maxSeconds]: 86_400,
    [hookHeaders.slowness]: 10,
  };
  const socketPath = join(ws.runtimeDir, 'hook.sock');
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, method: 'POST', path: `/hook/otter/${event}`, headers }, async (response) => {
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) text += chunk;
      resolve(JSON.parse(text) as Record<string, unknown>);
    });
    call.on('error', reject);
    call.end(body);
  });
}

const writes = (line: object) => appendFile(log, `${JSON.stringify(line)}\n`);
const shows = (text: string) =>
  until(`the phone shows ${text}`, () => ws.chat.fromBot().find((each) => each.text.includes(text)));
const wants = (line: string) => hook('wants', { call: { does: 'run', with: { line } } });

it('gets messages, asks at its gate, obeys a STOP, and waits at the end of its turn for the phone', async () => {
  await ws.start({ interactive: true });
  await hook('opens');
  await ws.chat.say('please look at the login');
  await until('the message is in the file', async () => (await ws.inbox()).length === 1);

  const begun = await hook('begins', { ask: 'go' });
  expect(begun.also).toContain('please look at the login');
  await writes({ person: `go ${begun.also}` });

  await ws.chat.say('/approvals all');
  await shows('Approvals: all.');
  const asked = wants('npm test');
  const question = await shows('Run a command?');
  expect(question.text).toContain('npm test');
  await far.sim.press(question.messageId, 'Approve', ws.chat.id);
  expect(await asked).toEqual({});

  const own = wants('echo x > .otter/gates.json');
  const second = await shows('.otter/gates.json');
  expect(second.text).toContain('belongs to the guard itself');
  await far.sim.press(second.messageId, 'Deny', ws.chat.id);
  expect((await own).no).toContain('denied');
  await ws.chat.say('/approvals off');
  await shows('Approvals are off');

  await ws.chat.say('/stop');
  await shows('Stop requested');
  expect((await hook('did', { call: { does: 'run', with: { line: 'npm test' }, gave: 'ok' } })).also).toContain('STOP');
  await writes({ agent: 'I have stopped.', id: 'm1', used: 5 });
  await hook('rests', { said: 'I have stopped.' });
  await shows('I have stopped.');

  await hook('begins', { ask: 'and now?' });
  await ws.chat.say('/away');
  await shows('Away is on');
  await writes({ person: 'and now?' });
  await writes({ agent: 'Nothing to do.', id: 'm2', used: 5 });
  const held = hook('rests', { said: 'Nothing to do.' });
  await shows('Nothing to do.');
  await ws.chat.say('then write the changelog');
  expect((await held).onward).toContain('then write the changelog');
});
