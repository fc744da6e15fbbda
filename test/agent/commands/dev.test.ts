// `wa-sync dev` of the built program, started twice and started where it cannot work.

import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { devPlace } from '../../../agent/dev/variables.ts';
import { type Running, runProgram, until } from '../../helpers/daemon.ts';
import { textUpdate } from '../../worker/updates.ts';

let home: string;
let project: string;
const running: Running[] = [];
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'wa-dev-')));
  project = join(home, 'project');
  await mkdir(project);
});
afterEach(async () => {
  for (const each of running.splice(0)) {
    each.child.kill('SIGTERM');
    await each.exited;
  }
  await rm(home, { recursive: true, force: true });
});

function start(args: string[], env: Record<string, string> = {}): Running {
  const started = runProgram(args, { HOME: home, ...env }, project);
  running.push(started);
  return started;
}

describe('wa-sync dev', () => {
  it('refuses to start twice in one folder, and leaves the first one as it was', async () => {
    const first = start(['dev', '--agent', 'none']);
    await until('the first runs', () => first.stdout().includes('Ctrl+C stops everything'));
    const dev = join(home, '.local', 'state', 'wa-sync', 'dev');
    const [name = ''] = await readdir(dev);
    const config = () => readFile(join(dev, name, 'config', 'config.json'), 'utf8');
    const before = await config();
    const second = await start(['dev', '--agent', 'none']).exited;
    expect(second.code).toBe(1);
    const said = new RegExp(`already runs for this folder: .*process ${first.pid} .*\\(daemon_running\\)\n`);
    expect(second.stderr).toMatch(said);
    expect(await config()).toBe(before);
    // In this folder every command finds the daemon of `dev`, and says so.
    const beside = await start(['status']).exited;
    expect(beside).toMatchObject({ code: 0, stderr: `(this is \`wa-sync dev\` of ${project})\n` });
    expect(beside.stdout).toContain(`pid ${first.pid}`);
    expect((await start(['send', 'from the other terminal']).exited).stdout).toContain('the daemon sends it');
    expect((await start(['away', 'off']).exited).stdout).toMatch(/^Away is off/);
    // The hint works as it stands.
    const [, variables = ''] = /from here: (.*) wa-sync down\n/.exec(second.stderr) ?? [];
    const env = Object.fromEntries(variables.split(' ').map((pair) => pair.split('=')));
    expect((await start(['status'], env).exited).stdout).toContain(project);
    expect(await start(['down'], env).exited).toMatchObject({ code: 0, stderr: '' });
    expect((await first.exited).code).toBe(0);
  });

  it('with Gemini CLI installs hooks that serve its own directories, whatever their environment says', async () => {
    execFileSync('git', ['-C', project, 'init', '--quiet']);
    const first = start(['dev', '--agent', 'gemini']);
    await until('it runs', () => first.stdout().includes('Ctrl+C stops everything'));
    const { hooks } = JSON.parse(await readFile(join(project, '.gemini', 'settings.json'), 'utf8'));
    const { command } = hooks.BeforeTool[0].hooks[0];
    const state = join(home, '.local', 'state', 'wa-sync');
    const [name = ''] = await readdir(join(state, 'dev'));
    const { baseDir, runtimeDir } = devPlace({ state, runtime: join(state, 'run') }, project);
    expect(baseDir).toBe(join(state, 'dev', name));
    expect(command.endsWith(` '${runtimeDir}' '${join(baseDir, 'config')}' '${join(baseDir, 'state')}'`)).toBe(true);
    const status = (await start(['status']).exited).stdout;
    expect(status).not.toContain('hooks /');
    // Without dialogs of its own the agent asks on the phone, and its settings stay out of git.
    expect(first.stdout()).toContain(`\n  cd ${project} && gemini --approval-mode yolo\n`);
    expect(status).toContain('approvals risky');
    expect(first.stdout()).toContain('(new, in .git/info/exclude)');
    expect(execFileSync('git', ['-C', project, 'status', '--porcelain'], { encoding: 'utf8' })).toBe('');
    expect(await start(['down']).exited).toMatchObject({ code: 0 });
    await first.exited;
  });

  it('is found by its folder also where the environment of both moves the directories', async () => {
    const env = { WA_STATE_DIR: join(home, 'state'), WA_RUNTIME_DIR: join(home, 'run') };
    const first = start(['dev', '--agent', 'none'], env);
    await until('it runs', () => first.stdout().includes('Ctrl+C stops everything'));
    const beside = await start(['status'], env).exited;
    expect(beside).toMatchObject({ code: 0, stderr: `(this is \`wa-sync dev\` of ${project})\n` });
    expect(beside.stdout).toContain(`pid ${first.pid}`);
    expect(JSON.parse((await start(['doctor', '--json'], env).exited).stdout).findings).toContainEqual(
      expect.objectContaining({ check: 'daemon', state: 'ok' }),
    );
    expect((await start(['logs'], env).exited).stdout).toContain('daemon started');
  });

  it('and a daemon never serve the same two files: the second names the command that ends the first', async () => {
    const relay = { url: 'http://127.0.0.1:9', token: 'a'.repeat(43) };
    const config = join(home, '.config', 'wa-sync');
    await mkdir(config, { recursive: true, mode: 0o700 });
    const bindings = [{ dir: project, mailbox: '1000001', project: 0 }];
    await writeFile(join(config, 'config.json'), JSON.stringify({ relay, bindings }), { mode: 0o600 });
    const dev = start(['dev', '--agent', 'none']);
    await until('dev runs', () => dev.stdout().includes('Ctrl+C stops everything'));
    const refused = await start(['start']).exited;
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`another daemon, process ${dev.pid}, serves ${project} already (daemon_running)`);
    const endOf = (stderr: string) => {
      const [, variables = '', command = ''] =
        /`(.*?)wa-sync (\w+)`/.exec(stderr.split('(daemon_running)')[1] ?? '') ?? [];
      const pairs = variables.split(' ').filter((pair) => pair !== '');
      return start([command], Object.fromEntries(pairs.map((pair) => pair.split('=')))).exited;
    };
    expect(await endOf(refused.stderr)).toMatchObject({ code: 0 });
    expect((await dev.exited).code).toBe(0);

    const daemon = start(['start', '--quiet']);
    await until('the daemon runs', () => daemon.stdout().includes('is running'));
    const second = await start(['dev', '--agent', 'gemini']).exited;
    expect({ code: second.code, stdout: second.stdout }).toEqual({ code: 1, stdout: '' });
    expect(second.stderr).toContain(
      `another daemon, process ${daemon.pid}, serves ${project} already (daemon_running)`,
    );
    expect(await readdir(join(project, '.gemini')).catch(() => [])).not.toContain('settings.json');
    expect(await endOf(second.stderr)).toMatchObject({ code: 0 });
    expect((await daemon.exited).code).toBe(0);
  });

  it('keeps the key of the phone page in the printed address alone, where no coding agent can read it', async () => {
    const old = join(home, '.local', 'state', 'wa-sync', 'dev');
    const running = start(['dev', '--agent', 'none']);
    await until('it runs', () => running.stdout().includes('Ctrl+C stops everything'));
    const key = decodeURIComponent(/\?key=(\S+)/.exec(running.stdout())?.[1] ?? '');
    expect(key).toMatch(/^[\w-]{20,}$/);
    const files = (await readdir(old, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(3);
    for (const { parentPath, name } of files) {
      // The relay works on: a file of its storage may be gone by now.
      const bytes = await readFile(join(parentPath, name)).catch(() => Buffer.alloc(0));
      expect(bytes.includes(key), join(parentPath, name)).toBe(false);
    }
    expect(await readFile(`/proc/${running.pid}/environ`, 'utf8').catch(() => '')).not.toContain(key);
  });

  it('comes back after a restart with the same address for an open page, and with its chat', async () => {
    const first = start(['dev']);
    const up = (each: Running) => until('it runs', () => each.stdout().includes('Ctrl+C stops everything'));
    await up(first);
    const open = (each: Running) => new URL(/phone {6}(\S+)/.exec(each.stdout())?.[1] ?? '');
    const { origin, href } = open(first);
    const cookie = (await fetch(href, { redirect: 'manual' })).headers.get('set-cookie')?.split(';')[0] ?? '';
    const headers = { cookie, origin, 'content-type': 'application/json' };
    const say = (text: string) => fetch(`${origin}/say`, { method: 'POST', headers, body: JSON.stringify({ text }) });
    expect((await say('before the restart')).status).toBe(200);
    first.child.kill('SIGTERM');
    await first.exited;
    const second = start(['dev']);
    await up(second);
    expect(open(second).origin).toBe(origin);
    expect(open(second).href).not.toBe(href);
    const events = await fetch(`${origin}/events`, { headers: { cookie } });
    const reader = (events.body as ReadableStream<Uint8Array>).getReader();
    let text = '';
    while (!text.includes('Heard one message')) text += new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
    expect(text).toContain('before the restart');
    expect((await say('and after it')).status).toBe(200);
    expect((await fetch(origin, { headers: { cookie: `${cookie}x` } })).status).toBe(401);
  });

  const bot = { TELEGRAM_BOT_TOKEN: '100000001:made-up', TELEGRAM_CHAT_ID: '1000001' };

  it('with webhook prints the address and the header for updates, and takes an update that has both', async () => {
    const running = start(['dev', '--agent', 'none', '--telegram', 'webhook', '--port', '0'], {
      ...bot,
      TELEGRAM_API_ROOT: 'http://127.0.0.1:9',
    });
    await until('it runs', () => running.stdout().includes('Ctrl+C stops everything'));
    const url = /webhook {4}(\S+)/.exec(running.stdout())?.[1] ?? '';
    const secret = /X-Telegram-Bot-Api-Secret-Token: (\S+)/.exec(running.stdout())?.[1] ?? '';
    expect(running.stdout()).toContain('from chat 1000001 (message.chat.id) and one of 1000001 (message.from.id)');
    const { status } = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': secret },
      body: JSON.stringify(textUpdate('delivered', { chatId: '1000001', updateId: 1 })),
    });
    expect(status).toBe(200);
    await until('the text is in the inbox', async () =>
      (await readFile(join(project, '.gemini', 'wa_inbox.json'), 'utf8')).includes('delivered'),
    );
  });

  it.each<[string, Record<string, string>, RegExp, RegExp]>([
    [
      'a group without TELEGRAM_USER_IDS',
      { ...bot, TELEGRAM_CHAT_ID: '-1001' },
      /TELEGRAM_USER_IDS is not set, but TELEGRAM_CHAT_ID names a group/,
      /Set TELEGRAM_USER_IDS to the ids/,
    ],
    [
      'a malformed token',
      { ...bot, TELEGRAM_BOT_TOKEN: 'my-bot' },
      /TELEGRAM_BOT_TOKEN is not of the form/,
      /Set TELEGRAM_BOT_TOKEN to the token that @BotFather gave/,
    ],
    ['a malformed chat id', { ...bot, TELEGRAM_CHAT_ID: '@me' }, /TELEGRAM_CHAT_ID is not/, /Set TELEGRAM_CHAT_ID to/],
    ['a malformed user id', { ...bot, TELEGRAM_USER_IDS: 'me' }, /TELEGRAM_USER_IDS is not/, /Set TELEGRAM_USER_IDS/],
  ])('refuses %s at the start, by name and with the repair', async (_, env, says, hint) => {
    for (const how of ['poll', 'webhook']) {
      const { code, stdout, stderr } = await start(['dev', '--agent', 'none', '--telegram', how], env).exited;
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(says);
      expect(stderr).toMatch(/\(bad_config\)\n/);
      expect(stderr).toMatch(hint);
      expect(stderr).not.toContain('wrangler');
    }
  });

  it('with Gemini CLI says first that its settings cannot be edited, and what works without them', async () => {
    await mkdir(join(project, '.gemini'));
    await writeFile(join(project, '.gemini', 'settings.json'), '{"hooks":');
    const { code, stdout, stderr } = await start(['dev', '--agent', 'gemini']).exited;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/settings\.json cannot be edited: .*\(settings_unreadable\)\n.*`wa-sync dev --agent none`/);
  });
});
