// The queue of a host as a way to its sessions: what is given when, what becomes of a prompt that the host never begins, and several
// terminals that share one server. On the real journal and inbox file; the host is played by its hook events.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createTurns } from '../../../agent/session/turns.ts';
import type { TurnReport, TurnsOptions } from '../../../agent/session/types.ts';
import { nudgeLine, type TurnEvent } from '../../../protocol/turn-events.ts';
import { until } from '../../helpers/daemon.ts';
import { loneInbox } from '../../helpers/inbox.ts';
import { journalIn, temporaryFolder, testClock } from '../../helpers/surroundings.ts';

const p = '1.0';
const id = 'msg_e_0_1';
const serverPid = 7;
const recorded = join(import.meta.dirname, '../../fixtures/codex-0.169.0/session.interactive.jsonl');

async function createWorld() {
  const clock = testClock();
  const dir = await temporaryFolder();
  await mkdir(join(dir, 'project'));
  const journal = await journalIn(dir, clock);
  const project = journal.project(p);
  const inbox = loneInbox({
    ...{ project, journal, path: join(dir, 'project', 'wa_inbox.json'), clock: clock.now },
    onRefreshed: () => turns.wake(),
  });
  const queue: { session: string; prompt: string }[] = [];
  const reports: TurnReport[] = [];
  const told: string[] = [];
  const is = { full: false, server: false };
  const settings: TurnsOptions = {
    project,
    journal,
    inbox,
    async report(report) {
      reports.push(report);
      await journal.append([...report.receipts, { t: 'turn', p, at: clock.now(), turn: report.turn }]);
    },
    onReceipts: () => {},
    activity: { started: () => {}, running: () => {}, tool: () => {}, said: () => {}, ended: () => {} },
    tell: async (_, text) => void told.push(text),
    compressions: async () => [],
    scanOutbox: async () => true,
    onDialog: () => {},
    isAlive: () => true,
    isInteractive: async () => true,
    isServer: async () => is.server,
    lastKeyAt: async () => undefined,
    canWake: async () => false,
    awayAfterMs: 0,
    follow: 'always',
    tellWithheld: async () => {},
    nudge: async () => false,
    queue: {
      reaches: async () => true,
      async add({ id: session }, prompt) {
        queue.push({ session, prompt });
        if (is.full) throw new Error('ended with 1');
      },
    },
    routes: () => [],
    holdPolicy: 'auto',
    sprintText: undefined,
    clock: clock.now,
    log: () => {},
  };
  const turns = createTurns(settings);
  const transcript = join(dir, 'rollout.jsonl');
  // Only some tests have a session file: the end of a turn waits for its line there.
  let file: string | undefined;
  onTestFinished(async () => {
    await turns.stop();
    await inbox.stop();
    await journal.close();
  });
  const happens = (event: TurnEvent, session = 's') => {
    const host = { tool: 'codex', pid: serverPid, maxMs: 86_400_000, isGone: () => false };
    return turns.handle({ agent: 'codex', session, transcript: file, cwd: dir, event }, host);
  };
  const starts = (prompt: string, session = 's') => happens({ type: 'turnStart', prompt }, session);
  const ends = (answer: string, session = 's') => happens({ type: 'turnEnd', answer, run: answer }, session);
  let seq = 0;
  return {
    ...{ clock, dir, is, queue, reports, told, turns, happens, starts, ends },
    async aTurn(session = 's') {
      await starts('go on', session);
      await ends(`Done in ${session}.`, session);
    },
    async says(text: string) {
      seq += 1;
      const row = { seq, id, at: clock.now(), kind: 'message', text, expiresAt: 9e15 } as const;
      await journal.append([{ t: 'row', p, at: clock.now(), row }]);
      await inbox.refresh();
    },
    /** Resolves when the host was given so many prompts, and what followed is done. */
    async given(count: number) {
      await until(`${count} prompts in the queue`, () => queue.length >= count);
      await turns.exclusive(async () => {});
      return queue[count - 1]?.prompt ?? '';
    },
    message: () => project.messages.get(id),
    async writes(lines: string) {
      await writeFile(transcript, lines);
      file = transcript;
    },
  };
}

let world: Awaited<ReturnType<typeof createWorld>>;
beforeEach(async () => {
  world = await createWorld();
});

describe('a prompt that the host begins', () => {
  it('is the turn of its message, also where the terminal was closed meanwhile and nobody sees it', async () => {
    await world.aTurn();
    await world.says('check the tests');
    const prompt = await world.given(1);
    expect(prompt).toContain(']\ncheck the tests\n[');
    expect(await world.starts(prompt)).toEqual({});
    await world.ends('They pass.');
    expect(world.reports.at(-1)).toMatchObject({ text: 'They pass.', replyTo: id, failed: false });
    expect(world.queue).toHaveLength(1);
  });

  it('is a neutral line where the text is longer than an argument may be, and its hook brings the text', async () => {
    await world.aTurn();
    await world.says('ä'.repeat(20_000));
    expect(await world.given(1)).toBe(nudgeLine);
    expect(world.message()?.phase).toBe('waiting');
    expect((await world.starts(nudgeLine)).context).toContain('ä'.repeat(20_000));
    expect(world.message()?.phase).toBe('handed');
  });

  it('is given to an idle session alone: what comes in a turn goes with the end of its tool', async () => {
    await world.starts('go on');
    await world.says('check the tests');
    const { context } = await world.happens({ type: 'toolEnd', tool: 'Bash', input: {} });
    expect(context).toContain('check the tests');
    await world.happens({ type: 'modelRequest', texts: [context ?? ''] });
    await world.ends('Done.');
    await world.turns.exclusive(async () => {});
    expect(world.message()).toMatchObject({ phase: 'ended', ended: 'answered' });
    expect(world.queue).toEqual([]);
  });
});

