// The built program as people run it: what it prints, its exit codes, and never a stack.

import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rememberBound } from '../../../agent/mailbox/served.ts';
import { sprintLimits } from '../../../agent/turns/sprint.ts';
import { type Running, runProgram, until } from '../../helpers/daemon.ts';
import { type FarSide, startFarSide } from '../../helpers/stack.ts';

let far: FarSide;
let dir: string;
let project: string;
let env: Record<string, string>;
const running: Running[] = [];
beforeAll(async () => {
  // One chat only, as most people have.
  far = await startFarSide({ chats: 0 });
});
afterAll(() => far.close());
beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), 'wa-cli-')));
  project = join(dir, 'project');
  await mkdir(project);
  execFileSync('git', ['init', '-q', project]);
  env = {
    HOME: dir,
    WA_CONFIG_DIR: join(dir, 'config'),
    WA_STATE_DIR: join(dir, 'state'),
    WA_RUNTIME_DIR: join(dir, 'run'),
    WA_RELAY_URL: far.url,
    WA_AGENT_TOKEN: far.token,
  };
  // The relay serves one workstation at a time: each test is a later start of the same one.
  await mkdir(env.WA_CONFIG_DIR ?? '');
  await writeFile(join(env.WA_CONFIG_DIR ?? '', 'daemon.id'), 'a-workstation-of-tests\n');
});
afterEach(async () => {
  for (const each of running.splice(0)) {
    each.child.kill('SIGKILL');
    await each.exited;
  }
  await rm(dir, { recursive: true, force: true });
});

function start(args: string[] = ['start'], changes: Record<string, string> = {}, cwd = project, stdin = ''): Running {
  const started = runProgram(args, { ...env, ...changes }, cwd, stdin);
  running.push(started);
  return started;
}
const run = (args: string[], changes?: Record<string, string>, cwd?: string, stdin?: string) =>
  start(args, changes, cwd, stdin).exited;
async function daemon(changes?: Record<string, string>, cwd?: string, args = ['start']): Promise<Running> {
  const started = start(args, changes, cwd);
  await until('the daemon runs', () => {
    if (started.child.exitCode !== null) throw new Error(started.stderr());
    return started.stdout().includes('is running');
  });
  return started;
}
const config = (text: string) => writeFile(join(env.WA_CONFIG_DIR ?? '', 'config.json'), text);

