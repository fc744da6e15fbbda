// The line that wakes an idle Claude Code through its inbox socket, and everything that may stand in place of that socket.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { link, mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canNudge, isEmptyPrompt, nudge } from '../../../../agent/drivers/claude/nudge.ts';
import { nudgeLine } from '../../../../protocol/turn-events.ts';
import { temporaryFolder } from '../../../helpers/surroundings.ts';

let home: string;
let session: ChildProcess;
let servers: Server[];

beforeEach(async () => {
  home = await temporaryFolder();
  await mkdir(join(home, '.claude', 'sessions'), { recursive: true });
  servers = [];
  // Stands for the program: what counts is its id and its environment.
  session = spawn('sleep', ['600'], { env: { HOME: home, PATH: process.env.PATH }, stdio: 'ignore' });
  await once(session, 'spawn');
});
afterEach(async () => {
  session.kill('SIGKILL');
  for (const server of servers) server.close();
});

const pid = () => session.pid ?? 0;
const path = () => join(home, 's.sock');
const record = (fields: object = {}, folder = '.claude') =>
  writeFile(
    join(home, folder, 'sessions', `${pid()}.json`),
    JSON.stringify({ pid: pid(), status: 'idle', messagingSocketPath: path(), ...fields }),
  );
const noTyping = () => Promise.reject(new Error('types'));
const tried = async () => [await canNudge(pid()), await nudge(pid(), noTyping)];

/** Resolves with what the first connection wrote, once `on` was asked what to do with the connection. */
async function listen(on: (socket: Socket) => void = () => {}): Promise<{ said: Promise<string> }> {
  const server = createServer();
  servers.push(server);
  const said = once(server, 'connection').then(async ([socket]: Socket[]) => {
    if (!socket) return '';
    socket.on('error', () => {});
    on(socket);
    let text = '';
    for await (const chunk of socket.setEncoding('utf8')) text += chunk;
    return text;
  });
  said.catch(() => {});
  server.listen(path());
  await once(server, 'listening');
  return { said };
}

describe('the inbox socket', () => {
  it('of an idle session gets one line, which is that of wa-sync and never a text of the phone', async () => {
    await record();
    const { said } = await listen();
    expect(await tried()).toEqual([true, true]);
    expect(await said).toBe(`${JSON.stringify({ type: 'user', message: { role: 'user', content: nudgeLine } })}\n`);
  });

  it('is found in the settings folder of that very process', async () => {
    session.kill('SIGKILL');
    const folder = join(home, 'elsewhere');
    session = spawn('sleep', ['600'], { env: { HOME: home, CLAUDE_CONFIG_DIR: folder }, stdio: 'ignore' });
    await once(session, 'spawn');
    await mkdir(join(folder, 'sessions'), { recursive: true });
    await record({}, 'elsewhere');
    await listen();
    expect(await tried()).toEqual([true, true]);
  });

  it('of a session that works is known, and gets nothing now', async () => {
    await record({ status: 'busy' });
    await listen();
    expect(await tried()).toEqual([true, false]);
  });

  it('at which nobody listens any more takes nothing, and the message waits for another way', async () => {
    await record();
    await listen();
    const kept = join(home, 'kept.sock');
    // A server that closes removes its socket; one that was killed leaves it.
    await link(path(), kept);
    for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
    await rename(kept, path());
    expect(await tried()).toEqual([true, false]);
  });

  it('that sends without end, or hangs up at once, harms nobody', async () => {
    await record();
    await listen((socket) => {
      const flood = () => socket.writable && socket.write('x'.repeat(65_536), flood);
      flood();
    });
    expect(await nudge(pid(), noTyping)).toBe(true);
    for (const server of servers.splice(0)) server.close();
    await listen((socket) => socket.destroy());
    expect(await nudge(pid(), noTyping)).toEqual(expect.any(Boolean));
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a process that says nothing of itself', async () => {}],
    ['the record of another process', () => record({ pid: 1 })],
    ['a record without a socket', () => record({ messagingSocketPath: undefined })],
    ['a path that is no text', () => record({ messagingSocketPath: { toString: 'x' } })],
    ['a socket that is gone', () => record()],
    ['a file in place of the socket', () => Promise.all([record(), writeFile(path(), '')])],
    ['a folder in place of the socket', () => Promise.all([record(), mkdir(path())])],
    [
      'a link in place of the socket',
      async () => {
        await record();
        await listen();
        await rename(path(), join(home, 'other.sock'));
        await symlink(join(home, 'other.sock'), path());
      },
    ],
    ['a record that is no JSON', () => writeFile(join(home, '.claude', 'sessions', `${pid()}.json`), '{"pid":')],
    ['a record of 1 MB', () => record({ name: 'x'.repeat(1_000_000) })],
  ])('is not used for %s', async (_, plant) => {
    await plant();
    expect(await tried()).toEqual([false, false]);
  });

  it('is not used for a process that is gone', async () => {
    await record();
    await listen();
    session.kill('SIGKILL');
    await once(session, 'exit');
    expect(await tried()).toEqual([false, false]);
  });
});

it('keys are typed only at the empty prompt between its rules, where nothing runs', () => {
  const rule = '─'.repeat(40);
  const screen = (...lines: string[]) => lines.join('\n');
  expect(isEmptyPrompt(screen('● ok', rule, '❯ ', rule, '  ? for shortcuts'))).toBe(true);
  expect(isEmptyPrompt(screen(rule, '❯ a draft', rule))).toBe(false);
  expect(isEmptyPrompt(screen('Do you want to proceed?', '❯ 1. Yes', '  2. No'))).toBe(false);
  expect(isEmptyPrompt(screen(rule, '❯ ', rule, '  esc to interrupt'))).toBe(false);
  expect(isEmptyPrompt('❯ ')).toBe(false);
});