describe('a prompt that the host does not begin', () => {
  it('gives its message back where the program failed, and begins no turn if it stands in the queue all the same', async () => {
    await world.aTurn();
    world.is.full = true;
    await world.says('check the tests');
    const prompt = await world.given(1);
    expect(world.message()).toMatchObject({ phase: 'waiting', attempt: 1 });
    expect(world.turns.status().busy).toBe(false);
    const refused = await world.starts(prompt);
    expect(refused.deny).toMatch(/another way/);
    expect((await world.starts('go on')).context).toContain('check the tests');
  });

  it('gives its message back after a while, tells the phone, and begins no turn later', async () => {
    await world.aTurn();
    await world.says('check the tests');
    const prompt = await world.given(1);
    world.clock.advance(89_000);
    await world.turns.checkProcess();
    expect(world.message()?.phase).toBe('handed');
    world.clock.advance(2_000);
    world.is.full = true;
    await world.turns.checkProcess();
    await world.turns.exclusive(async () => {});
    expect(world.message()?.phase).toBe('waiting');
    expect(world.told.join('\n')).toMatch(/not reach|lost|again/i);
    expect((await world.starts(prompt)).deny).toMatch(/another way/);
  });

  it('gives its message to the prompt that a person typed first, once', async () => {
    await world.aTurn();
    await world.says('check the tests');
    const prompt = await world.given(1);
    expect((await world.starts('what I typed')).context).toContain('check the tests');
    await world.ends('Both done.');
    expect((await world.starts(prompt)).deny).toMatch(/another way/);
    expect(world.reports.filter(({ replyTo }) => replyTo === id)).toMatchObject([{ text: 'Both done.' }]);
  });
});

describe('two terminals of one server', () => {
  it('do not both get a message that waits in the queue of the one when the other takes the messages', async () => {
    world.is.server = true;
    await world.aTurn('first');
    await world.says('check the tests');
    const prompt = await world.given(1);
    expect((await world.starts('wa:here', 'second')).context).toContain('check the tests');
    expect((await world.starts(prompt, 'first')).deny).toMatch(/another way/);
    expect(world.turns.status()).toMatchObject({ session: 'second', turnRuns: true });
  });

  it('share the project: the session that got a prompt last has the messages', async () => {
    world.is.server = true;
    await world.aTurn('first');
    await world.happens({ type: 'sessionStart', source: 'startup' }, 'second');
    expect(world.turns.status().session).toBe('first');
    await world.aTurn('second');
    expect(world.turns.status().session).toBe('second');
    await world.says('check the tests');
    await world.given(1);
    expect(world.queue).toMatchObject([{ session: 'second' }]);
  });

  it('a session does not lose its turn to the prompt of another', async () => {
    world.is.server = true;
    await world.starts('go on', 'first');
    expect(await world.starts('go on here', 'second')).toEqual({});
    await world.ends('Second done.', 'second');
    expect(world.turns.status().session).toBe('first');
    await world.ends('First done.', 'first');
    expect(world.reports.map(({ text }) => text)).toEqual(['First done.']);
  });

  it('in a process of its own, a new session is the same terminal', async () => {
    await world.aTurn('first');
    await world.happens({ type: 'sessionStart', source: 'clear' }, 'second');
    expect(world.turns.status().session).toBe('second');
  });
});

describe('a turn that fails without an event', () => {
  /** The recorded lines up to the one that names the error, and that one. */
  async function failedTurn() {
    const lines = (await readFile(recorded, 'utf8')).split('\n');
    const at = lines.findIndex((line) => line.includes('Scripted error 400') && line.includes('task_complete'));
    const begins = lines.slice(0, at).findLastIndex((line) => line.includes('"task_started"'));
    return lines.slice(begins, at + 1).join('\n');
  }

  it('is told with the error of the session file, once', async () => {
    await world.writes('');
    await world.starts('go on');
    await world.writes(`${await failedTurn()}\n`);
    await world.turns.checkProcess();
    expect(world.reports).toEqual([]);
    world.clock.advance(2_000);
    await world.turns.checkProcess();
    await world.turns.checkProcess();
    expect(world.reports).toMatchObject([{ text: 'Scripted error 400', failed: true }]);
    expect(world.turns.status().busy).toBe(false);
  });

  it('goes on where the session file has no end of it', async () => {
    await world.writes('');
    await world.starts('go on');
    await world.writes('{"type":"event_msg","payload":{"type":"task_started"}}\n');
    world.clock.advance(10_000);
    await world.turns.checkProcess();
    expect([world.reports, world.turns.status().busy]).toEqual([[], true]);
  });
});