describe('a failure prints what happened, the command that repairs it, and no stack', () => {
  interface Case {
    prepare?: () => Promise<unknown>;
    args?: string[];
    env?: () => Record<string, string>;
    code: number;
    error: string;
    says: RegExp;
    hint: RegExp;
  }
  const long = 'x'.repeat(100);
  const cases: Record<string, Case> = {
    'no relay is configured': {
      env: () => ({ WA_RELAY_URL: '', WA_AGENT_TOKEN: '' }),
      code: 2,
      error: 'not_configured',
      says: /no relay is configured/,
      hint: /`wa-sync setup` connects.*`wa-sync dev`/,
    },
    'half of the pair is set': {
      env: () => ({ WA_AGENT_TOKEN: '' }),
      code: 2,
      error: 'bad_config',
      says: /WA_AGENT_TOKEN is not set/,
      hint: /Set WA_AGENT_TOKEN/,
    },
    'the relay address has credentials': {
      env: () => ({ WA_RELAY_URL: 'https://user:secret@example.org' }),
      code: 2,
      error: 'bad_config',
      says: /WA_RELAY_URL is not an https address/,
      hint: /wrangler deploy/,
    },
    'the relay address is plain http to another machine': {
      env: () => ({ WA_RELAY_URL: 'http://example.org' }),
      code: 2,
      error: 'bad_config',
      says: /not an https address/,
      hint: /wrangler deploy/,
    },
    'no program answers at the relay address': {
      env: () => ({ WA_RELAY_URL: 'http://127.0.0.1:9' }),
      code: 1,
      error: 'relay_unreachable',
      says: /did not answer/,
      hint: /WA_RELAY_URL/,
    },
    'the relay does not know the token': {
      env: () => ({ WA_AGENT_TOKEN: 'a'.repeat(43) }),
      code: 1,
      error: 'unauthorized',
      says: /token/,
      hint: /WA_AGENT_TOKEN/,
    },
    'config.json is no JSON': {
      prepare: () => config('{"relay":{"token":"secret-token"'),
      code: 2,
      error: 'bad_config',
      says: /config\.json: not JSON in line 1/,
      hint: /Correct line 1 of .*config\.json/,
    },
    'config.json has a comma too many': {
      prepare: () => config('{\n  "hold": "auto",\n}\n'),
      code: 2,
      error: 'bad_config',
      says: /config\.json: not JSON in line 3/,
      hint: /Correct line 3 .*, or the line before it/,
    },
    'away is given a word that is none of its choices': {
      args: ['away', 'maybe'],
      code: 2,
      error: 'bad_arguments',
      says: /: switch must be one of on, off, not "maybe"/,
      hint: /wa-sync away --help/,
    },
    'an option is given a word that is none of its choices': {
      args: ['hooks', 'install', '--scope', 'all'],
      code: 2,
      error: 'bad_arguments',
      says: /: --scope must be one of user, project, not "all"/,
      hint: /wa-sync hooks --help/,
    },
    'approvals are to be changed here': {
      args: ['approvals', 'off'],
      code: 2,
      error: 'bad_arguments',
      says: /on the phone only/,
      hint: /\/approvals off/,
    },
    'hooks are installed in a folder that does not exist': {
      args: ['hooks', 'install', '--scope', 'project', '--project', '/nowhere/at/all'],
      code: 2,
      error: 'bad_arguments',
      says: /\/nowhere\/at\/all is not a folder/,
      hint: /existing folder/,
    },
    'a service is installed, and the relay stands only in the environment': {
      args: ['service', 'install'],
      code: 2,
      error: 'not_configured',
      says: /only in the environment/,
      hint: /"relay" into .*config\.json, mode 600/,
    },
    'config.json has a wrong type': {
      prepare: () => config('{"bindings":[{"dir":7,"mailbox":"1"}]}'),
      code: 2,
      error: 'bad_config',
      says: /"bindings\[0\]\.dir" must be a text, found a number/,
      hint: /Correct "bindings\[0\]\.dir"/,
    },
    'config.json has an unknown key': {
      prepare: () => config('{"relays":{}}'),
      code: 2,
      error: 'bad_config',
      says: /config\.json: "relays" is not a known key/,
      hint: /Known keys: relay, bindings/,
    },
    'config.json has an unknown key inside another': {
      prepare: () => config('{"bindings":[{"dir":"/p","mailbox":"1","chat":"2"}]}'),
      code: 2,
      error: 'bad_config',
      says: /"bindings\[0\]\.chat" is not a known key/,
      hint: /Known keys: dir, mailbox, project/,
    },
    'a binding is relative': {
      prepare: () => config('{"bindings":[{"dir":"rel/path","mailbox":"1"}]}'),
      code: 2,
      error: 'bad_config',
      says: /"bindings\[0\]\.dir" must be an absolute path, found "rel\/path"/,
      hint: /Correct "bindings\[0\]\.dir"/,
    },
    'a binding names no chat': {
      prepare: () => config('{"bindings":[{"dir":"/p","mailbox":"abc"}]}'),
      code: 2,
      error: 'bad_config',
      says: /"bindings\[0\]\.mailbox" must be a chat id, a number in quotes, found "abc"/,
      hint: /Correct "bindings\[0\]\.mailbox"/,
    },
    'two bindings name one chat and project': {
      prepare: () => config('{"bindings":[{"dir":"/p","mailbox":"1"},{"dir":"/q","mailbox":"1","project":0}]}'),
      code: 2,
      error: 'bad_config',
      says: /"bindings\[0\]" and "bindings\[1\]" bind chat 1, project 0 to two folders, \/p and \/q/,
      hint: /Remove one of them from .*config\.json, or give each its own chat, or its own topic/,
    },
    'two bindings name one folder, one of them by a link': {
      prepare: async () => {
        await symlink(project, join(dir, 'link'));
        const bindings = [
          { dir: project, mailbox: '1' },
          { dir: join(dir, 'link'), mailbox: '1', project: 7 },
        ];
        await config(JSON.stringify({ bindings }));
      },
      code: 2,
      error: 'bad_config',
      says: /"bindings\[0\]" and "bindings\[1\]" bind one folder, /,
      hint: /Remove one of them from .*config\.json/,
    },
    'config.json has an invalid pattern': {
      prepare: () => config('{"redact":{"patterns":[{"name":"ticket","source":"("}]}}'),
      code: 2,
      error: 'bad_config',
      says: /ticket|pattern/,
      hint: /redact\.patterns/,
    },
    'the journal is of a newer version': {
      prepare: async () => {
        await mkdir(env.WA_STATE_DIR ?? '');
        await writeFile(join(env.WA_STATE_DIR ?? '', 'journal.jsonl'), '{"t":"journal","version":99}\n');
      },
      code: 1,
      error: 'journal_version',
      says: /version 99/,
      hint: /git pull && npm ci/,
    },
    'the socket path is too long': {
      env: () => ({ WA_RUNTIME_DIR: join(dir, long) }),
      code: 1,
      error: 'socket_path_too_long',
      says: /bytes, at most 100 work/,
      hint: /WA_RUNTIME_DIR/,
    },
    'the runtime directory is a link': {
      prepare: () => symlink(dir, env.WA_RUNTIME_DIR ?? ''),
      code: 1,
      error: 'runtime_dir_unusable',
      says: /is not a real directory/,
      hint: /WA_RUNTIME_DIR/,
    },
    'the runtime directory is a file': {
      prepare: () => writeFile(env.WA_RUNTIME_DIR ?? '', ''),
      code: 1,
      error: 'runtime_dir_unusable',
      says: /EEXIST|not a directory|is not a real directory/,
      hint: /WA_RUNTIME_DIR/,
    },
    'the state directory is a file': {
      prepare: () => writeFile(env.WA_STATE_DIR ?? '', ''),
      code: 1,
      error: 'file_unusable',
      says: /ENOTDIR|EEXIST/,
      hint: /./,
    },
    '.gemini is a link': {
      prepare: async () => {
        const binding = { dir: project, mailbox: '1', project: 0 };
        await config(JSON.stringify({ bindings: [binding] }));
        await rememberBound(env.WA_CONFIG_DIR ?? '', binding, null, 0);
        await symlink(tmpdir(), join(project, '.gemini'));
      },
      args: ['audit'],
      code: 1,
      error: 'outside_project',
      says: /\.gemini is a link, to .*, and links are not followed here/,
      hint: /WA_MAILBOX_DIR/,
    },
    'status finds no daemon': {
      args: ['status'],
      code: 1,
      error: 'daemon_not_running',
      says: /no daemon answers/,
      hint: /Start it with `wa-sync`/,
    },
    'down finds no daemon': {
      args: ['down'],
      code: 1,
      error: 'daemon_not_running',
      says: /no daemon answers/,
      hint: /Start it with `wa-sync`/,
    },
    'a sprint has no tasks': {
      args: ['sprint', '0'],
      code: 2,
      error: 'bad_arguments',
      says: /a sprint has 1 to 50 tasks, not 0/,
      hint: /wa-sync sprint 3/,
    },
    'a sprint has a negative count of tasks': {
      args: ['sprint', '-1'],
      code: 2,
      error: 'bad_arguments',
      says: /1 to 50 tasks, not -1/,
      hint: /wa-sync sprint 3/,
    },
    'a sprint is given a goal': {
      args: ['sprint', 'abc'],
      code: 2,
      error: 'bad_arguments',
      says: /1 to 50 tasks, not abc/,
      hint: /\/sprint on the phone/,
    },
    'audit is asked since a word that is not a duration': {
      args: ['audit', '--since', 'yesterday'],
      code: 2,
      error: 'bad_arguments',
      says: /--since "yesterday" is not a duration/,
      hint: /--since 2h/,
    },
    'audit is asked in a folder that is not bound': {
      args: ['audit'],
      code: 2,
      error: 'not_bound',
      says: /is not in a folder that is bound to a chat/,
      hint: /"bindings" in .*config\.json/,
    },
    'letters is asked without a relay': {
      args: ['letters'],
      env: () => ({ WA_RELAY_URL: '', WA_AGENT_TOKEN: '' }),
      code: 2,
      error: 'not_configured',
      says: /no relay is configured/,
      hint: /WA_RELAY_URL and WA_AGENT_TOKEN, or "relay" in .*config\.json/,
    },
    'there is nothing to send': {
      args: ['send', '  '],
      code: 2,
      error: 'bad_arguments',
      says: /no text/,
      hint: /wa-sync send/,
    },
    'the command is unknown': {
      args: ['strat'],
      code: 2,
      error: 'bad_arguments',
      says: /unknown command 'strat' \(Did you mean start\?\)/,
      hint: /wa-sync --help/,
    },
    'help is asked for an unknown command': {
      args: ['help', 'bogus'],
      code: 2,
      error: 'bad_arguments',
      says: /unknown command 'bogus'/,
      hint: /wa-sync --help/,
    },
    'the default command is given an unknown option': {
      args: ['--quite'],
      code: 2,
      error: 'bad_arguments',
      says: /unknown option '--quite'/,
      hint: /wa-sync --help/,
    },
    'an option is unknown': {
      args: ['status', '--jsno'],
      code: 2,
      error: 'bad_arguments',
      says: /--jsno.*Did you mean --json/,
      hint: /wa-sync status --help/,
    },
    'dev is given a folder that does not exist': {
      args: ['dev', '--project', '/nowhere/at/all'],
      code: 2,
      error: 'bad_arguments',
      says: /\/nowhere\/at\/all is not a folder/,
      hint: /existing folder/,
    },
    'dev with the real Telegram has no bot': {
      args: ['dev', '--telegram', 'poll'],
      code: 2,
      error: 'not_configured',
      says: /TELEGRAM_BOT_TOKEN and TELEGRAM_CHAT_ID not set/,
      hint: /--telegram/,
    },
    'the agent of hooks is unknown': {
      args: ['hooks', 'install', '--agent', 'vim'],
      code: 2,
      error: 'bad_arguments',
      says: /vim/,
      hint: /--agent gemini/,
    },
  };
  it.each(Object.entries(cases))(
    'when %s',
    async (_, { prepare, args = ['start', '-q'], env: changes, ...expected }) => {
      await prepare?.();
      const { code, stdout, stderr } = await run(args, changes?.());
      expect({ code, stdout: stdout.replace(/^serving .*\n/, '') }).toEqual({ code: expected.code, stdout: '' });
      const [first = '', ...hint] = stderr.trimEnd().split('\n');
      expect(first).toMatch(new RegExp(`^wa-sync: .*\\(${expected.error}\\)$`));
      expect(first).toMatch(expected.says);
      expect(hint.join('\n')).toMatch(expected.hint);
      expect(stderr).not.toMatch(/\n\s+at |secret/);
      expect(await readdir(project)).toEqual((await readdir(project)).filter((name) => /^\.(git|gemini)$/.test(name)));
    },
  );
});

