// The daemon's own rules: one per user, who may reach it, what it says when the relay refuses it.

import { existsSync } from 'node:fs';
import { chown, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../agent/config.ts';
import { resolveBindings } from '../../../agent/daemon/bindings.ts';
import { readDaemonId, readSigningKey } from '../../../agent/daemon/daemon-id.ts';
import { boundFolder, findServed, rememberBound, retireOthers } from '../../../agent/mailbox/served.ts';
import { createRelayClient } from '../../../agent/relay/client.ts';
import { hookHeaders } from '../../../protocol/hook.ts';
import { hookLimits } from '../../../protocol/limits.ts';
import { until, type Workstation } from '../../helpers/daemon.ts';
import { startAgent } from '../../helpers/launcher.ts';
import { eachTest } from '../../helpers/scene.ts';
import type { FarSide } from '../../helpers/stack.ts';

let far: FarSide;
let ws: Workstation;
eachTest((scene) => {
  ({ far, ws } = scene);
});

const socket = () => join(ws.runtimeDir, 'hook.sock');
const code = (expected: string, message: RegExp) =>
  expect.objectContaining({ code: expected, message: expect.stringMatching(message), hint: expect.any(String) });

describe('one daemon', () => {
  it('refuses a second one, and names the process that runs and the command that stops it', async () => {
    await ws.start();
    await expect(ws.start()).rejects.toEqual(
      expect.objectContaining({
        code: 'daemon_running',
        message: expect.stringContaining(`process ${process.pid}`),
        hint: 'See it with `wa-sync status`, stop it with `wa-sync down`. Where both find none, its runtime directory was removed: end it with `kill <process>`.',
      }),
    );
  });

  it.each([
    [
      'one chat twice',
      (dir: string, mailbox: string) => ({ dir: `${dir} 2`, mailbox, project: 0 }),
      /bind chat .* to two folders/,
    ],
    ['one folder twice', (dir: string, mailbox: string) => ({ dir, mailbox, project: 7 }), /bind one folder/],
  ])('serves nothing when its bindings name %s', async (_, other, message) => {
    const binding = { dir: ws.project, mailbox: ws.chat.mailbox, project: 0 };
    const bindings = [binding, other(binding.dir, binding.mailbox)];
    await expect(ws.start({ bindings })).rejects.toEqual(code('bad_config', message));
    expect(existsSync(ws.stateDir)).toBe(false);
  });

  it('leaves nothing held when its start fails', async () => {
    await mkdir(ws.runtimeDir);
    await mkdir(socket());
    await writeFile(join(socket(), 'in-the-way'), '');
    await expect(ws.start()).rejects.toThrow();
    expect((await readdir(ws.stateDir)).filter((name) => name.endsWith('.lock'))).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)('uses no runtime directory of another user', async () => {
    await mkdir(ws.runtimeDir, { mode: 0o700 });
    await chown(ws.runtimeDir, 12_345, 12_345);
    await expect(ws.start()).rejects.toEqual(code('runtime_dir_unusable', /belongs to user 12345/));
  });

  it('does not start with a runtime directory that is a link to another one', async () => {
    await mkdir(join(ws.root, 'theirs'));
    await symlink(join(ws.root, 'theirs'), ws.runtimeDir);
    await expect(ws.start()).rejects.toEqual(code('runtime_dir_unusable', /not a real directory/));
  });

  it('serves its socket to this user alone and removes it at the end', async () => {
    const daemon = await ws.start();
    expect((await stat(ws.runtimeDir)).mode & 0o777).toBe(0o700);
    expect((await stat(socket())).mode & 0o777).toBe(0o600);
    await daemon.stop();
    expect(await readdir(ws.runtimeDir)).toEqual([]);
    expect(await daemon.finished).toBe('stopped');
  });
});

describe('when the relay does not know the token', () => {
  it('status names the repair, it is logged once without the token, and the hooks go on', async () => {
    const daemon = await ws.start({ token: 'b'.repeat(43) });
    const project = () => (daemon.status() as { projects: [Record<string, unknown>] }).projects[0];
    await until('the refusal is known', () => project().relay === 'failing');
    expect(project()).toMatchObject({ error: 'unauthorized', hint: expect.stringContaining('WA_AGENT_TOKEN') });
    const failures = ws.log.filter((line) => line.event === 'relay failing');
    expect(failures).toEqual([
      {
        level: 'warn',
        event: 'relay failing',
        fields: expect.objectContaining({ code: 'unauthorized', hint: expect.any(String) }),
      },
    ]);
    expect(JSON.stringify(ws.log)).not.toContain('b'.repeat(43));
    await ws.foreignWrite(ws.inboxFile, { messages: [{ text: 'from a script' }] });
    const agent = await startAgent({ project: ws.project, env: ws.env, dir: join(ws.root, 'agent') });
    expect(await agent.turn('ok')).toContain('from a script');
    await agent.kill();
  });
});

it('a clock that jumped, as after a sleep, makes the daemon ask the relay anew on a new connection', async () => {
  let jumpedMs = 0;
  await ws.start({ clock: () => Date.now() + jumpedMs });
  const polls = async () => {
    const answer = await fetch(`${far.url}/v1/metrics`, { headers: { authorization: `Bearer ${far.token}` } });
    return Number(/^wa_polls_total\S* (\d+)/m.exec(await answer.text())?.[1] ?? 0);
  };
  // Parked for longer than the test waits.
  const parked = await until('the daemon polls', async () => (await polls()) || undefined);
  jumpedMs = 3_600_000;
  await until('the jump was seen', () => ws.log.some(({ event }) => event === 'clock jumped'));
  await until('the daemon polls again', async () => (await polls()) > parked);
});

describe('the name of the workstation', () => {
  it('is made once, also by two first starts at the same time', async () => {
    const dir = join(ws.root, 'fresh');
    const ids = await Promise.all(Array.from({ length: 8 }, () => readDaemonId(dir)));
    expect(new Set(ids).size).toBe(1);
    expect(await readDaemonId(dir)).toBe(ids[0]);
    expect(await readdir(dir)).toEqual(['daemon.id']);
  });

  it('and the key that signs entries can be read by this user alone', async () => {
    const dir = join(ws.root, 'fresh');
    const keys = await Promise.all(Array.from({ length: 8 }, () => readSigningKey(dir)));
    expect(new Set(keys).size).toBe(1);
    expect((await stat(join(dir, 'signing.key'))).mode & 0o777).toBe(0o600);
  });

  it('is not made again over a broken one', async () => {
    await writeFile(join(ws.root, 'daemon.id'), '!');
    await expect(readDaemonId(ws.root)).rejects.toEqual(code('file_unusable', /daemon\.id/));
  });
});

describe('without a binding', () => {
  it('a folder that another start no longer serves is none for the hooks, and is again when it is served', async () => {
    const env = { ...ws.env, WA_CONFIG_DIR: join(ws.root, 'none') };
    const config = loadConfig({ env, platform: process.platform, home: ws.root });
    const bind = (dir: string, project: number) => ({ dir, mailbox: '1', project });
    const [first, second] = [bind(ws.project, 0), bind(ws.root, 7)];
    const served = async (cwd: string) => (await findServed(cwd, config))?.binding;
    for (const binding of [first, second]) await rememberBound(config.dirs.config, binding, null, 1);
    expect([await served(ws.project), await served(ws.root)]).toEqual([first, second]);
    await retireOthers(config.dirs.config, [second]);
    expect(await served(ws.project)).toEqual(second);
    expect(await boundFolder(config.dirs.config, first)).toEqual({ dir: ws.project, mailboxDir: null, at: 1 });
    await rememberBound(config.dirs.config, first, null, 2);
    expect(await served(ws.project)).toEqual(first);
  });

  it('a relay of several chats is an error that shows what to write', async () => {
    const config = loadConfig({
      env: { ...ws.env, WA_CONFIG_DIR: join(ws.root, 'none') },
      platform: process.platform,
      home: ws.root,
    });
    const client = createRelayClient({ url: far.url, token: far.token });
    await expect(resolveBindings(config, ws.project, client)).rejects.toEqual(
      expect.objectContaining({
        code: 'not_bound',
        hint: expect.stringContaining(`{"bindings":[{"dir":"${ws.project}"`),
      }),
    );
    await client.close();
  });
});

describe('the local socket', () => {
  const post = (path: string, body: string | Buffer, headers: Record<string, string | number> = {}) =>
    new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const call = request({ socketPath: socket(), method: 'POST', path, headers }, async (response) => {
        let text = '';
        for await (const chunk of response.setEncoding('utf8')) text += chunk;
        resolve({ status: response.statusCode, text });
      });
      call.on('error', reject);
      call.end(body);
    });
  const nothing = { status: 200, text: '{}\n' };
  /** The daemon gives up after so many times its usual limit: an answer is not lost where the machine is slow. */
  const patient = { [hookHeaders.slowness]: '10' };
  const turn = (nonce: number) =>
    JSON.stringify({ session_id: 's', transcript_path: '', cwd: ws.project, prompt: 'x', nonce });

  it('answers one empty object to everything that is no hook', async () => {
    await ws.start();
    const large = Buffer.alloc(hookLimits.stdinBytes + 1, '{');
    expect(await post('/hook/gemini/BeforeAgent', '')).toEqual(nothing);
    expect(await post('/hook/gemini/BeforeAgent', large)).toEqual(nothing);
    expect(await post('/hook/gemini/Nothing', turn(0))).toEqual(nothing);
    expect(await post('/hook/vim/BeforeAgent', turn(0))).toEqual(nothing);
    expect(await post('/no/such/route', '{}')).toEqual(nothing);
  });

  it('gives no message to a hook whose process is gone', async () => {
    await ws.foreignWrite(ws.inboxFile, { messages: [{ id: 'a', text: 'precious' }] });
    await ws.start();
    // No process has the highest pid that Linux knows.
    const dead = { ...patient, [hookHeaders.launcherPid]: 4_194_303 };
    expect(await post('/hook/gemini/BeforeAgent', turn(1), dead)).toEqual(nothing);
    expect((await ws.inbox())[0]?.read).not.toBe(true);
    const alive = { ...patient, [hookHeaders.launcherPid]: process.pid };
    expect((await post('/hook/gemini/BeforeAgent', turn(2), alive)).text).toContain('precious');
    expect((await ws.inbox())[0]?.read).toBe(true);
  });

  it('gives JSON in ASCII, which no reader can cut in a character', async () => {
    await ws.foreignWrite(ws.inboxFile, { messages: [{ id: 'a', text: 'größer 🚀 \u2028' }] });
    await ws.start();
    const { text } = await post('/hook/gemini/BeforeAgent', turn(1), patient);
    expect(text).toMatch(/^[ -~]+\n$/);
    expect(JSON.parse(text).additionalContext).toContain('größer 🚀 \u2028');
  });

  it('has no route that answers an approval', async () => {
    await ws.start();
    for (const path of ['/approve', '/approvals', '/answer', '/control']) {
      expect(await post(path, '{"verdict":"approve"}')).toEqual(nothing);
    }
  });
});
