// A session that the daemon runs itself, from the phone through daemon and a scripted ACP agent, and back.

import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isOver } from '../../agent/process.ts';
import { scriptedCommand } from '../helpers/acp/scripted.ts';
import { createWorkstation, runProgram, until, type Workstation } from '../helpers/daemon.ts';
import { startAgent } from '../helpers/launcher.ts';
import { phoneOf } from '../helpers/phone.ts';
import { eachTest } from '../helpers/scene.ts';
import { dist, type FarSide } from '../helpers/stack.ts';
import { temporaryFolder } from '../helpers/surroundings.ts';

let far: FarSide;
let ws: Workstation;
let gates: string;
eachTest((scene) => {
  far = scene.far;
});

const { phone, told, ladder } = phoneOf(() => ws.chat);
const say = (text: string) => ws.chat.say(text);
const log = (event: string) => ws.log.filter((each) => each.event === event);
const childPid = () => Number(log('owned session open').at(-1)?.fields.pid);
const release = (gate: string) => writeFile(join(gates, gate), '');
const count = (text: string) => phone().filter((each) => each === text).length;

beforeEach(async () => {
  const chat = far.nextChat();
  gates = await temporaryFolder();
  ws = await createWorkstation(far, chat, {
    agents: {
      gemini: scriptedCommand(gates, { style: 'gemini', faults: ['none'] }),
      claude: scriptedCommand(gates, { style: 'claude', faults: ['none'] }),
      codex: scriptedCommand(gates, { style: 'codex', faults: ['none'] }),
      mine: scriptedCommand(gates, { faults: ['none'] }),
    },
  });
});
afterEach(async (context) => {
  if (context.task.result?.state === 'fail') console.log(phone(), JSON.stringify(ws.log.slice(-30), null, 1));
  await ws.close();
});

const exists = (name: string) => until(`${name} is there`, () => access(join(ws.project, name)).then(() => true));

