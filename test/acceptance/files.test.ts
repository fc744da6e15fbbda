// The promises about the two files: they stay small whatever flows through them, and whatever is done to them nothing is lost.

import { watch } from 'node:fs';
import { chmod, mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acquireLock } from '../../agent/fs/lock.ts';
import { fileLimits } from '../../protocol/limits.ts';
import { until } from '../helpers/daemon.ts';
import { type AgentProcess, timesIn } from '../helpers/launcher.ts';
import { eachTest, type Scene } from '../helpers/scene.ts';

let scene: Scene;
let agent: AgentProcess;
eachTest(async (given) => {
  scene = given;
  agent = await scene.newAgent();
});

const phone = () => scene.ws.chat.fromBot().map(({ text }) => text);

interface Extent {
  entries: number;
  bytes: number;
}

async function extentOf(path: string): Promise<Extent> {
  const content = await readFile(path).catch(() => Buffer.from('{"messages":[]}'));
  return { entries: JSON.parse(content.toString('utf8')).messages.length, bytes: content.length };
}

const mostOf = (extents: readonly Extent[]): Extent => ({
  entries: Math.max(...extents.map(({ entries }) => entries)),
  bytes: Math.max(...extents.map(({ bytes }) => bytes)),
});

it('the files hold at most 100 entries and 50 KB, hooks alone add one entry a turn, and nothing is lost', {
  timeout: 300_000,
}, async ({ annotate }) => {
  const { ws } = scene;
  const seen: Promise<Extent>[] = [];
  const look = () => seen.push(extentOf(ws.inboxFile), extentOf(ws.outboxFile));
  await mkdir(dirname(ws.inboxFile), { mode: 0o700 });
  const watcher = watch(dirname(ws.inboxFile), look);
  try {
    // Together more than twice what one file may hold, in entries and in bytes.
    const short = Array.from({ length: 110 }, (_, index) => `short ${index}`);
    const long = Array.from({ length: 30 }, (_, index) => `long ${index} ${'é'.repeat(1_500)}`);
    const given: string[] = [];
    const answers: string[] = [];
    /** A turn with all that follow it, as a host goes on with the prompts that it is given. */
    const work = async () => {
      for (let prompt: string | undefined = 'go on'; prompt !== undefined; ) {
        const { additionalContext = '' } = await agent.hook('BeforeAgent', { prompt });
        given.push(prompt, additionalContext);
        await agent.record('user', [{ text: prompt }, { text: `<hook_context>${additionalContext}</hook_context>` }]);
        const answer = `Answer ${answers.length} ${'ü'.repeat(480)}`;
        answers.push(answer);
        await agent.record('gemini', answer);
        const end = await agent.hook('AfterAgent', { prompt, prompt_response: answer });
        prompt = end.decision === 'block' ? end.reason : undefined;
        look();
      }
    };
    for (const text of [...short, ...long]) await ws.chat.say(text);
    const first = await ws.start();
    await until('the window is full', async () => (await ws.inbox()).length === fileLimits.entries);
    // The phone takes twenty messages a minute in a group: the rest waits on the workstation.
    while (answers.length < 60) await work();
    await first.stop();
    const withDaemon = mostOf(await Promise.all(seen.splice(0)));
    const before = answers.length;
    while (answers.length < 75) await work();
    const alone = mostOf(await Promise.all(seen.splice(0)));
    await ws.start();
    const journal = () => readFile(join(ws.stateDir, 'journal.jsonl'), 'utf8');
    await until('each answer is on the phone, or on the way in the journal', async () => {
      const kept = await journal();
      return answers.every((answer) => kept.includes(answer) || phone().includes(answer));
    });
    look();

    const all = given.join('\n');
    expect([...short, ...long].filter((text) => timesIn(all, text) !== 1)).toEqual([]);
    const shown = phone().filter((text) => text.startsWith('Answer'));
    expect(shown).toEqual(answers.slice(0, shown.length));
    await annotate(`at most ${withDaemon.entries} entries, ${withDaemon.bytes} bytes; ${alone.entries} by hooks alone`);
    expect(withDaemon.entries).toBeLessThanOrEqual(fileLimits.entries);
    expect(withDaemon.bytes).toBeLessThanOrEqual(fileLimits.windowBytes);
    expect(alone.entries).toBeLessThanOrEqual(withDaemon.entries + answers.length - before);
    // The phone takes one message a second, and each makes room for itself alone.
    await until(
      'the files are within their limits again',
      async () => {
        const { entries, bytes } = mostOf([await extentOf(ws.inboxFile), await extentOf(ws.outboxFile)]);
        return entries <= fileLimits.entries && bytes <= fileLimits.windowBytes;
      },
      120_000,
    );
  } finally {
    watcher.close();
  }
});

describe('a turn runs and nothing is lost, with the daemon and without it, when inbox and outbox', () => {
  /** Done to each file before a turn; `undo` as the person who repairs it. */
  interface Damage {
    done: (path: string) => Promise<unknown>;
    undo?: (path: string) => Promise<unknown>;
  }
  const remove = (path: string) => rm(path, { recursive: true, force: true });
  const locks: { release(): Promise<void> }[] = [];
  const damages: Record<string, Damage> = {
    'are missing': { done: remove },
    'are empty': { done: (path) => scene.ws.foreignWrite(path, '') },
    'are malformed': { done: (path) => scene.ws.foreignWrite(path, '{"messages":[{"id":') },
    'hold another JSON': { done: (path) => scene.ws.foreignWrite(path, '["messages"]') },
    'are folders': {
      done: async (path) => {
        await remove(path);
        await mkdir(path);
      },
      undo: remove,
    },
    'are locked by another program': {
      done: async (path) => locks.push(await acquireLock(path, { timeoutMs: 5_000, short: false })),
      undo: async () => locks.pop()?.release(),
    },
  };
  if (process.getuid?.() !== 0) {
    damages['may not be written'] = {
      done: (path) => chmod(dirname(path), 0o500),
      undo: (path) => chmod(dirname(path), 0o700),
    };
  }
  const cases = Object.entries(damages).flatMap(([name, damage]) =>
    [true, false].map((withDaemon) => ({
      name: `${name}${withDaemon ? '' : ', and the daemon is down'}`,
      damage,
      withDaemon,
    })),
  );

  it.each(cases)('$name', async ({ damage, withDaemon }) => {
    const { ws } = scene;
    const first = await ws.start();
    await scene.arrives('keep me');
    await agent.hook('SessionStart', { source: 'startup' });
    if (!withDaemon) await first.stop();
    for (const path of [ws.inboxFile, ws.outboxFile]) await damage.done(path);
    // A hook that printed no single object, wrote to stderr or failed rejects here.
    const contexts = [await agent.turn('First.')];
    for (const path of [ws.inboxFile, ws.outboxFile]) await damage.undo?.(path);
    if (!withDaemon) await ws.start();
    await until('it was given', async () => {
      contexts.push(await agent.turn(`Turn ${contexts.length}.`));
      return contexts.some((context) => timesIn(context, 'keep me') > 0);
    });
    contexts.push(await agent.turn('Last.'));
    await until('the answers are on the phone', () => phone().includes('First.') && phone().includes('Last.'));
    expect(contexts.map((context) => timesIn(context, 'keep me')).filter((times) => times > 0)).toEqual([1]);
    expect(phone().filter((text) => text === 'First.')).toHaveLength(1);
  });
});
