// Approvals on the whole path: a real launcher at a gate, the daemon, the relay and the phone. Nothing runs without a yes.

import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SimMessage } from '../../agent/dev/telegram-sim/sim.ts';
import { isoSeconds } from '../../protocol/files.ts';
import { createWorkstation, until, type Workstation } from '../helpers/daemon.ts';
import { type AgentProcess, startAgent } from '../helpers/launcher.ts';
import { type FarSide, startFarSide } from '../helpers/stack.ts';

interface GateAnswer {
  decision?: string;
  reason?: string;
  continue?: boolean;
  stopReason?: string;
  hookSpecificOutput?: { tool_input?: Record<string, unknown>; additionalContext?: string };
}

let far: FarSide;
let ws: Workstation;
let agent: AgentProcess;
beforeAll(async () => {
  far = await startFarSide();
});
afterAll(() => far.close());
beforeEach(async () => {
  ws = await createWorkstation(far);
  agent = await startAgent({ project: ws.project, env: ws.env, dir: join(ws.root, 'agent') });
});
afterEach(async () => {
  await agent.kill();
  await ws.close();
});

const gate = (tool_name: string, tool_input: object, from: AgentProcess = agent) =>
  from.hook('BeforeTool', { tool_name, tool_input }) as Promise<GateAnswer>;
const shell = (command: string) => gate('run_shell_command', { command });
const questions = () => ws.chat.fromBot().filter(({ text }) => text.startsWith('Run '));
const question = (part: string) =>
  until(`a question about ${part}`, () => questions().find((each) => each.text.includes(part)));
const shows = (text: string) =>
  until(`the phone shows ${text}`, () => ws.chat.fromBot().find((each) => each.text.includes(text)));
const tap = (message: SimMessage, label: string) => far.sim.press(message.messageId, label, ws.chat.id);
const gateFile = () => join(ws.runtimeDir, 'gate', 'gemini-BeforeTool');
const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );
const policy = (value: object) => writeFile(join(ws.root, 'config', 'policy.json'), JSON.stringify(value));
/** The lines of the audit file, as soon as there are so many; it is written behind what it tells of. */
const audit = (count: number) =>
  until(`${count} lines in the audit file`, async () => {
    const text = await readFile(join(ws.project, '.gemini', 'wa_audit.jsonl'), 'utf8');
    const lines = text.trim().split('\n');
    return lines.length >= count && lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  });

/** Approvals as the phone switches them on. */
async function switchOn(mode: 'risky' | 'all' = 'all'): Promise<void> {
  await ws.chat.say(`/approvals ${mode}`);
  await shows(`Approvals: ${mode}.`);
}

const denied = (words: string) => ({ decision: 'deny', reason: expect.stringContaining(words) });