/** A session of this agent waits for a prompt. */
async function opened(agent: string): Promise<void> {
  await ws.start();
  await say(`/new ${agent}`);
  await told(/ is ready \(session /);
}

async function tap(question: RegExp, label: string): Promise<{ text: string }> {
  const asked = await until(`the phone is asked ${question}`, () =>
    ws.chat
      .fromBot()
      .find(({ text, buttons }) => question.test(text) && buttons.flat().some((each) => each.label.includes(label))),
  );
  await far.sim.press(
    asked.messageId,
    asked.buttons.flat().find((each) => each.label.includes(label))?.label ?? label,
    ws.chat.id,
  );
  return asked;
}

describe('a new session', () => {
  it('gets the text behind /new as its first prompt, and each message one answer', async () => {
    await ws.start();
    const first = await say('/new claude [[say: Hello there.]]');
    await told(/^A new session of Claude Code starts/);
    await told(/^Hello there\.$/);
    expect(ws.chat.fromBot().find(({ text }) => text === 'Hello there.')?.replyTo).toBe(first);
    await say('[[say: Second answer.]]');
    await told(/^Second answer\.$/);
    await ladder('answered');
    const reactions = () => far.sim.messages(ws.chat.id).find(({ messageId }) => messageId === first)?.reactions;
    await until('the command shows what became of its text', () => reactions()?.includes('👍'));
    expect([count('Hello there.'), count('Second answer.')]).toEqual([1, 1]);
  });

  it('queues a message that comes while a prompt runs, where the agent takes none in between', async () => {
    await opened('gemini');
    await say('[[think: hm]][[wait: go]][[say: First done.]]');
    await ladder('injected');
    await say('[[say: Then the second.]]');
    await until('both are here', async () => (await ws.inbox()).length === 2);
    await release('go');
    await told(/^First done\.$/);
    await told(/^Then the second\.$/);
    await ladder('answered', 2);
  });

  it('puts a message that comes while a prompt runs into that prompt, where the agent takes it', async () => {
    await opened('claude');
    await say('[[think: hm]][[steered]]');
    await ladder('injected');
    await say('and this');
    expect(await told(/^Steered: /)).toContain('and this');
    await ladder('answered', 2);
  });
});

it('an agent whose adapter is still being fetched keeps no other session, and no answer, from the phone', async () => {
  const bin = await temporaryFolder();
  await writeFile(
    join(bin, 'npm'),
    `#!/bin/sh\n: >${bin}/runs; until [ -e ${bin}/go ]; do sleep 0.05; done; exit 1\n`,
    {
      mode: 0o755,
    },
  );
  const scripts = scriptedCommand(gates, { style: 'gemini', faults: ['none'] });
  const slow = await createWorkstation(far, ws.chat, { agents: { claude: '/bin/true', gemini: scripts } });
  const trusted = { projects: { [slow.project]: { hasTrustDialogAccepted: true } } };
  await writeFile(join(slow.root, 'home', '.claude.json'), JSON.stringify(trusted));
  slow.env.PATH = `${bin}:${process.env.PATH}`;
  const trust = { projects: { [slow.project]: { hasTrustDialogAccepted: true } } };
  await writeFile(join(slow.root, 'home', '.claude.json'), JSON.stringify(trust));
  try {
    await slow.runDaemon();
    await say('/new claude');
    await until('npm runs', () => access(join(bin, 'runs')).then(() => true));
    await say('/new gemini [[say: Here already.]]');
    await say('/status');
    await told(/Claude Code|Gemini CLI|gemini|claude/);
    await told(/^Here already\.$/);
    await expect(access(join(bin, 'go'))).rejects.toThrow();
  } finally {
    await writeFile(join(bin, 'go'), '');
    await slow.close();
  }
});

describe('a tool that the agent asks about', () => {
  it('runs after Approve and does not run after Deny, and the turn goes on', async () => {
    await opened('claude');
    await say('[[run: touch yes.txt]][[say: Ran it.]]');
    await tap(/touch yes\.txt/, 'Yes, once');
    await told(/^Ran it\.$/);
    await access(join(ws.project, 'yes.txt'));
    await say('[[run: touch no.txt]][[say: Went on.]]');
    await tap(/touch no\.txt/, 'No');
    await told(/That was refused\. Went on\.|Went on\./);
    await expect(access(join(ws.project, 'no.txt'))).rejects.toThrow();
  });

  it('stands in the audit, and what a policy runs after it runs, also where only config.json knows the agent', async () => {
    const after = { rules: [{ tool: 'execute', after: { run: 'touch after.txt' } }] };
    await writeFile(join(ws.env.WA_CONFIG_DIR ?? '', 'policy.json'), JSON.stringify(after), { mode: 0o600 });
    await opened('mine');
    await say('[[run: touch yes.txt]][[say: Ran it.]]');
    await tap(/touch yes\.txt/, 'Yes, once');
    await told(/^Ran it\.$/);
    await exists('after.txt');
    const tool = expect.objectContaining({ kind: 'tool', tool: 'execute', text: 'touch yes.txt' });
    await until('the tool stands in the audit', async () => {
      const audit = await readFile(join(ws.project, '.gemini', 'wa_audit.jsonl'), 'utf8');
      const lines = audit.split('\n').filter((line) => line !== '');
      expect(lines.map((line) => JSON.parse(line))).toContainEqual(tool);
      return true;
    });
  });

  it('is told why it may not, where a refusal ends the turn', async () => {
    await opened('codex');
    await say('[[run: touch no.txt]]');
    await tap(/touch no\.txt/, 'No');
    await told(/^ok$/);
    await ladder('answered');
    await expect(access(join(ws.project, 'no.txt'))).rejects.toThrow();
  });
});

describe('/cancel and STOP', () => {
  it('end the running prompt, and the next message is answered', async () => {
    await opened('gemini');
    await say('[[think: hm]][[hang]]');
    await ladder('injected');
    await say('/cancel');
    await told(/^The running prompt is cancelled\.$/);
    await told(/^Failed: Cancelled from the phone\.$/);
    // Else the next look takes the first message for the second.
    await ladder('failed');
    await say('[[think: hm]][[hang]] again');
    await ladder('injected');
    await say('/stop');
    await told(/^Stopped after the running turn/);
    await say('[[say: Still here.]]');
    await told(/^Still here\.$/);
    await ladder('failed', 2);
    await ladder('answered');
  });

  it('end a prompt that waits for the owner, as what it was: stopped, not ended by the agent', async () => {
    await opened('claude');
    await say('[[run: touch no.txt]]');
    await until('the phone is asked', () => ws.chat.fromBot().find(({ buttons }) => buttons.length > 0));
    await say('/stop');
    await told(/^The running prompt is cancelled\.$/);
    await told(/^Failed: Cancelled from the phone\.$/);
    await ladder('failed');
    await expect(access(join(ws.project, 'no.txt'))).rejects.toThrow();
  });

  it('end a command that the agent would let run on with its process, and the session goes on', async () => {
    await opened('codex');
    await say('[[run: echo $$ > run.pid; touch begun.txt; sleep 300; touch late.txt]]');
    await tap(/touch late\.txt/, 'Yes, once');
    await exists('begun.txt');
    await say('/cancel');
    await told(/its process is ended and the session opened again/);
    await until('it is open again', () => log('owned session open').length === 2);
    await say('[[say: Same session.]]');
    await told(/^Same session\.$/);
    expect(new Set(log('owned session open').map(({ fields }) => fields.session)).size).toBe(1);
    const pid = Number(await readFile(join(ws.project, 'run.pid'), 'utf8'));
    expect([pid > 0, isOver({ pid, started: '' })]).toEqual([true, true]);
    await expect(access(join(ws.project, 'late.txt'))).rejects.toThrow();
  });
});

describe('when its process is killed', () => {
  it('a prompt that the agent had is told as failed, and the session goes on', async () => {
    await opened('gemini');
    await say('[[think: hm]][[hang]]');
    await ladder('injected');
    process.kill(childPid(), 'SIGKILL');
    await told(/^Failed: The coding agent ended before its turn had an answer/);
    await say('[[say: Back again.]]');
    await told(/^Back again\.$/);
    await ladder('failed');
    await ladder('answered');
  });
});

describe('when the daemon is killed', () => {
  it('the next one ends what it left, tells the turn as failed and answers each message once', async () => {
    const daemon = await ws.runDaemon();
    await say('/new claude');
    await told(/^Claude Code is ready/);
    await say(`[[think: hm]][[child: ${join(ws.root, 'child.pid')}]][[hang]]`);
    await ladder('injected');
    const left = await until('the tool runs', async () => Number(await readFile(join(ws.root, 'child.pid'), 'utf8')));
    await daemon.kill9();
    await ws.runDaemon();
    await told(/^Failed: wa-sync ended while the coding agent worked on this/);
    expect(isOver({ pid: left, started: '' })).toBe(true);
    await say('[[say: After the restart.]]');
    await told(/^After the restart\.$/);
    expect(count('After the restart.')).toBe(1);
    await ladder('failed');
    await ladder('answered');
  });
});

describe('at the desk', () => {
  it('run begins a session, whose prompts have the pictures of the phone, and down during a prompt leaves nothing', async () => {
    const before = await ws.run('run').exited;
    expect([before.code, before.stderr]).toEqual([1, expect.stringContaining('(daemon_not_running)')]);
    const daemon = await ws.runDaemon();
    const run = await runProgram(['run', '--agent', 'claude', '-'], ws.env, ws.project, '[[echo]] from a pipe\n')
      .exited;
    expect(run.stdout).toMatch(
      /^Claude Code is ready \(session [\w-]{8}\); what your phone writes now goes there\.\nYour text waits in the inbox; /,
    );
    await told(/wa-sync connects this session with the owner's phone/);
    await until('its text was read', async () =>
      (await ws.inbox()).some(({ text, read }) => read && /pipe/.test(text)),
    );
    const data = Buffer.from('iVBORw0KGgo=', 'base64');
    const file = { fileName: 'a.png', contentType: 'image/png', data };
    await far.sim.say('[[images]] look', { chatId: ws.chat.id, file, photo: true });
    await told(/^1 image$/);
    await say(`[[think: hm]][[child: ${join(ws.root, 'child.pid')}]][[hang]]`);
    await ladder('injected');
    const left = await until('the tool runs', async () => Number(await readFile(join(ws.root, 'child.pid'), 'utf8')));
    expect((await ws.run('down').exited).code).toBe(0);
    expect((await daemon.exited).code).toBe(0);
    expect(isOver({ pid: left, started: '' })).toBe(true);
    await ws.runDaemon();
    await told(/^Failed: wa-sync was stopped while the coding agent worked on this/);
    await say('[[say: The same session.]]');
    await told(/^The same session\.$/);
  });
});

it('on a German phone wa-sync speaks German around the words of the agent', async () => {
  await ws.start();
  await say('/language_de');
  await told(/^Dieser Chat spricht jetzt Deutsch\.$/);
  await say('/new claude [[say: Guten Tag.]]');
  await told(/^Eine neue Session von Claude Code beginnt\. Erster Prompt: „\[\[say: Guten Tag\.\]\]“$/);
  await told(/^Guten Tag\.$/);
  await say('[[run: touch nein.txt]][[say: Weiter.]]');
  const asked = await tap(/touch nein\.txt/, 'No');
  expect(asked.text).toMatch(/^Befehl ausführen\?/);
  await told(/Weiter\.$/);
  await say('[[notice: Kontingent fast leer]][[error: Dienst überlastet]]');
  await told(/^Fehlgeschlagen: Dienst überlastet/);
  await told(/^Claude Code: Kontingent fast leer$/);
  await say('/mode');
  await told(/^Modus dieser Session von Claude Code:/);
  await say('/new agy');
  await told(/^Antigravity CLI ist auf diesem Rechner nicht installiert\./);
  await say('/end');
  await told(/^Die Session ist beendet/);
  const others = phone().filter((text) => text !== 'That was refused.\n\nWeiter.');
  expect(others.filter((text) => /\b(the|is|are|and|not|your?|was|refused)\b/i.test(text))).toEqual([]);
});

describe('a sprint', () => {
  it('runs its tasks one after the other in the session', async () => {
    await opened('gemini');
    await say('/sprint 2 [[say: step]]');
    await told(/^Task 1 of 2 done:/);
    await told(/^Task 2 of 2 done:/);
    await told(/sprint/i);
  });
});

describe('the handover', () => {
  it('attach lets go and names the command, and /resume opens the session again', async () => {
    await ws.runDaemon();
    await say('/new claude [[say: Remember me.]]');
    await told(/^Remember me\.$/);
    const { stdout, code } = await ws.run('attach').exited;
    expect(code).toBe(0);
    const [, session = ''] = /^claude --resume (\S+)$/m.exec(stdout) ?? [];
    await say('/resume latest');
    await told(new RegExp(`^Claude Code is ready \\(session ${session.slice(0, 8)}\\)`));
    const status = await ws.run('status').exited;
    expect(status.stdout).toMatch(new RegExp(`${session}, run by wa-sync \\(claude, mode default, model small\\)`));
    await say('/status');
    await told(
      /Claude Code, run by wa-sync \(mode default, model small\)|claude, run by wa-sync \(mode default, model small\)/,
    );
    await say('[[say: I do.]]');
    await told(/^I do\.$/);
  });

  it('goes to a terminal that opens the session, and a session of a living terminal is not taken', async () => {
    await opened('claude');
    await say('[[say: Mine.]]');
    await told(/^Mine\.$/);
    const { session } = log('owned session open')[0]?.fields ?? {};
    const terminal = await startAgent({ project: ws.project, env: ws.env, dir: join(ws.root, 'terminal') });
    terminal.session = String(session);
    await terminal.hook('SessionStart', { source: 'resume' });
    await told(/was opened in a terminal, so wa-sync has let go of it/);
    expect(isOver({ pid: childPid(), started: '' })).toBe(true);
    await say('/resume latest');
    await told(new RegExp(`is open in a terminal \\(process ${terminal.pid}\\)`));
    await terminal.hook('BeforeAgent', { prompt: 'typed there' });
    await say('/new claude');
    await told(/^A turn runs in the terminal/);
    await terminal.kill();
    await told(/^Failed: The coding agent ended/);
    await say('/resume latest');
    await until('it is open again', () => log('owned session open').length === 2);
  });
});

it('the installed hooks of its agent say nothing and take nothing: one message is one prompt and one answer', async () => {
  await ws.runDaemon();
  await say('/new gemini');
  await told(/^Gemini CLI is ready/);
  const payload = JSON.stringify({ session_id: 'inner', transcript_path: '', cwd: ws.project, prompt: 'x' });
  await writeFile(join(ws.project, 'payload.json'), payload);
  const hook = `'${join(dist, 'wa-hook')}' gemini BeforeAgent 60x10 now <payload.json >hook.json; echo "$WA_OWNED" >mark`;
  await say(`[[think: hm]][[wait: go]][[run: ${hook}]][[say: Once.]]`);
  await ladder('injected');
  await say('[[say: And then this.]]');
  await until('both are here', async () => (await ws.inbox()).length === 2);
  await release('go');
  await tap(/wa-hook/, 'Yes, once');
  await told(/^And then this\.$/);
  expect(JSON.parse(await readFile(join(ws.project, 'hook.json'), 'utf8'))).toEqual({});
  await access(join(ws.runtimeDir, 'owned', (await readFile(join(ws.project, 'mark'), 'utf8')).trim()));
  expect([count('Once.'), count('And then this.')]).toEqual([1, 1]);
});
