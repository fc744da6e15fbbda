// Large and slow inputs on the whole path: the daemon answers while it works on them, and nothing of a long text is lost.

import { readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askDaemon } from '../../agent/local-client.ts';
import { isoSeconds } from '../../protocol/files.ts';
import { eachGate, type GateAnswer } from '../helpers/approvals.ts';
import { runProgram, until, type Workstation } from '../helpers/daemon.ts';
import type { AgentProcess } from '../helpers/launcher.ts';

let ws: Workstation;
let agent: AgentProcess;
const { shell, shows, policy, switchOn } = eachGate((scene) => {
  ({ ws, agent } = scene);
});

const entry = (text: string) => ({ id: 'resp_1', timestamp: isoSeconds(Date.now()), from: 'agent', text, sent: false });
const phone = () => ws.chat.fromBot().map(({ text }) => text);
/** The relay sends one message a second to a chat, and ten belong to one entry. */
const sendingMs = 120_000;
const allSent = () =>
  until(
    'every entry is marked',
    async () => {
      const entries = await ws.outbox();
      return entries.length > 0 && entries.every(({ sent }) => sent);
    },
    sendingMs,
  );
const threads = async () =>
  ((await askDaemon({ runtime: ws.runtimeDir, state: ws.stateDir }, 'GET', '/status')) as { threads: number }).threads;

/** Nothing known is slow any more, so that the owner's own pattern must be: for ever on `endless`. */
async function slowPattern(): Promise<void> {
  const bindings = [{ dir: ws.project, mailbox: ws.chat.mailbox, project: 0 }];
  const redact = { patterns: [{ name: 'slow', source: 'z(a+)+$' }] };
  await writeFile(join(ws.root, 'config', 'config.json'), JSON.stringify({ bindings, redact }), { mode: 0o600 });
}
const endless = `${'word '.repeat(4_000)} z${'a'.repeat(60)}!`;

describe('while an input is worked on that comes to no end', () => {
  const patient = { judge: 600_000, typeset: 600_000 };

  it('a text: status and a STOP of the phone are answered, and the daemon ends when it is told to', async () => {
    await slowPattern();
    const daemon = await ws.start({ deadlinesMs: patient });
    await ws.foreignWrite(ws.outboxFile, { messages: [entry(endless)] });
    await until('a thread works on it', async () => (await threads()) === 1);
    await ws.chat.say('stop');
    await until('the STOP is answered', () => ws.chat.fromBot().length > 0);
    expect(await threads()).toBe(1);
    expect((await ws.outbox()).map(({ sent }) => sent)).toEqual([false]);
    await daemon.stop();
  });

  it('a call: status and another call are answered', async () => {
    await slowPattern();
    const daemon = await ws.start({ deadlinesMs: patient });
    const waiting = beside('write_file', { file_path: 'a.txt', content: endless });
    await until('a thread works on it', async () => (await threads()) === 1);
    expect((await beside('run_shell_command', { command: 'ls' })).stdout.trim()).toBe('{}');
    expect(await threads()).toBe(1);
    await daemon.stop();
    await waiting;
  });

  const beside = (tool_name: string, tool_input: object) =>
    agent.raw(
      'BeforeTool',
      JSON.stringify({
        session_id: agent.session,
        transcript_path: agent.sessionFile,
        cwd: ws.project,
        hook_event_name: 'BeforeTool',
        timestamp: new Date().toISOString(),
        tool_name,
        tool_input,
      }),
      true,
    );
});

