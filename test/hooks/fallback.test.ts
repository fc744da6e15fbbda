// The launcher and the built fallback without a daemon, or with one that is no use; and what the next daemon makes of it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createSigner } from '../../agent/mailbox/signing.ts';
import { isoSeconds } from '../../protocol/files.ts';
import { projectKey } from '../../protocol/ids.ts';
import { fileLimits, relayLimits } from '../../protocol/limits.ts';
import { until, type Workstation } from '../helpers/daemon.ts';
import { type AgentProcess, apiError, startAgent } from '../helpers/launcher.ts';
import { phoneOf } from '../helpers/phone.ts';
import { eachTest } from '../helpers/scene.ts';
import type { FarSide } from '../helpers/stack.ts';

let far: FarSide;
let ws: Workstation;
let agent: AgentProcess;
const servers: Server[] = [];
eachTest(async (scene) => {
  ({ far, ws } = scene);
  agent = await scene.newAgent();
});
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
});

const message = (id: string, text: string) => ({
  id,
  timestamp: isoSeconds(Date.now()),
  from: 'user',
  text,
  read: false,
});
const fill = (...texts: string[]) =>
  ws.foreignWrite(ws.inboxFile, { messages: texts.map((text, index) => message(`in_${index}`, text)) });
const { phone, ladder } = phoneOf(() => ws.chat);