describe('a tool call', () => {
  it('runs without a word while approvals are off', async () => {
    await ws.start();
    expect(await shell('rm -rf /')).toEqual({});
    expect(questions()).toEqual([]);
    expect(await exists(gateFile())).toBe(false);
  });

  it('waits for the owner, who sees the exact command, and runs when approved', async () => {
    await ws.start();
    await switchOn();
    const answer = shell('npm run deploy -- --prod');
    const asked = await question('npm run deploy');
    expect(asked.text).toBe('Run run_shell_command?\nnpm run deploy -- --prod\nWaits 30 s, then it is denied.');
    expect(asked.entities).toMatchObject([{ type: 'pre', language: 'bash', length: 24 }]);
    expect(asked.buttons.flat()).toMatchObject(['Approve', 'Deny', 'Always', 'Edit…'].map((label) => ({ label })));
    await tap(asked, 'Approve');
    expect(await answer).toEqual({});
    const told = await shows('✅ Approved.');
    expect([told.messageId, told.buttons]).toEqual([asked.messageId, []]);
    expect(await audit(2)).toMatchObject([
      { kind: 'mode', mode: 'all' },
      { kind: 'decision', tool: 'run_shell_command', verdict: 'approved', by: String(far.sim.ownerId) },
    ]);
  });

  it('does not run when denied, and the model reads why', async () => {
    await ws.start();
    await switchOn();
    const answer = shell('npm publish');
    await tap(await question('npm publish'), 'Deny');
    expect(await answer).toEqual(denied('The owner denied this'));
    await shows('❌ Denied.');
  });

  it('is not asked again after Always, byte by byte and in this session only', async () => {
    await ws.start();
    await switchOn();
    const answer = shell('npm test');
    await tap(await question('npm test'), 'Always');
    expect(await answer).toEqual({});
    expect(await shell('npm test')).toEqual({});
    const other = shell('npm test ');
    await tap(await until('a second question', () => questions()[1]), 'Deny');
    expect(await other).toEqual(denied('denied'));
    agent.session = 'another-session';
    const elsewhere = shell('npm test');
    await tap(await until('a third question', () => questions()[2]), 'Deny');
    expect(await elsewhere).toEqual(denied('denied'));
  });

  it('that a built-in rule finds is asked in mode risky, and never offers Always', async () => {
    await ws.start();
    await switchOn('risky');
    expect(await shell('npm test')).toEqual({});
    const answer = shell('git push --force origin main');
    const asked = await question('git push');
    expect(asked.text).toContain('⚠ overwrites or removes what others may have pushed (force-push)');
    expect(asked.buttons.flat()).toMatchObject([{ label: 'Approve' }, { label: 'Deny' }, { label: 'Edit…' }]);
    await tap(asked, 'Deny');
    await answer;
  });

  it('runs as the owner edits it, and another answer of the owner is a message as ever', async () => {
    const daemon = await ws.start();
    await switchOn();
    const answer = gate('run_shell_command', { command: 'rm -rf build', description: 'clean' });
    await tap(await question('rm -rf build'), 'Edit…');
    const prompt = await shows('Answer this message');
    expect(prompt.text).toContain('rm -rf build');
    // A person is slower than the relay, which must have heard of Telegram which message this became.
    await until('the relay knows it', () => JSON.stringify(daemon.status()).includes('"unsent":0'));
    await far.sim.say('rm -rf build/cache', { chatId: ws.chat.id, replyTo: prompt.messageId });
    expect(await answer).toEqual({
      hookSpecificOutput: {
        hookEventName: 'BeforeTool',
        tool_input: { command: 'rm -rf build/cache', description: 'clean' },
      },
    });
    await shows('✏️ Approved as edited:\nrm -rf build/cache');
    await far.sim.say('and now the tests', { chatId: ws.chat.id, replyTo: prompt.messageId });
    await until('the message is in the inbox', async () =>
      (await ws.inbox()).some(({ text }) => text.includes('tests')),
    );
    expect((await ws.inbox()).map(({ text }) => text).join()).not.toContain('build/cache');
  });

  it('that a twin asks too is asked once, and both hear the same', async () => {
    await ws.start();
    await switchOn();
    const payload = JSON.stringify({
      session_id: agent.session,
      transcript_path: agent.sessionFile,
      cwd: ws.project,
      hook_event_name: 'BeforeTool',
      timestamp: new Date().toISOString(),
      tool_name: 'run_shell_command',
      tool_input: { command: 'npm run twin' },
    });
    const second = await startAgent({ project: ws.project, env: ws.env, dir: join(ws.root, 'second') });
    const answers = Promise.all([agent.raw('BeforeTool', payload), second.raw('BeforeTool', payload)]);
    await tap(await question('twin'), 'Deny');
    const texts = (await answers).map(({ stdout }) => JSON.parse(stdout));
    expect(texts).toEqual([denied('denied'), denied('denied')]);
    expect(questions()).toHaveLength(1);
    await second.kill();
  });

  it('of another session of the project is asked as well', async () => {
    await ws.start();
    await switchOn();
    await agent.turn('Done.');
    const second = await startAgent({ project: ws.project, env: ws.env, dir: join(ws.root, 'second') });
    const answer = gate('run_shell_command', { command: 'npm run other' }, second);
    await tap(await question('other'), 'Approve');
    expect(await answer).toEqual({});
    await second.kill();
  });
});

