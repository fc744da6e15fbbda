// What every way to the coding agent must keep to: the plain hook events, the held end of a turn, the queue of the host, the nudged
// terminal, the lease of an agent that polls, and a scripted one. On the real journal and inbox file.

import { randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Journal } from '../../agent/journal/journal.ts';
import { typesetHere } from '../../agent/relay/render.ts';
import { createCustody } from '../../agent/session/custody.ts';
import { createLeases } from '../../agent/session/leases.ts';
import { createMcp } from '../../agent/session/mcp.ts';
import { createRoutes, routeOrder } from '../../agent/session/routes.ts';
import type { Runtime } from '../../agent/session/runtime.ts';
import { createTurns } from '../../agent/session/turns.ts';
import type { Route, TurnsOptions } from '../../agent/session/types.ts';
import { nudgeLine, type TurnAnswer, type TurnEvent } from '../../protocol/turn-events.ts';
import { loneInbox } from '../helpers/inbox.ts';
import { journalIn, temporaryFolder, testClock } from '../helpers/surroundings.ts';

const p = '1.0';
const id = 'msg_e_0_1';
const holder = { connection: 'c', client: 'x', pid: 1, started: '', space: '', parent: 0 };

/** A coding agent, as far as one way reaches it. */
interface Rig {
  /** It is there to be reached. */
  open(): Promise<void>;
  /** What it reads when it asks, or when it is reached. */
  read(): Promise<string>;
  /** The model was sent what was read. */
  prove(text: string): Promise<void>;
  /** False = it waits until it is reached, and `read` with it. */
  asks: boolean;
}