describe('with the daemon down', () => {
  it('a turn gets the messages of the file, once, and hears that the daemon is not there', async () => {
    await fill('first', '/startup');
    const context = (await agent.turn('Done.')) ?? '';
    expect(context).toContain(']\nfirst\n[');
    expect(context).toContain(']\n/startup\n[');
    expect(context).toContain('The wa-sync daemon is not running: slash texts are given as written');
    expect((await ws.inbox()).map((entry) => entry.read)).toEqual([true, true]);
    expect(await agent.turn('Nothing new.')).toBeUndefined();
  });

  it('messages of the owner are answered in the relay after the next start, and the answer is on the phone once', async () => {
    const daemon = await ws.start();
    await ws.chat.say('from the phone');
    await until('it is there', async () => (await ws.inbox()).length === 1);
    await daemon.stop();
    expect(await agent.turn('Did it.')).toMatch(/^A message from the owner's phone/);
    const note = { tool: 'gemini', session: agent.session, transcript: agent.sessionFile, at: expect.any(Number) };
    const [given] = await ws.inbox();
    expect(given).toMatchObject({ read: true, via: note });
    expect(await ws.outbox()).toMatchObject([
      { text: 'Did it.', from: 'agent', sent: false, replyTo: given?.id, via: note },
    ]);
    await ws.start();
    await ladder('answered');
    await until('the answer is on the phone', () => phone().length > 0);
    await until('it is marked', async () => (await ws.outbox())[0]?.sent === true);
    expect(phone()).toEqual(['Did it.']);
  });

  it('a text that was given and not proved is unread again after the next start', async () => {
    const daemon = await ws.start();
    await ws.chat.say('from the phone');
    await until('it is there', async () => (await ws.inbox()).length === 1);
    await daemon.stop();
    expect(await agent.turn('Something else.', { proved: false })).toContain('from the phone');
    await ws.start();
    await until('it is unread', async () => (await ws.inbox())[0]?.read === false);
    expect(await ws.inbox()).toMatchObject([{ text: 'from the phone', attempt: 1 }]);
  });

  it('a turn that begins without a daemon and ends with one is answered', async () => {
    const daemon = await ws.start();
    await ws.chat.say('from the phone');
    await until('it is there', async () => (await ws.inbox()).length === 1);
    await daemon.stop();
    const context = (await agent.hook('BeforeAgent', { prompt: 'x' })).additionalContext;
    expect(context).toContain('from the phone');
    await agent.record('user', [{ text: 'x' }, { text: `<hook_context>${context}</hook_context>` }]);
    await agent.record('gemini', 'Done.');
    await ws.start();
    await agent.hook('AfterAgent', { prompt: 'x', prompt_response: 'Done.' });
    await ladder('answered');
    await until('the answer is on the phone', () => phone().length > 0);
    expect(phone()).toEqual(['Done.']);
  });

  it('a failed turn writes its error and never "[no response text]"', async () => {
    await fill('go');
    await agent.turn(undefined);
    expect((await ws.outbox()).map((entry) => entry.text)).toEqual([`Failed: ${apiError}`]);
  });

  it('a long answer is cut into a summary of at most five hundred characters', async () => {
    await agent.turn(`It works.\n\n${'Every sentence tells a little more. '.repeat(100)}`);
    const [entry] = await ws.outbox();
    expect(entry?.text).toMatch(/^It works\./);
    expect(entry?.text.length).toBeLessThanOrEqual(500);
  });

  it('secrets of an answer do not reach the phone later', async () => {
    const key = `AKIA${'Q'.repeat(16)}`;
    await agent.turn(`The key is ${key} and the token ${far.token}.`);
    await ws.start();
    await until('the answer is on the phone', () => phone().length > 0);
    expect(phone()[0]).toMatch(/^The key is .* and the token .*\.$/s);
    for (const secret of [key, far.token]) expect(phone()[0]).not.toContain(secret);
  });

  it('a folder that is not bound gets {} and nothing is made in it', async () => {
    const outside = join(ws.root, 'elsewhere');
    await mkdir(outside);
    const stranger = await startAgent({ project: outside, env: ws.env, dir: join(ws.root, 'stranger') });
    try {
      expect(await stranger.hook('BeforeAgent', { prompt: 'x' })).toEqual({});
      expect(await stranger.hook('AfterAgent', { prompt: 'x', prompt_response: 'y' })).toEqual({});
    } finally {
      await stranger.kill();
    }
    expect(await readdir(outside)).toEqual([]);
  });

  it('what was sent with /later is not given to a turn that runs, and goes with the next one', async () => {
    const daemon = await ws.start();
    await agent.hook('BeforeAgent', { prompt: 'go on' });
    await ws.chat.say('/later Paint it blue');
    await until('the file shows it', async () => (await ws.inbox()).length === 1);
    await daemon.stop();
    const tool = { tool_name: 'read_file', tool_input: {}, tool_response: { llmContent: 'x' } };
    expect((await agent.hook('AfterTool', tool)).additionalContext).toBeUndefined();
    expect((await agent.hook('BeforeAgent', { prompt: 'and now' })).additionalContext).toContain('Paint it blue');
  });

  it('a message of the owner is not given a day after it was sent, and one of another program is, however old', async () => {
    await (await ws.start()).stop();
    const key = (await readFile(join(ws.env.WA_CONFIG_DIR as string, 'signing.key'), 'utf8')).trim();
    const signer = createSigner(key, projectKey(ws.chat.mailbox, 0));
    const sent = (id: string, agoMs: number) => ({ ...message(id, id), timestamp: isoSeconds(Date.now() - agoMs) });
    const { messageTtlMs } = relayLimits;
    await ws.foreignWrite(ws.inboxFile, {
      messages: [
        signer.sign(sent('old', messageTtlMs), 'inbox'),
        signer.sign(sent('recent', messageTtlMs - 3_600_000), 'inbox'),
        sent('foreign', 2 * messageTtlMs),
        { ...signer.sign(sent('prolonged', messageTtlMs), 'inbox'), expiresAt: Date.now() + messageTtlMs },
        { ...signer.sign(sent('unlimited', messageTtlMs), 'inbox'), expiresAt: null },
        signer.sign({ ...sent('short', 1_000), expiresAt: Date.now() - 1 }, 'inbox'),
      ],
    });
    const context = (await agent.turn('ok')) ?? '';
    const frames = / (from the owner's phone|written by another program) · begin (\S+) ·/g;
    expect([...context.matchAll(frames)].map(([, by, id]) => [id, by])).toEqual([
      ['foreign', 'written by another program'],
      ['prolonged', 'written by another program'],
      ['unlimited', 'written by another program'],
      ['recent', "from the owner's phone"],
    ]);
  });

  it('entries that were read, parked or expired are not given', async () => {
    const base = message('x', 'no');
    await ws.foreignWrite(ws.inboxFile, {
      messages: [
        { ...base, id: 'a', read: true },
        { ...base, id: 'b', parked: true },
        { ...base, id: 'c', expiresAt: Date.now() - 1 },
        { ...base, id: 'd', text: 'yes' },
      ],
    });
    const context = (await agent.turn('ok')) ?? '';
    expect(context.match(/ begin (\S+) ·/g)).toEqual([' begin d ·']);
  });
});

describe('when the inbox file', () => {
  const nothing = { code: 0, stdout: '{}\n', stderr: '' };
  const payload = () => JSON.stringify({ session_id: 's', cwd: ws.project, prompt: 'x', at: Math.random() });
  const troubles: [string, () => Promise<unknown>][] = [
    ['is missing', async () => {}],
    ['is empty', () => ws.foreignWrite(ws.inboxFile, '')],
    ['is no JSON', () => ws.foreignWrite(ws.inboxFile, 'hello')],
    ['holds another JSON', () => ws.foreignWrite(ws.inboxFile, '[1,2]')],
    ['is a folder', () => mkdir(ws.inboxFile, { recursive: true })],
  ];
  it.each(troubles)('%s, the hook answers {} and a later message is given', async (_, trouble) => {
    await trouble();
    expect(await agent.raw('BeforeAgent', payload())).toEqual(nothing);
    await rm(ws.inboxFile, { recursive: true, force: true });
    await fill('later');
    expect((await agent.raw('BeforeAgent', payload())).stdout).toContain('later');
  });

  it('has a BOM or ends in the middle, what can be read is given', async () => {
    await ws.foreignWrite(ws.inboxFile, `\uFEFF${JSON.stringify({ messages: [message('a', 'with a BOM')] })}`);
    expect((await agent.raw('BeforeAgent', payload())).stdout).toContain('with a BOM');
    await ws.foreignWrite(ws.inboxFile, `${JSON.stringify({ messages: [message('b', 'cut off')] }).slice(0, -2)}`);
    expect((await agent.raw('BeforeAgent', payload())).stdout).toContain('cut off');
  });

  it('cannot be written, nothing of it is given until it can', async () => {
    await fill('only once');
    await agent.hook('SessionStart', { source: 'startup' });
    await lock(ws.inboxFile);
    expect(await agent.turn('ok')).toBeUndefined();
    expect((await ws.inbox())[0]?.read).toBe(false);
    await rm(`${ws.inboxFile}.lock`);
    expect(await agent.turn('ok')).toContain('only once');
    expect(await agent.turn('ok')).toBeUndefined();
  });
});

describe('when the outbox file', () => {
  it('holds a hundred unsent entries, the answer stands behind them and reaches the phone at the next start', async () => {
    const unsent = Array.from({ length: fileLimits.entries }, (_, index) => ({
      id: `r${index}`,
      timestamp: isoSeconds(Date.now()),
      from: 'agent',
      text: ' ',
      sent: false,
    }));
    await ws.foreignWrite(ws.outboxFile, { messages: unsent });
    await agent.turn('The one more.');
    expect((await ws.outbox()).at(-1)).toMatchObject({ text: 'The one more.', sent: false });
    expect((await ws.outbox()).length).toBe(fileLimits.entries + 1);
    await ws.start();
    await until('the answer is on the phone', () => phone().includes('The one more.'));
  });

  it('is locked for a moment longer than other events may wait, the end of a turn waits, also after the socket of a dead daemon was tried', async () => {
    await mkdir(dirname(ws.outboxFile));
    await lock(ws.outboxFile);
    await leaveDeadSocket();
    await fill('before the lock is gone');
    const ends = agent.turn('Locked out.');
    // The hook of the prompt has run, so the next one waits for the lock.
    await until('the message is given', async () => (await ws.inbox())[0]?.read === true);
    await until('the turn is over', async () => (await readFile(agent.sessionFile, 'utf8')).includes('Locked out.'));
    await rm(`${ws.outboxFile}.lock`);
    await ends;
    expect(await ws.outbox()).toMatchObject([{ text: 'Locked out.' }]);
  });

  it.each(['', ' and so is the inbox'])(
    'is a folder%s, the next daemon that knows of the turn reads its answer in the session file',
    async (inbox) => {
      const daemon = await ws.start();
      await agent.hook('BeforeAgent', { prompt: 'go' });
      await daemon.stop();
      await rm(ws.outboxFile, { force: true });
      await rm(ws.inboxFile, { force: true });
      await mkdir(ws.outboxFile, { recursive: true });
      if (inbox !== '') await mkdir(ws.inboxFile);
      await agent.record('user', [{ text: 'go' }]);
      await agent.record('gemini', 'In spite of it.');
      expect(await agent.hook('AfterAgent', { prompt: 'go', prompt_response: 'In spite of it.' })).toEqual({});
      await ws.start();
      await agent.hook('BeforeAgent', { prompt: 'and on' });
      await until('the answer is on the phone', () => phone().length > 0);
      expect(phone()).toEqual(['In spite of it.']);
    },
  );
});

describe('with a socket that', () => {
  const listen = async (onConnection: Parameters<typeof createServer>[1]) => {
    await mkdir(ws.runtimeDir, { mode: 0o700 });
    const server = createServer(onConnection);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(join(ws.runtimeDir, 'hook.sock'), resolve));
  };

  it('a killed daemon left, a turn gets its messages', async () => {
    await leaveDeadSocket();
    await fill('hello');
    expect(await agent.turn('hi')).toContain('hello');
  });

  it('accepts and never answers, a turn gets its messages all the same', async () => {
    const sockets = new Set<{ destroy(): void }>();
    await listen((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
    });
    await fill('hello');
    expect((await agent.hook('BeforeAgent', { prompt: 'x' })).additionalContext).toContain('hello');
    for (const socket of sockets) socket.destroy();
  });

  it('dies in the middle of an answer, the answer is one whole object', async () => {
    await listen((socket) => {
      socket.on('error', () => {});
      socket.once('data', () =>
        socket.end(
          'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"additionalContext":"ha',
        ),
      );
    });
    await fill('hello');
    expect((await agent.hook('BeforeAgent', { prompt: 'x' })).additionalContext).toContain('hello');
  });
});

describe('what the fallback leaves behind', () => {
  it('is private: files and folders of this user alone, and no temporary file', async () => {
    await fill('hello');
    await agent.turn('hi');
    for (const path of [ws.inboxFile, ws.outboxFile]) expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await readdir(dirname(ws.inboxFile))).sort()).toEqual(['wa_inbox.json', 'wa_outbox.json']);
  });

  it.skipIf(process.getuid?.() === 0)(
    'is nothing where nothing may be written, and the hook still answers {}',
    async () => {
      await fill('hello');
      await mkdir(ws.stateDir);
      await chmod(dirname(ws.inboxFile), 0o500);
      await chmod(ws.stateDir, 0o500);
      expect(await agent.hook('BeforeAgent', { prompt: 'x' })).toEqual({});
      await chmod(dirname(ws.inboxFile), 0o700);
      await chmod(ws.stateDir, 0o700);
      expect((await agent.hook('BeforeAgent', { prompt: 'x' })).additionalContext).toContain('hello');
    },
  );
});