describe('what the owner sees', () => {
  it('shows hidden characters, marks what was redacted, and keeps head and tail of what is long', async () => {
    await ws.start({ secrets: ['hush-hush-hush-hush'] });
    await switchOn();
    const answer = shell('echo a\u202eb\u200bc hush-hush-hush-hush');
    const first = await question('echo');
    expect(first.text).toContain('echo a⟨U+202E⟩b⟨U+200B⟩c [redacted:own-token]');
    await tap(first, 'Deny');
    await answer;
    const content = `one\n${'x'.repeat(6000)}\nlast`;
    const writes = gate('write_file', { file_path: join(ws.project, 'a.txt'), content });
    const second = await question('a.txt');
    expect(second.text).toMatch(/\(new file\)\n\+ one\n\+ xxx.*characters left out.*x\n\+ last\n/s);
    await tap(second, 'Deny');
    await writes;
  });

  it('shows an edit as the lines that change', async () => {
    await ws.start();
    await switchOn();
    const answer = gate('replace', {
      file_path: 'src/a.ts',
      old_string: 'one\ntwo\nthree',
      new_string: 'one\n2\nthree',
    });
    const asked = await question('src/a.ts');
    expect(asked.text).toContain('src/a.ts\n  one\n- two\n+ 2\n  three\n');
    await tap(asked, 'Deny');
    await answer;
  });
});

describe('a fault', () => {
  it('of time denies: nobody answers', async () => {
    let now = Date.now();
    await policy({ timeoutSeconds: 20 });
    await ws.start({ clock: () => now });
    await switchOn();
    const answer = shell('npm run slow');
    const asked = await question('npm run slow');
    now += 21_000;
    expect(await answer).toEqual(denied('did not answer in time'));
    await shows('⌛ Too late, denied');
    // The late tap finds no button; one that was on its way is told.
    expect(await far.sim.press(asked.messageId, 'Approve', ws.chat.id).catch(() => 'no button')).toBe('no button');
  });

  it('of the relay denies: the phone cannot be reached', async () => {
    let now = Date.now();
    await ws.start({ clock: () => now });
    await switchOn();
    await far.killRelay();
    try {
      const answer = shell('npm run unheard');
      await until('it was asked', async () =>
        (await readFile(join(ws.stateDir, 'journal.jsonl'), 'utf8')).includes('"asked"'),
      );
      now += 31_000;
      expect(await answer).toEqual(denied('did not answer in time'));
    } finally {
      await far.startRelay();
    }
  });

  it('of the daemon denies: it is killed while it asks, and the next one says so', async () => {
    const daemon = ws.run('start');
    await until('the daemon is up', () => daemon.stdout().includes('is running'));
    await switchOn();
    const answer = shell('npm run killed');
    const asked = await question('npm run killed');
    daemon.child.kill('SIGKILL');
    expect(await answer).toEqual(denied('nobody could approve this'));
    expect(await shell('npm run later')).toEqual(denied('nobody could approve this'));
    await ws.start();
    const told = await shows('⚠ Too late, denied: the daemon ended while this waited.');
    expect(told.messageId).toBe(asked.messageId);
    expect(questions()).toHaveLength(1);
  });

  it('of daemon and Node denies by the gate file, which goes when approvals are switched off', async () => {
    const daemon = ws.run('start');
    await until('the daemon is up', () => daemon.stdout().includes('is running'));
    await switchOn();
    expect(JSON.parse(await readFile(gateFile(), 'utf8'))).toEqual(denied('nobody could approve this'));
    expect((await stat(gateFile())).mode & 0o777).toBe(0o600);
    await ws.chat.say('/approvals off');
    await shows('Approvals are off');
    expect(await exists(gateFile())).toBe(false);
    daemon.child.kill('SIGKILL');
    await daemon.exited;
    expect(await shell('npm test')).toEqual({});
  });

  it('of the state directory, which is deleted, opens nothing: what the phone has set holds without it', async () => {
    const { stop } = await ws.start();
    await switchOn('risky');
    await stop();
    await rm(ws.stateDir, { recursive: true });
    expect(await shell('git push --force origin main')).toEqual(denied('nobody could approve this'));
    // Long after the phone has said it, so that the relay does not say it again.
    await far.pass(3_600_000);
    await ws.start();
    const answer = shell('git push --force origin main');
    await tap(await question('git push'), 'Deny');
    expect(await answer).toEqual(denied('The owner denied this'));
    await ws.chat.say('/approvals off');
    await shows('Approvals are off');
    expect(await shell('git push --force origin main')).toEqual({});
  });

  it('of the host withdraws: the hook that asked is gone, and a tap approves nothing', async () => {
    await ws.start();
    await switchOn();
    const answer = shell('npm run gone').catch(() => 'killed');
    const asked = await question('npm run gone');
    await agent.kill();
    expect(await answer).toBe('killed');
    await tap(asked, 'Approve').catch(() => {});
    await shows('▫️ Too late, denied');
    expect(await audit(2)).toMatchObject([{ kind: 'mode' }, { kind: 'decision', verdict: 'withdrawn' }]);
  });

  it('of the phone approves nothing twice: the second tap hears what the first decided', async () => {
    await ws.start();
    await switchOn();
    const answer = shell('npm run double');
    const asked = await question('npm run double');
    await Promise.all([tap(asked, 'Deny'), tap(asked, 'Approve')]);
    const { decision } = await answer;
    await shows('This was decided before');
    const [, first] = await audit(2);
    expect([first?.verdict, decision]).toEqual(decision === 'deny' ? ['denied', 'deny'] : ['approved', undefined]);
    expect(await audit(2)).toHaveLength(2);
  });

  it('of the person denies: a stranger, whom the relay lets in but the policy does not, decides nothing', async () => {
    await policy({ approvers: ['4242'] });
    await ws.start();
    await switchOn();
    const answer = shell('npm run stranger');
    await tap(await question('npm run stranger'), 'Approve');
    await shows('Only the owner can answer this. Nothing was approved.');
    await policy({});
    await tap(await question('npm run stranger'), 'Deny');
    expect(await answer).toEqual(denied('The owner denied this'));
  });

  it('of the payload denies: what nobody can read does not run', async () => {
    await ws.start();
    await switchOn();
    const { stdout } = await agent.raw('BeforeTool', '{"tool_name":"run_shell_command","tool_inp');
    expect(JSON.parse(stdout)).toEqual(denied('nobody could approve'));
  });

  it('of a policy asks for everything', async () => {
    await ws.start();
    await switchOn('risky');
    await writeFile(join(ws.root, 'config', 'policy.json'), '{ "rules": [');
    const answer = shell('ls');
    const asked = await question('policy.json is no JSON');
    await tap(asked, 'Deny');
    expect(await answer).toEqual(denied('denied'));
  });

  it.skipIf(process.getuid?.() === 0)('of the disk denies: what cannot be journalled is not asked', async () => {
    await ws.start();
    await switchOn();
    await chmod(ws.stateDir, 0o500);
    expect(await shell('ls')).toEqual(denied('could not ask'));
    await chmod(ws.stateDir, 0o700);
  });
});

