// The built daemon as people run it, and the commands that look at it and send by it: what they print, and their exit codes.

import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runProgram, until } from '../../helpers/daemon.ts';
import type { FarSide } from '../../helpers/stack.ts';
import { eachProgram, type Program } from './program.ts';

let far: FarSide;
let dir: string;
let project: string;
let env: Program['env'];
let config: Program['config'];
const { run, daemon } = eachProgram((program) => {
  ({ far, dir, project, env, config } = program);
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
    expect(await readdir(env.WA_RUNTIME_DIR)).toEqual([]);
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
    expect(await readdir(env.WA_RUNTIME_DIR)).toEqual(['hook.sock']);
    const second = await daemon();
    expect(JSON.parse((await run(['status', '--json'])).stdout).daemon.pid).toBe(second.pid);
  });

  it('makes a runtime directory that others may enter private', async () => {
    await mkdir(env.WA_RUNTIME_DIR);
    await chmod(env.WA_RUNTIME_DIR, 0o777);
    await daemon();
    expect((await stat(env.WA_RUNTIME_DIR)).mode & 0o777).toBe(0o700);
    expect((await stat(join(env.WA_RUNTIME_DIR, 'hook.sock'))).mode & 0o777).toBe(0o600);
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
    await chmod(join(env.WA_CONFIG_DIR, 'config.json'), 0o644);
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