/** What kill -9 of a daemon leaves: nobody listens, the file is there. */
async function leaveDeadSocket(): Promise<void> {
  const socket = join(ws.runtimeDir, 'hook.sock');
  await mkdir(ws.runtimeDir, { mode: 0o700 });
  const script = `require('net').createServer().listen(${JSON.stringify(socket)}, () => console.log('listens'))`;
  const daemon = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(daemon.stdout, 'data');
  daemon.kill('SIGKILL');
  await once(daemon, 'exit');
  expect((await stat(socket)).isSocket()).toBe(true);
}

/** A lock of a living process that does not let go: nobody can write the file, root neither. */
async function lock(path: string): Promise<void> {
  const started = (await readFile(`/proc/${process.pid}/stat`, 'latin1')).split(') ')[1]?.split(' ')[19];
  const owner = { pid: process.pid, host: hostname(), started, at: Date.now() + 60_000, nonce: 'x' };
  await writeFile(`${path}.lock`, JSON.stringify(owner));
}

it('hooks that run at once without a daemon, as when they are installed in two scopes, never give a message twice', async () => {
  for (let round = 0; round < 5; round += 1) {
    await fill(`only once ${round}`);
    const answers = await Promise.all([1, 2].map(() => agent.held('BeforeAgent', { prompt: 'x' })));
    const contexts = answers.flatMap((each) => each.hookSpecificOutput?.additionalContext ?? []);
    // None on a machine too busy for either: then it waits on.
    expect(contexts.filter((text) => text.includes(`only once ${round}`)).length).toBeLessThan(2);
  }
});