describe('what changes between question and tap', () => {
  const write = (path: string) => gate('write_file', { file_path: join(ws.project, path), content: 'x' });
  /** The name becomes a link while the owner reads. */
  const link = async (name: string, target: string) => {
    await rm(join(ws.project, name), { force: true });
    await symlink(target, join(ws.project, name));
  };
  const refused = (words: string) =>
    denied(`Denied although the owner said yes, because this changed after the question: ${words}`);

  it('denies: the path leads to a secret file now, and the phone says where', async () => {
    await writeFile(join(ws.project, '.env'), 'KEY=1');
    await ws.start();
    await switchOn();
    const answer = write('notes.txt');
    const asked = await question('notes.txt');
    await link('notes.txt', join(ws.project, '.env'));
    await tap(asked, 'Approve');
    const path = join(ws.project, 'notes.txt');
    const change = `${path} led to ${path} and leads to ${join(ws.project, '.env')} now`;
    expect(await answer).toEqual(refused(change));
    const told = await shows('⚠ Denied, because this changed after you were asked:');
    expect([told.messageId, told.text.endsWith(`\n${change}`)]).toEqual([asked.messageId, true]);
    expect(await audit(2)).toMatchObject([{ kind: 'mode' }, { kind: 'decision', verdict: 'changed' }]);
  });

  it('denies: a folder on the way leads out of the project now, for a redirection as well, and Edit… is no way around', async () => {
    await mkdir(join(ws.root, 'outside'));
    await mkdir(join(ws.project, 'logs'));
    await ws.start();
    await switchOn();
    const answer = shell('npm test > logs/out.txt');
    const asked = await question('npm test');
    await rm(join(ws.project, 'logs'), { recursive: true });
    await link('logs', join(ws.root, 'outside'));
    await tap(asked, 'Always');
    expect(await answer).toEqual(refused('logs/out.txt led to'));
    const second = gate('run_shell_command', { command: 'npm run build', dir_path: 'logs' });
    await tap(await question('npm run build'), 'Edit…');
    const prompt = await shows('Answer this message');
    await until(
      'the relay knows it',
      async () => JSON.parse((await ws.run('status', '--json').exited).stdout).daemon.projects[0].unsent === 0,
    );
    await link('logs', ws.stateDir);
    await far.sim.say('npm run lint', { chatId: ws.chat.id, replyTo: prompt.messageId });
    expect(await second).toEqual(refused('logs led to'));
  });

  it('asks again after Always, when the same words lead elsewhere', async () => {
    await ws.start();
    await switchOn();
    const answer = write('a.txt');
    await tap(await question('a.txt'), 'Always');
    expect(await answer).toEqual({});
    await writeFile(join(ws.project, 'a.txt'), 'x');
    expect(await write('a.txt')).toEqual({});
    await link('a.txt', join(ws.root, 'elsewhere.txt'));
    const again = write('a.txt');
    await tap(await until('a second question', () => questions()[1]), 'Deny');
    expect(await again).toEqual(denied('The owner denied this'));
  });

  it('denies: the policy forbids it now', async () => {
    await ws.start();
    await switchOn();
    const answer = shell('npm run release');
    const asked = await question('npm run release');
    await policy({ rules: [{ match: { command: 'npm run release' }, do: 'deny', reason: 'frozen' }] });
    await tap(asked, 'Approve');
    expect(await answer).toEqual(refused('a policy forbids it now: frozen'));
  });

  it('is looked at for the path that a rule put in place of another, too', async () => {
    await policy({ rules: [{ match: { file_path: 'a.txt' }, do: 'rewrite', set: { file_path: 'b.txt' } }] });
    await writeFile(join(ws.project, '.env'), '');
    await link('b.txt', '.env');
    await ws.start();
    await switchOn('risky');
    const answer = gate('write_file', { file_path: 'a.txt', content: 'x' });
    await tap(await question('secret-file'), 'Deny');
    expect(await answer).toEqual(denied('denied'));
  });
});