async function createWorld() {
  const clock = testClock();
  const dir = await temporaryFolder();
  await mkdir(join(dir, 'project'));
  const path = join(dir, 'project', 'wa_inbox.json');
  const opened = await journalIn(dir, clock);
  const project = opened.project(p);
  let vanishes = false;
  let gone = new AbortController();
  const isGone = () => gone.signal.aborted;
  const journal: Journal = {
    ...opened,
    async append(records) {
      await opened.append(records);
      if (vanishes && records.some(({ t }) => t === 'handed' || t === 'leased')) gone.abort();
    },
  };
  const inbox = loneInbox({ project, journal, path, clock: clock.now, onRefreshed: () => turns.wake() });
  let queues = false;
  let queued: (prompt: string) => void = () => {};
  let nudged: () => void = () => {};
  let mayNudge = false;
  let others: () => readonly Route[] = () => [mcp.route];
  const settings: TurnsOptions = {
    project,
    journal,
    inbox,
    report: ({ receipts }) => journal.append(receipts),
    onReceipts: () => {},
    activity: { started: () => {}, running: () => {}, said: () => {}, tool: () => {}, ended: () => {} },
    tell: async () => {},
    compressions: async () => [],
    scanOutbox: async () => true,
    onDialog: () => {},
    isAlive: () => true,
    isInteractive: async () => true,
    lastKeyAt: async () => undefined,
    canWake: async () => true,
    awayAfterMs: 0,
    follow: 'always',
    tellWithheld: async () => {},
    async nudge() {
      if (mayNudge) nudged();
      return mayNudge;
    },
    queue: {
      reaches: async () => queues,
      async add(_, prompt) {
        queued(isGone() ? '' : prompt);
        if (isGone()) throw new Error('the queue is full');
      },
    },
    routes: () => others(),
    holdPolicy: 'auto',
    sprintText: undefined,
    clock: clock.now,
    log: () => {},
  };
  const turns = createTurns(settings);
  const leases = createLeases({
    ...settings,
    inbox,
    exclusive: turns.exclusive,
    isGone: () => false,
    tell: async () => {},
  });
  const mcp = createMcp({
    mailbox: '1',
    leases,
    queue: async () => {},
    outcome: async () => undefined,
    typing: async () => {},
    typesetter: typesetHere((text) => text, 4_000),
    clock: clock.now,
  });

  const happens = (event: TurnEvent): Promise<TurnAnswer> => {
    const host = { tool: 'gemini', pid: 7, maxMs: 86_400_000, isGone };
    return turns.handle({ agent: 'gemini', session: 's', transcript: undefined, cwd: dir, event }, host);
  };
  const prompts = async (prompt = 'go on') => (await happens({ type: 'turnStart', prompt })).context ?? '';
  const aTurn = () => prompts().then(() => happens({ type: 'turnEnd', answer: 'Done.', run: randomUUID() }));
  const tool = async () => (await happens({ type: 'toolEnd', tool: 'shell', input: {} })).context ?? '';
  const asked = async (text: string) => {
    await happens({ type: 'modelRequest', texts: [text] });
    await turns.exclusive(async () => {});
  };
  const poll = async (timeoutMs = 0) => {
    const { messages } = await mcp.poll(holder, { limit: 5, timeoutMs }, gone.signal);
    return messages.map(({ message_id, text }) => `${message_id} ${text}`).join('\n');
  };

  /** What the next delivery of a route resolves. */
  function awaited(): { text: Promise<string>; resolve(text: string): void } {
    let resolve: (text: string) => void = () => {};
    const text = new Promise<string>((done) => {
      resolve = done;
    });
    return { text, resolve };
  }
  let answer: Promise<TurnAnswer>;
  let polled: Promise<string>;
  const lined = awaited();
  const typed = awaited();
  const said = awaited();

  const rigs: Record<string, Rig> = {
    'a prompt': { asks: true, open: async () => {}, read: () => prompts(), prove: asked },
    'the result of a tool': {
      asks: true,
      open: () => prompts().then(() => {}),
      read: tool,
      prove: asked,
    },
    'the held end of a turn': {
      asks: false,
      async open() {
        await prompts();
        await turns.steering.away('on');
        answer = happens({ type: 'turnEnd', answer: 'Done.', run: '1' });
        await turns.exclusive(async () => {});
      },
      read: async () => (await answer).next ?? '',
      async prove(text) {
        await prompts(text);
        await asked(text);
      },
    },
    'the queue of the host': {
      asks: false,
      async open() {
        queues = true;
        queued = lined.resolve;
        await aTurn();
      },
      // What the host refuses is taken back right after.
      read: async () => {
        const text = await lined.text;
        await turns.exclusive(async () => {});
        return text;
      },
      async prove(text) {
        expect((await happens({ type: 'turnStart', prompt: text })).deny).toBeUndefined();
        await asked(text);
      },
    },
    'the nudged terminal': {
      asks: false,
      async open() {
        await aTurn();
        // Nobody types there any more.
        clock.advance(5_000);
        mayNudge = true;
        nudged = () => void prompts(nudgeLine).then(typed.resolve);
      },
      read: () => typed.text,
      prove: asked,
    },
    'the lease of an agent that polls': {
      asks: false,
      async open() {
        polled = poll(60_000);
        await turns.exclusive(async () => {});
      },
      read: () => polled,
      async prove() {
        expect((await leases.acknowledge('c', [id])).unanswered).toEqual([id]);
        await leases.replied('c');
        expect((await leases.acknowledge('c', [id])).acked).toEqual([id]);
      },
    },
    'a scripted way': {
      asks: false,
      async open() {
        const give = createCustody(settings);
        const note = { tool: 'scripted', session: 's', transcript: null, at: 0 };
        // Like an agent that ends after one answer.
        let isOver = false;
        const deliver = async () => {
          isOver = true;
          const { messages } = await inbox.waiting();
          const given = await give(messages, {
            note,
            isGone,
            records: (ids, edits, at) => [{ ...note, t: 'handed', p, at, ids, edits, offset: 0 }],
            giveBack: (ids) => journal.append([{ t: 'returned', p, at: clock.now(), ids: [...ids] }]),
          });
          said.resolve(given.map(({ entry }) => entry.id).join('\n'));
          return given.length > 0 ? 'given' : 'nobody';
        };
        others = () => [
          { name: 'lease', wakes: false, gatherMs: 0, isOpen: () => !isOver, deliver: () => turns.exclusive(deliver) },
        ];
      },
      read: () => said.text,
      prove: () => journal.append([{ t: 'proved', p, at: clock.now(), ids: [id] }]),
    },
  };

  return {
    rigs,
    turns,
    poll,
    tool,
    vanish: () => {
      vanishes = true;
    },
    comesBack: () => {
      vanishes = false;
      gone = new AbortController();
    },
    async arrives() {
      const row = { seq: 1, id, at: clock.now(), kind: 'message', text: 'the text', expiresAt: 9e15 } as const;
      await journal.append([{ t: 'row', p, at: clock.now(), row }]);
    },
    shows: () => inbox.refresh(),
    message: () => project.messages.get(id),
    file: async () => {
      await inbox.refresh();
      return JSON.parse(await readFile(path, 'utf8')).messages as object[];
    },
    async close() {
      await turns.stop();
      await inbox.stop();
      await opened.close();
    },
  };
}

