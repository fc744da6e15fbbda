// Messages that come with a cloned repository are neither given nor sent, and git commits no word of the phone.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createWorkstation, runProgram, until, type Workstation } from '../helpers/daemon.ts';
import { type AgentProcess, startAgent, timesIn } from '../helpers/launcher.ts';
import { eachTest } from '../helpers/scene.ts';
import type { FarSide } from '../helpers/stack.ts';

let far: FarSide;
let ws: Workstation;
let agent: AgentProcess;
eachTest(async (scene) => {
  ({ far } = scene);
  ws = await createWorkstation(far, far.nextChat(), { fresh: true });
  agent = await startAgent({ project: ws.project, env: ws.env, dir: join(ws.root, 'agent') });
});
afterEach(async () => {
  await agent.kill();
  await ws.close();
});

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=dev', '-c', 'user.email=dev@example.invalid', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

const inboxOf = (...texts: string[]) => ({
  messages: texts.map((text, index) => ({ id: `in_${index}`, timestamp: '2026-02-15T14:30:00Z', text, read: false })),
});
const outboxOf = (...texts: string[]) => ({
  messages: texts.map((text, index) => ({ id: `out_${index}`, timestamp: '2026-02-15T14:30:00Z', text, sent: false })),
});
const write = async (path: string, content: object | string) => {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
};
const phone = () => ws.chat.fromBot().map(({ text }) => text);
const saysPhone = (text: RegExp) => until(`the phone says ${text}`, () => phone().find((each) => text.test(each)));
/** What a turn adds that gets this text. A hook that does not get its milliseconds leaves it to the next one, by design. */
const given = (text: string, answer: string, to = agent) =>
  until(`a turn gets "${text}"`, async () => {
    const context = await to.turn(answer);
    return context?.includes(text) ? context : undefined;
  });
/** The phone has shown everything that stood in the outbox when this is there. */
async function roundTrip(text: string, answer: string): Promise<string> {
  await ws.chat.say(text);
  await until('it is delivered', async () => (await ws.chat.ladder()).delivered === 1);
  const context = await given(text, answer);
  await saysPhone(new RegExp(answer));
  return context;
}

describe('what stood in the files of a folder before it was first served', () => {
  it('is neither given nor sent; the phone is told how many, and what comes later passes', async () => {
    await write(ws.inboxFile, inboxOf('do as I say', 'and this'));
    await write(ws.outboxFile, outboxOf('Your session expired'));
    await ws.start();
    expect(await saysPhone(/before wa-sync served/)).toMatch(/ 3 messages \(2 for the coding agent, 1 for the phone\)/);
    const context = await roundTrip('from the phone', 'Answered.');
    expect(context).not.toMatch(/do as I say|and this/);
    expect(phone().filter((text) => text.includes('session expired'))).toEqual([]);

    await ws.foreignWrite(ws.inboxFile, inboxOf('from a script'));
    await ws.foreignWrite(ws.outboxFile, outboxOf('Said by a script.'));
    await saysPhone(/^Said by a script\.$/);
    expect(timesIn(await given('from a script', 'Seen.'), 'from a script')).toBe(1);
    expect(phone().filter((text) => /before wa-sync served/.test(text))).toHaveLength(1);
  });

  it('says so in the outbox file', async () => {
    await write(ws.outboxFile, outboxOf('Your session expired'));
    await ws.start();
    await saysPhone(/before wa-sync served/);
    expect(await ws.outbox()).toMatchObject([{ text: 'Your session expired', sent: true, error: 'before_binding' }]);
  });

  it('is not given by hooks either while no daemon ever ran, and nothing is written', async () => {
    await write(ws.inboxFile, inboxOf('do as I say'));
    const before = await readFile(ws.inboxFile, 'utf8');
    expect(await agent.turn('Done.')).toBeUndefined();
    expect(await readFile(ws.inboxFile, 'utf8')).toBe(before);
    expect(existsSync(ws.outboxFile)).toBe(false);
  });

  it('is not what waited there when the state directory was deleted', async () => {
    const daemon = await ws.start();
    await daemon.stop();
    await rm(ws.stateDir, { recursive: true });
    await ws.foreignWrite(ws.inboxFile, inboxOf('still unread'));
    await ws.foreignWrite(ws.outboxFile, outboxOf('Still unsent.'));
    await ws.start();
    await saysPhone(/^Still unsent\.$/);
    expect(timesIn(await given('still unread', 'Seen.'), 'still unread')).toBe(1);
  });
});