describe('STOP', () => {
  it('denies what waits for an answer', async () => {
    await ws.start();
    await switchOn();
    const answer = shell('npm run stopped');
    await question('npm run stopped');
    await ws.chat.say('/stop');
    expect(await answer).toEqual(denied('STOP'));
    await shows('⛔ Denied by your STOP.');
    expect((await audit(3)).map(({ kind }) => kind)).toEqual(['mode', 'stop', 'decision']);
  });

  it('that another program writes into the inbox file denies what waits, too, and the phone hears why', async () => {
    await ws.start();
    await switchOn();
    await agent.hook('BeforeAgent', { prompt: 'deploy' });
    const answer = agent.held('BeforeTool', {
      tool_name: 'run_shell_command',
      tool_input: { command: 'npm run filed' },
    });
    const asked = await question('npm run filed');
    const stop = { id: 'stop_x', timestamp: isoSeconds(Date.now()), from: 'user', text: 'stop', control: 'stop' };
    await ws.foreignWrite(ws.inboxFile, { messages: [{ ...stop, read: false }] });
    expect(await answer).toEqual(denied('Another program wrote a STOP'));
    const told = await shows('⛔ Denied: another program wrote a STOP into the inbox file.');
    expect([told.messageId, told.buttons]).toEqual([asked.messageId, []]);
    expect(await audit(3)).toMatchObject([
      { kind: 'mode' },
      { kind: 'stop', what: 'stop', id: 'stop_x', by: 'another program' },
      { kind: 'decision', verdict: 'stoppedInFile' },
    ]);
    // It stands open until the turn ends; what is asked meanwhile waits as ever.
    const later = agent.held('BeforeTool', { tool_name: 'run_shell_command', tool_input: { command: 'git status' } });
    await tap(await question('git status'), 'Approve');
    expect(await later).toEqual({});
  });
});