const names = [
  'a prompt',
  'the result of a tool',
  'the held end of a turn',
  'the queue of the host',
  'the nudged terminal',
  'the lease of an agent that polls',
  'a scripted way',
];

describe.each(names)('%s', (name) => {
  let world: Awaited<ReturnType<typeof createWorld>>;
  let rig: Rig;
  beforeEach(async () => {
    world = await createWorld();
    rig = world.rigs[name] as Rig;
    await rig.open();
    return world.close;
  });

  it('gives a message once, after file and journal say so, and then to no other reader', async () => {
    await world.arrives();
    await world.shows();
    expect(await rig.read()).toContain(id);
    expect(world.message()?.phase).toMatch(/handed|leased/);
    expect(await world.file()).toMatchObject([{ id, read: true }]);
    expect([await world.poll(), await world.tool()].join()).not.toContain(id);
  });

  it('gives it back unread, with the next attempt, when the agent is gone before it reads', async () => {
    await world.arrives();
    world.vanish();
    await world.shows();
    expect(await rig.read()).not.toContain(id);
    expect(world.message()).toMatchObject({ phase: 'waiting', attempt: 1 });
    expect(await world.file()).toMatchObject([{ id, read: false, attempt: 1 }]);
    world.comesBack();
    expect(await world.poll()).toContain(id);
  });

  it('gives nothing from before a STOP until the owner releases it', async () => {
    await world.arrives();
    await world.turns.steering.stop({ id: 'stop', seq: 2, type: 'stop' });
    await world.shows();
    if (rig.asks) expect(await rig.read()).not.toContain(id);
    expect(world.message()).toMatchObject({ phase: 'waiting', parked: 'parked', attempt: 0 });
    await world.turns.steering.unpark();
    await world.shows();
    expect(await (rig.asks ? world.poll() : rig.read())).toContain(id);
  });

  it('counts it as read when the model had it, and not when it was given', async () => {
    await world.arrives();
    await world.shows();
    const text = await rig.read();
    expect(world.message()?.phase).toMatch(/handed|leased/);
    await rig.prove(text);
    expect(world.message()?.phase).toMatch(/injected|ended/);
  });
});

describe('the order of the ways', () => {
  const tried: string[] = [];
  const route = (name: Route['name'], is: Partial<Route> & { gives?: boolean } = {}): Route => ({
    name,
    wakes: false,
    gatherMs: 0,
    isOpen: () => true,
    deliver: async () => {
      tried.push(name);
      return is.gives ? 'given' : 'nobody';
    },
    ...is,
  });
  const routesOf = (all: readonly Route[]) => {
    const options = { routes: () => all, inbox: { hasNews: () => true }, log: () => {}, project: { key: p } };
    return createRoutes({ options } as unknown as Runtime, []);
  };
  beforeEach(() => {
    tried.length = 0;
  });

  it('is the one of the design, and a way that reaches none leaves it to the next', async () => {
    expect(routeOrder).toEqual(['held', 'owned', 'queue', 'nudge', 'lease']);
    expect(await routesOf([route('lease'), route('nudge'), route('held')]).reach()).toBe(false);
    expect(tried).toEqual(['held', 'nudge', 'lease']);
  });

  it('ends with the first that gave, and leaves out what is not open or not wanted', async () => {
    const fails = route('held', { deliver: () => Promise.reject(new Error('no space left')) });
    expect(await routesOf([route('lease'), route('nudge', { gives: true }), fails]).reach()).toBe(true);
    expect(tried).toEqual(['nudge']);
    const closed = route('nudge', { isOpen: () => false, wakes: true });
    expect(await routesOf([closed, route('held', { gives: true })]).reach(({ wakes }) => wakes)).toBe(false);
    expect(tried).toEqual(['nudge']);
  });
});