describe('the daemon', () => {
  it('without a config serves the git root of where it was started for the only chat, and says so', async () => {
    const inside = join(project, 'src', 'deep');
    await mkdir(inside, { recursive: true });
    // Git takes none of these for a repository.
    await mkdir(join(inside, '.git'));
    await writeFile(join(project, 'src', '.git'), 'gitdir: /tmp\n');
    const started = await daemon({}, inside);
    const chat = String(far.sim.ownerId);
    expect(started.stdout().split('\n')[0]).toBe(
      `serving ${project} for chat ${chat}, project 0 (the folder where it was started; config.json can bind others)`,
    );
    const status = JSON.parse((await run(['status', '--json'])).stdout);
    expect(status.daemon.projects).toMatchObject([{ dir: project, mailbox: chat, project: 0 }]);
    expect(status.relay.mailboxes).toHaveLength(1);
  });

  it('starts without a network in a folder that it served before', async () => {
    await daemon();
    expect((await run(['down'])).code).toBe(0);
    await daemon({ WA_RELAY_URL: 'http://127.0.0.1:9' });
    const { daemon: known } = JSON.parse((await run(['status', '--json'])).stdout);
    expect(known.projects).toMatchObject([{ dir: project, mailbox: String(far.sim.ownerId), project: 0 }]);
    expect((await run(['down'])).code).toBe(0);
    const other = join(dir, 'other');
    await mkdir(other);
    expect(await run(['start', '-q'], { WA_RELAY_URL: 'http://127.0.0.1:9' }, other)).toMatchObject({ code: 1 });
  });

  it('is shown by status, refuses a second one, and ends by down with exit code 0', async () => {
    const first = await daemon();
    await until('it is connected', async () => (await run(['status'])).stdout.includes('connected'));
    const shown = (await run(['status'])).stdout;
    expect(shown).toMatch(new RegExp(`^wa-sync {5}\\S+, pid ${first.pid}, up \\d+ s\nrelay {7}http://\\S+, \\S+\n`));
    expect(shown).toMatch(new RegExp(`\n\n${project} \\(chat \\d+, project 0\\)\n {2}relay {5}connected\n`));
    expect(shown).toMatch(
      / {2}modes {5}not away, approvals off.*\n {2}waiting {3}0 for the coding agent, 0 for the phone\n/,
    );
    expect(shown).toMatch(
      / {2}receipts {2}none in the last 24 hours\n {2}last {6}message -, answer -, poll \d+ s ago, hook -\n$/,
    );
    // Only the daemon's own shell knows the relay: what is not known is not called nothing.
    const elsewhere = await run(['status'], { WA_RELAY_URL: '', WA_AGENT_TOKEN: '' });
    // Without a terminal, each line is whole.
    expect(elsewhere.stdout).toMatch(
      /\nrelay {7}this shell does not know the relay: .* WA_AGENT_TOKEN, or .*config\.json\n/,
    );
    expect(elsewhere.stdout).toMatch(/\n {2}receipts {2}unknown without the relay\n/);
    const second = await run(['start', '-q']);
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(
      new RegExp(
        `^wa-sync: a daemon of this user already runs: .* process ${first.pid} on .*\\(daemon_running\\)\n.*wa-sync down`,
      ),
    );
    expect(await run(['down'])).toMatchObject({ code: 0, stderr: '' });
    expect((await first.exited).code).toBe(0);
    expect(await readdir(env.WA_RUNTIME_DIR ?? '')).toEqual([]);
    expect((await run(['status'])).code).toBe(1);
  });

  it('is examined by doctor: through the real relay and its platform, as lines and as JSON, with exit code 1 for a failure', async () => {
    await daemon();
    await until('it is connected', async () => (await run(['status'])).stdout.includes('connected'));
    const { code, stdout } = await run(['doctor', '--json']);
    const found = JSON.parse(stdout).findings.map(({ check, state }: { check: string; state: string }) => [
      check,
      state,
    ]);
    expect(found).toContainEqual(['relay', 'ok']);
    expect(found).toContainEqual(['webhook', 'ok']);
    expect(found).toContainEqual(['daemon', 'ok']);
    // The config directory of this file is not private.
    expect(found).toContainEqual(['folders', 'warn']);
    expect(code).toBe(found.some(([, state]: string[]) => state === 'fail') ? 1 : 0);
    const fixed = await run(['doctor', '--fix']);
    expect(fixed.stdout).toMatch(/^repaired {2}folders: .* has mode 700 now$/m);
    expect(fixed.stdout).toMatch(/\n\d+ findings: /);
    expect((await run(['doctor'], { WA_RELAY_URL: 'http://127.0.0.1:9' })).code).toBe(1);
  });

  it('is watched by status in blocks where there is no terminal, and its screen goes on while no daemon runs', async () => {
    const watching = runProgram(['status', '--watch'], { ...env }, project);
    await until('it says that no daemon runs', () => watching.stdout().includes('no daemon answers'));
    await daemon();
    await until('it shows the daemon', () => /\n\nwa-sync {5}\S+, pid /.test(watching.stdout()));
    expect(watching.stdout()).not.toContain('\u001b');
    await watching.kill9();
  });

  it('ends with exit code 0 by Ctrl+C, and can be started again at once', async () => {
    const first = await daemon();
    process.kill(first.pid, 'SIGINT');
    expect((await first.exited).code).toBe(0);
    await daemon();
  });

  it('takes the place of one that was killed: its lock and its socket are no obstacle', async () => {
    const first = await daemon();
    process.kill(first.pid, 'SIGKILL');
    await first.exited;
    expect(await readdir(env.WA_RUNTIME_DIR ?? '')).toEqual(['hook.sock']);
    const second = await daemon();
    expect(JSON.parse((await run(['status', '--json'])).stdout).daemon.pid).toBe(second.pid);
  });

  it('makes a runtime directory that others may enter private', async () => {
    await mkdir(env.WA_RUNTIME_DIR ?? '');
    await chmod(env.WA_RUNTIME_DIR ?? '', 0o777);
    await daemon();
    expect((await stat(env.WA_RUNTIME_DIR ?? '')).mode & 0o777).toBe(0o700);
    expect((await stat(join(env.WA_RUNTIME_DIR ?? '', 'hook.sock'))).mode & 0o777).toBe(0o600);
  });

  it('that a later start of it elsewhere supersedes ends with exit code 3 and says why', async () => {
    const first = await daemon();
    // The same configuration, as on a copied home: another state, another socket, other data, the same name.
    const elsewhere = {
      WA_STATE_DIR: join(dir, 'state2'),
      WA_RUNTIME_DIR: join(dir, 'run2'),
      XDG_DATA_HOME: join(dir, 'data2'),
    };
    await daemon(elsewhere);
    const { code, stderr } = await first.exited;
    expect(code).toBe(3);
    expect(stderr).toMatch(/wa-sync: another start of this daemon took over .*\(superseded\)\n.*wa-sync down/);
  });

  it('warns of a missing folder and of a token that other users can read, and serves the rest', async () => {
    const chat = String(far.sim.ownerId);
    const gone = join(dir, 'gone');
    const bindings = [
      { dir: project, mailbox: chat },
      { dir: gone, mailbox: chat, project: 7 },
    ];
    await config(JSON.stringify({ relay: { url: far.url, token: far.token }, bindings }));
    await chmod(join(env.WA_CONFIG_DIR ?? '', 'config.json'), 0o644);
    const started = await daemon({ WA_RELAY_URL: '', WA_AGENT_TOKEN: '' });
    expect(started.stderr()).toMatch(
      /config\.json holds a token and has mode 644: other users can read it\. Run: chmod 600/,
    );
    expect(started.stderr()).toContain(`${gone} is not a folder: its messages wait until the folder exists`);
    expect(await readdir(dir)).not.toContain('gone');
  });

  it('repeats its log with --verbose, and never shows token or text', async () => {
    const loud = await daemon({}, project, ['start', '--verbose']);
    await far.sim.say('a private text');
    await until('it arrives', () => loud.stderr().includes('received'));
    expect(loud.stderr()).not.toMatch(/private text/);
    expect(loud.stderr() + loud.stdout()).not.toContain(far.token);
  });
});