describe('a policy', () => {
  it('denies, stops and rewrites without the phone, also while approvals are off', async () => {
    await policy({
      rules: [
        { match: { command: 'npm publish*' }, do: 'deny', reason: 'releases are made by CI' },
        { match: { command: 'shutdown*' }, do: 'stop' },
        { match: { command: 'npm install*' }, do: 'rewrite', set: { command: 'npm ci' } },
      ],
    });
    await ws.start();
    expect(await shell('npm publish')).toEqual(denied('releases are made by CI'));
    expect(await shell('shutdown now')).toEqual({ continue: false, stopReason: expect.stringContaining('policy') });
    expect((await shell('npm install left-pad')).hookSpecificOutput?.tool_input).toEqual({ command: 'npm ci' });
  });

  it('of the project tightens and cannot allow', async () => {
    await mkdir(join(ws.project, '.gemini'), { recursive: true });
    const file = join(ws.project, '.gemini', 'wa_policy.json');
    await writeFile(file, JSON.stringify({ rules: [{ tool: 'run_shell_command', do: 'deny' }] }));
    await ws.start();
    expect(await shell('ls')).toEqual(denied("the project's policy"));
    await writeFile(file, JSON.stringify({ rules: [{ do: 'allow' }] }));
    await switchOn('risky');
    const answer = shell('ls');
    await tap(await question('wa_policy.json'), 'Deny');
    await answer;
    await rm(file);
    expect(await shell('ls')).toEqual({});
  });

  it('makes a checkpoint of the working tree and tells its ref', async () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
        cwd: ws.project,
        encoding: 'utf8',
      });
    git('init', '-q');
    git('config', 'user.name', 't');
    git('config', 'user.email', 't@example.org');
    await writeFile(join(ws.project, 'a.txt'), 'committed');
    git('add', 'a.txt');
    git('commit', '-qm', 'first');
    await writeFile(join(ws.project, 'a.txt'), 'changed');
    await policy({ rules: [{ match: { command: 'make *' }, checkpoint: true }] });
    await ws.start();
    expect(await shell('make clean')).toEqual({});
    const told = await shows('Checkpoint before run_shell_command: refs/wa-sync/');
    const ref = /refs\/wa-sync\/\S+/.exec(told.text)?.[0] ?? '';
    expect(git('show', `${ref}:a.txt`)).toBe('changed');
    expect(await readFile(join(ws.project, 'a.txt'), 'utf8')).toBe('changed');
  });

  it('stops at the budget of the day and goes on when the owner allows as much again', async () => {
    await policy({ budgets: { turns: 1 } });
    await ws.start();
    await agent.turn('One.');
    expect(await agent.hook('BeforeAgent', { prompt: 'two' })).toEqual(denied('1 turns'));
    await tap(await shows("Today's budget is used up: 1 turns"), 'As much again today');
    await shows('As much again for today.');
    expect(await agent.hook('BeforeAgent', { prompt: 'two' })).toEqual({});
  });

  it('and what it did are shown by the command line, which changes nothing', async () => {
    const daemon = ws.run('start');
    await until('the daemon is up', () => daemon.stdout().includes('is running'));
    await switchOn('risky');
    const answer = shell('git push --force');
    await question('git push');
    expect((await ws.run('approvals').exited).stdout).toBe(
      `${ws.project}\n  Approvals: risky. What may destroy, leak or loosen something is asked; a tool waits for your answer, and no answer is a no.\n  1 question waits on the phone.\nChange it on the phone: /approvals off, risky or all.\n`,
    );
    await tap(await question('git push'), 'Deny');
    await answer;
    await audit(2);
    const shown = (await ws.run('audit', '--since', '1h').exited).stdout.trim().split('\n');
    expect(shown.map((line) => line.replace(/^\S+ +/, ''))).toEqual([
      'mode      risky',
      expect.stringMatching(/^decision {2}run_shell_command {2}denied {2}by \d+ {2}\(overwrites .* \(force-push\)\)$/),
    ]);
    expect((await ws.run('audit', '--since', 'soon').exited).stderr).toContain('(bad_arguments)');
  });

  it('opens only the tools that it lists', async () => {
    await policy({ tools: { only: ['read_*'] } });
    await ws.start();
    expect(await gate('read_file', { file_path: 'a' })).toEqual({});
    expect(await shell('ls')).toEqual(denied('only these tools are open now: read_*'));
  });
});