describe('an input that was not done in time', () => {
  const short = { judge: 300, typeset: 300 };

  it('of a text that could not be checked leaves only a word about itself, and the next one comes', async () => {
    await slowPattern();
    await ws.start({ deadlinesMs: { ...short, typeset: 1_000 } });
    await ws.foreignWrite(ws.outboxFile, { messages: [entry(endless), { ...entry('small'), id: 'resp_2' }] });
    await allSent();
    expect(phone()).toEqual([expect.stringContaining('could not be checked for secrets in time'), 'small']);
  });

  it('of a call is denied where a policy may forbid it, also while approvals are off', async () => {
    await slowPattern();
    // A rule that matches denies by itself; this one is only known not to match when all is read.
    await policy({ rules: [{ match: { command: '*docker push*' }, do: 'deny' }] });
    await ws.start({ deadlinesMs: short });
    const answer: GateAnswer = await shell(`npm publish; echo ${endless}`);
    expect(answer).toEqual({ decision: 'deny', reason: expect.stringContaining('too large to be judged in time') });
    expect(await shell('ls')).toEqual({});
  });

  it('of a call that would be asked is denied, because nobody can be shown what would run', async () => {
    await slowPattern();
    await ws.start({ deadlinesMs: short });
    await switchOn('all');
    const answer: GateAnswer = await shell(`echo ${endless}`);
    expect(answer).toEqual({ decision: 'deny', reason: expect.stringContaining('too large to be shown') });
  });

  it('of a call whose arguments nest 20,000 deep is denied where a policy may forbid it, also while approvals are off', async () => {
    await policy({ rules: [{ match: { command: 'npm publish*' }, do: 'deny' }] });
    await ws.start();
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const payload = JSON.stringify({
      session_id: agent.session,
      transcript_path: agent.sessionFile,
      cwd: ws.project,
      hook_event_name: 'BeforeTool',
      timestamp: new Date().toISOString(),
      tool_name: 'run_shell_command',
      tool_input: { command: 'npm publish', deep: 0 },
    }).replace('"deep":0', `"deep":${deep}`);
    expect(JSON.parse((await agent.raw('BeforeTool', payload, true)).stdout)).toMatchObject({ decision: 'deny' });
  });
});

describe('a text that is too long for messages', () => {
  const token = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
  const long = `the key is ${token}\n\n${'A line of a long report, number 1.\n\n'.repeat(2_300)}THE END`;
  const redacted = long.replace(token, '[redacted:github-token]');

  it('of `wa-sync send -` comes with a file that holds all of it, redacted, and says so', async () => {
    await ws.start();
    const sent = await runProgram(['send', '-'], ws.env, ws.project, long).exited;
    expect(sent.code).toBe(0);
    await allSent();
    const file = await until('the file is on the phone', () => ws.chat.fromBot().find(({ document }) => document));
    expect(file.document).toMatchObject({ fileName: 'message.md', bytes: Buffer.byteLength(redacted) });
    const texts = ws.chat.fromBot().filter(({ document }) => !document);
    expect(texts).toHaveLength(10);
    expect(texts[0]?.text).toContain('the key is [redacted:github-token]');
    expect(texts.at(-1)?.text).toContain('the whole text is in the attached file message.md');
  });

  it('is posted when the folder of its file can be written again, and holds up no other', async () => {
    await ws.start();
    const documents = join(ws.stateDir, 'documents');
    await writeFile(documents, 'no folder');
    await ws.foreignWrite(ws.outboxFile, { messages: [entry(long), { ...entry('small'), id: 'resp_2' }] });
    await until('the other one is there', () => phone().includes('small'));
    expect(phone()).toEqual(['small']);
    await rm(documents);
    await allSent();
    await until('the file is on the phone', () => ws.chat.fromBot().find(({ document }) => document));
  });
});

describe('what came with a clone', () => {
  it.each([
    ['tokens that are none', 'xoxb-'],
    ['quotes in quotes', '> - '],
    ['stars', '*'],
  ])('an outbox file of one 300 KB entry of %s: the built daemon starts, and answers', async (_, unit) => {
    await ws.foreignWrite(ws.outboxFile, { messages: [entry(unit.repeat(300_000 / unit.length))] });
    await ws.runDaemon();
    await ws.chat.say('stop');
    await until('the STOP is answered', () => ws.chat.fromBot().length > 0);
    expect(await threads()).toBeLessThanOrEqual(2);
    await allSent();
  });

  it('an outbox file of 8 MB is moved aside at the start, which the phone is told', async () => {
    await ws.foreignWrite(ws.outboxFile, { messages: [entry('xoxb-'.repeat(1_600_000))] });
    await ws.runDaemon();
    await shows('Another program left a malformed wa_outbox.json.');
    expect((await readdir(dirname(ws.outboxFile))).filter((name) => name.includes('.corrupt-'))).toHaveLength(1);
  });
});