it('status --json without a daemon is JSON as well, with the exit code of the error', async () => {
  const { code, stdout, stderr } = await run(['status', '--json']);
  expect({ code, stderr: stderr.split('\n').length }).toEqual({ code: 1, stderr: 3 });
  expect(JSON.parse(stdout)).toMatchObject({ daemon: null, error: { code: 'daemon_not_running' } });
});

describe('send', () => {
  it('puts a text, or stdin, into the outbox, and the daemon sends it', async () => {
    await daemon();
    expect(await run(['send', 'Tests pass.'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/; the daemon sends it\n$/),
      stderr: '',
    });
    expect(await run(['send', '-'], {}, project, 'From\nstdin.\n')).toMatchObject({ code: 0, stderr: '' });
    const texts = () => far.sim.messages().map((message) => message.text);
    await until('both are on the phone', () => texts().includes('Tests pass.') && texts().includes('From\nstdin.'));
  });
});

describe('send to a relay that does not answer', () => {
  it('says what the text waits for', async () => {
    await config(JSON.stringify({ bindings: [{ dir: project, mailbox: String(far.sim.ownerId), project: 0 }] }));
    await daemon({ WA_RELAY_URL: 'http://127.0.0.1:9' });
    await until('the daemon knows', async () => (await run(['status'])).stdout.includes('relay_unreachable'));
    expect(await run(['send', 'Tests pass.'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/; the daemon sends it when the relay takes it again \(relay_unreachable\)\n$/),
    });
  });
});

describe('help and version', () => {
  it('is quiet when its reader has read enough', async () => {
    const program = runProgram(['--help'], env, project);
    program.child.stdout?.destroy();
    expect(await program.exited).toMatchObject({ code: 0, stderr: '' });
  });

  it('go to stdout with exit code 0', async () => {
    expect(await run(['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      stderr: '',
    });
    for (const same of ['-v', '-V', 'version']) expect(await run([same])).toEqual(await run(['--version']));
    const help = await run(['--help']);
    for (const heading of ['Every day:', 'Set up:', 'Try it out:', 'Examples:', 'Exit codes:', 'Environment:'])
      expect(help.stdout).toContain(`\n${heading}`);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const command of ['sprint', 'dev', 'hooks', 'start'])
      expect((await run([command, '--help'])).stdout).not.toMatch(/default: (""|false|"\/)/);
    expect((await run(['sprint', '--help'])).stdout).toContain(
      `1 to ${sprintLimits.maxTasks}; ${sprintLimits.defaultTasks} without it`,
    );
    for (const command of ['start', 'status', 'down', 'send', 'hooks', 'dev', 'demo'])
      expect(help.stdout).toContain(`  ${command}`);
  });
});