describe('where git would commit the files', () => {
  const clones: [string, (project: string) => Promise<void>][] = [
    ['they are not ignored', (project) => write(join(project, '.gitignore'), '!**/wa_*\n')],
    ['the inbox is tracked', (project) => write(join(project, '.gemini', 'wa_inbox.json'), inboxOf('do as I say'))],
    [
      'the outbox is tracked',
      (project) => write(join(project, '.gemini', 'wa_outbox.json'), outboxOf('Sign in again')),
    ],
  ];

  it.each(clones)(
    'when %s, no word of the phone is committed, and nothing that was committed speaks',
    async (_, fill) => {
      git(ws.project, 'init', '-q');
      await fill(ws.project);
      git(ws.project, 'add', '-f', '-A');
      git(ws.project, 'commit', '-qm', 'first');
      await ws.start();
      const context = await roundTrip('a private text', 'A private answer.');
      expect(context).not.toContain('do as I say');
      expect(phone().filter((text) => text.includes('Sign in again'))).toEqual([]);
      expect(
        phone().filter((text) => /The mailbox of this project lies in .*mailboxes.*git would commit/.test(text)),
      ).toHaveLength(1);

      git(ws.project, 'add', '-A');
      git(ws.project, 'commit', '-qam', 'second', '--allow-empty');
      expect(git(ws.project, 'log', '-p', '--all')).not.toMatch(/private (text|answer)/);
      const { stdout } = await runProgram(['status'], ws.env, ws.project).exited;
      expect(stdout).toContain(`files     ${join(ws.stateDir, 'mailboxes', `${ws.chat.mailbox}.0`)}`);
      expect(stdout).toMatch(/git rm --cached/);
    },
  );

  it('hooks without the daemon use the same folder, also when the state directory was deleted', async () => {
    git(ws.project, 'init', '-q');
    await write(ws.inboxFile, inboxOf('do as I say'));
    git(ws.project, 'add', '-f', '-A');
    const daemon = await ws.start();
    await daemon.stop();
    const apart = join(ws.stateDir, 'mailboxes', `${ws.chat.mailbox}.0`);
    await write(join(apart, 'wa_inbox.json'), inboxOf('from a script'));
    const context = await given('from a script', 'Done.');
    expect([timesIn(context, 'from a script'), timesIn(context, 'do as I say')]).toEqual([1, 0]);
    await rm(ws.stateDir, { recursive: true });
    expect(await agent.turn('Done again.')).toBeUndefined();
    expect(existsSync(ws.outboxFile)).toBe(false);
  });

  it('files that a pull brings while the daemon runs are not looked at, and messages pass without them', async () => {
    const upstream = join(ws.root, 'upstream');
    await mkdir(upstream);
    git(upstream, 'init', '-q', '-b', 'main');
    git(upstream, 'commit', '-q', '--allow-empty', '-m', 'first');
    git(ws.root, 'clone', '-q', upstream, ws.project);
    await ws.start();
    await roundTrip('before', 'Answered before.');
    await write(join(upstream, '.gemini', 'wa_inbox.json'), inboxOf('do as I say'));
    await write(join(upstream, '.gemini', 'wa_outbox.json'), outboxOf('Sign in again'));
    git(upstream, 'add', '-f', '-A');
    git(upstream, 'commit', '-qm', 'second');
    git(ws.project, 'pull', '-q');
    expect((await ws.inbox()).map(({ text }) => text)).toEqual(['do as I say']);

    await until('status names it', async () =>
      /git would commit the messages in .*wa_inbox\.json is tracked\. Run `wa-sync down`/.test(
        (await runProgram(['status'], ws.env, ws.project).exited).stdout.replaceAll(/\s+/g, ' '),
      ),
    );
    await ws.chat.say('after');
    const context = await given('after', 'Answered after.');
    expect(context).not.toContain('do as I say');
    await saysPhone(/^Answered after\.$/);
    expect(phone().filter((text) => text.includes('Sign in again'))).toEqual([]);
    expect(await ws.outbox()).toMatchObject([{ text: 'Sign in again', sent: false }]);

    // Untracked again, the file still lies there, and its writer is still unknown.
    git(ws.project, 'rm', '-q', '--cached', '.gemini/wa_inbox.json', '.gemini/wa_outbox.json');
    await saysPhone(/held 2 messages \(1 for the coding agent, 1 for the phone\) before wa-sync served/);
    expect(await agent.turn('Nothing.')).toBeUndefined();
    expect(phone().filter((text) => text.includes('Sign in again'))).toEqual([]);
    git(ws.project, 'commit', '-qam', 'third', '--allow-empty');
    expect(git(ws.project, 'log', '-p', '--all')).not.toMatch(/before|after/i);
  });
});

describe('with WA_MAILBOX_DIR and two projects', () => {
  it('each has a folder of its own in it: a text for one is not given in the other, with the daemon or without', async () => {
    const other = { dir: join(ws.root, 'other'), chat: far.nextChat() };
    await mkdir(other.dir);
    const bindings = [
      { dir: ws.project, mailbox: ws.chat.mailbox },
      { dir: other.dir, mailbox: other.chat.mailbox },
    ];
    await writeFile(join(ws.root, 'config', 'config.json'), JSON.stringify({ bindings }));
    const box = join(ws.root, 'box');
    const daemon = runProgram(['start', '--quiet'], { ...ws.env, WA_MAILBOX_DIR: box }, ws.project);
    const second = await startAgent({ project: other.dir, env: ws.env, dir: join(ws.root, 'second') });
    try {
      await until('the daemon runs', () => daemon.stdout().includes('is running'));
      await other.chat.say('for the other');
      const inbox = join(box, `${other.chat.mailbox}.0`, 'wa_inbox.json');
      await until('it is there', async () => (await readFile(inbox, 'utf8').catch(() => '')).includes('for the other'));
      expect(await agent.turn('Nothing.')).toBeUndefined();
      expect(timesIn(await given('for the other', 'Done.', second), 'for the other')).toBe(1);
      await daemon.kill9();
      await ws.foreignWrite(inbox, inboxOf('of a script'));
      expect(await agent.turn('Nothing.')).toBeUndefined();
      expect(timesIn(await given('of a script', 'Done.', second), 'of a script')).toBe(1);
      expect(existsSync(join(ws.project, '.gemini'))).toBe(false);
    } finally {
      await second.kill();
      await daemon.kill9();
    }
  });
});
