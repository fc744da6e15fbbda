// Approvals on the whole path: a real launcher at a gate, the daemon, the relay and the phone. Nothing runs without a yes.

import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isoSeconds } from '../../protocol/files.ts';
import { socketFileName } from '../../protocol/hook.ts';
import { eachGate } from '../helpers/approvals.ts';
import { until, type Workstation } from '../helpers/daemon.ts';
import type { AgentProcess } from '../helpers/launcher.ts';
import type { Scene } from '../helpers/scene.ts';
import type { FarSide } from '../helpers/stack.ts';

let far: FarSide;
let ws: Workstation;
let agent: AgentProcess;
let newAgent: Scene['newAgent'];
const { gate, shell, questions, question, shows, tap, gateFile, exists, policy, audit, switchOn } = eachGate(
  (scene) => {
    ({ far, ws, agent, newAgent } = scene);
  },
);
const denied = (words: string) => ({ decision: 'deny', reason: expect.stringContaining(words) });

describe('a tool call', () => {
  it('runs without a question while approvals are off', async () => {
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
    expect(asked.text).toBe('Run a command?\nnpm run deploy -- --prod\nWaits 30 s, then it is denied.');
    expect(asked.entities).toMatchObject([{ type: 'pre', language: 'bash', length: 24 }]);
    expect(asked.buttons.flat()).toMatchObject(['Approve', 'Deny', 'Always', 'Edit…'].map((label) => ({ label })));
    await tap(asked, 'Approve');
    expect(await answer).toEqual({});
    const told = await shows('✅ Approved.');
    expect([told.messageId, told.buttons]).toEqual([asked.messageId, []]);
    expect(await audit(2)).toMatchObject([
      { kind: 'mode', mode: 'all' },
      {
        kind: 'decision',
        tool: 'run_shell_command',
        verdict: 'approved',
        text: 'npm run deploy -- --prod',
        by: String(far.sim.ownerId),
      },
    ]);
    const call = { tool_name: 'run_shell_command', tool_input: { command: 'npm run deploy -- --prod' } };
    await agent.hook('AfterTool', { ...call, tool_response: { llmContent: '' } });
    const [, decision, ran] = await audit(3);
    expect(ran).toMatchObject({ kind: 'tool', hash: decision?.hash });
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

  it('in which a built-in rule finds something is asked in mode risky, without Always', async () => {
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

  it('runs as the owner edits it, and a later reply of the owner is an ordinary message', async () => {
    const daemon = await ws.start();
    await switchOn();
    const answer = gate('run_shell_command', { command: 'rm -rf build', description: 'clean' });
    await tap(await question('rm -rf build'), 'Edit…');
    const prompt = await shows('Reply to this message');
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

  it('of two identical hook runs is asked once, and both runs get the same answer', async () => {
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
    const second = await newAgent('second');
    const answers = Promise.all([agent.raw('BeforeTool', payload), second.raw('BeforeTool', payload)]);
    const asked = await question('twin');
    const ends = async () =>
      (await readFile('/proc/net/unix', 'utf8')).split(join(ws.runtimeDir, socketFileName)).length - 1;
    await until('both are connected', async () => (await ends()) === 1 + 2);
    await tap(asked, 'Deny');
    const texts = (await answers).map(({ stdout }) => JSON.parse(stdout));
    expect(texts).toEqual([denied('denied'), denied('denied')]);
    expect(questions()).toHaveLength(1);
    await second.kill();
  });

  it('of another session of the project is asked as well', async () => {
    await ws.start();
    await switchOn();
    await agent.turn('Done.');
    const second = await newAgent('second');
    const answer = gate('run_shell_command', { command: 'npm run other' }, second);
    await tap(await question('other'), 'Approve');
    expect(await answer).toEqual({});
    await second.kill();
  });
});

describe('the question', () => {
  it('makes invisible characters visible, marks redacted parts, and keeps head and tail of a long text', async () => {
    await ws.start({ secrets: ['hush-hush-hush-hush'] });
    await switchOn();
    const answer = shell('echo a\u202eb\u200bc hush-hush-hush-hush');
    const first = await question('echo');
    expect(first.text).toContain('echo a⟨U+202E⟩b⟨U+200B⟩c [redacted:own-token, 19 characters]\n🔒');
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

describe('a change between question and tap', () => {
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

  it('denies: a folder on the way leads out of the project now, also for a redirection and after Edit…', async () => {
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
    const prompt = await shows('Reply to this message');
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

  it('is found for a path that a rule put in place of another, too', async () => {
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
  it('denies the calls that wait for an answer', async () => {
    await ws.start();
    await switchOn();
    const answer = shell('npm run stopped');
    await question('npm run stopped');
    await ws.chat.say('/stop');
    expect(await answer).toEqual(denied('STOP'));
    await shows('⛔ Denied by your STOP.');
    expect((await audit(3)).map(({ kind }) => kind)).toEqual(['mode', 'stop', 'decision']);
  });

  it('that another program writes into the inbox file denies the waiting calls, too, and the phone hears why', async () => {
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
