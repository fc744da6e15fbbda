import fc from 'fast-check';
import { expect, it } from 'vitest';
import { projectKey } from '../../protocol/ids.ts';
import { isTerminal } from '../../protocol/receipts.ts';
import { createBench, mailbox } from '../worker/bench.ts';
import { createWorld, type Fate, type LogLook, type Shape, type Topic, topics, type World } from './relay-world.ts';
import { runs } from './runs.ts';

const second = 1_000;
const hour = 3_600 * second;

type Step =
  | { do: 'send'; topic: Topic; shape: Shape }
  | { do: 'repeat'; index: number }
  | { do: 'poll'; topic: Topic; fate: Fate }
  | { do: 'post'; topic: Topic; fate: 'arrives' | 'lost' }
  | { do: 'turn'; topic: Topic; count: number; end: 'answered' | 'failed' | 'lost' | 'runs' }
  | { do: 'time'; ms: number; alarms: boolean }
  | { do: 'failAt'; statement: number }
  | { do: 'refuse' | 'alarm' | 'restartRelay' | 'newStorage' | 'restartDaemon' | 'loseState' };

const topic = fc.constantFrom(...topics);
const shape: fc.Arbitrary<Shape> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<Shape>('text', 'text', 'stopWord', 'stop', 'command', 'albumA', 'albumB') },
  { weight: 2, arbitrary: fc.record({ edit: fc.nat(20) }) },
);
const fate: fc.Arbitrary<Fate> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Fate>('arrives') },
  { weight: 2, arbitrary: fc.constantFrom<Fate>('lost', 'cut') },
  { weight: 1, arbitrary: fc.record({ crashAt: fc.double({ min: 0, max: 1, noNaN: true }) }) },
);
const end = fc.constantFrom('answered', 'failed', 'lost', 'runs');
const ms = fc.constantFrom(100, 900, 1_100, 61 * second, 13 * hour, 25 * hour, 50 * hour, -second, -90 * second, -hour);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constant('send'), topic, shape }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('poll'), topic, fate }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('post'), topic, fate: fc.constantFrom('arrives', 'arrives', 'lost') }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('turn'), topic, count: fc.integer({ min: 1, max: 3 }), end }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('time'), ms, alarms: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('repeat'), index: fc.nat(40) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('failAt'), statement: fc.integer({ min: 1, max: 12 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('alarm', 'restartRelay', 'restartDaemon', 'refuse') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('newStorage', 'loseState', 'restartDaemon') }) },
) as fc.Arbitrary<Step>;

function run(world: World, todo: Step): unknown {
  switch (todo.do) {
    case 'send':
      return world.send(todo.topic, todo.shape);
    case 'repeat':
      return world.repeat(todo.index);
    case 'poll':
      return world.poll(todo.topic, todo.fate);
    case 'post':
      return world.post(todo.topic, todo.fate);
    case 'turn':
      return world.turn(todo.topic, todo.count, todo.end);
    case 'time':
      return world.passTime(todo.ms, todo.alarms);
    case 'failAt':
      return world.failAt(todo.statement);
    default:
      return world[todo.do]();
  }
}

/** What a step may never do to the log, seen from before to after. */
function expectLogKept(before: LogLook, after: LogLook): void {
  const highest = (look: LogLook) => Math.max(look.cursor, ...look.rows.map((row) => row.seq));
  expect(after.cursor).toBeGreaterThanOrEqual(before.cursor);
  expect(highest(after)).toBeGreaterThanOrEqual(highest(before));
  const left = new Set(after.rows.map((row) => row.seq));
  expect(before.rows.filter((row) => row.seq > after.cursor && !left.has(row.seq))).toEqual([]);
  const known = new Set(before.rows.map((row) => row.seq));
  expect(after.rows.filter((row) => !known.has(row.seq) && row.seq <= highest(before))).toEqual([]);
}

/** The cursor is a promise: what it covers was on the disk of the workstation, or was too old to be handed out. */
function expectPromiseKept(world: World): void {
  const arrived = new Set(world.arrivals.map((each) => `${each.storage} ${each.topic} ${each.seq}`));
  for (const at of topics) {
    const { cursor, rows } = world.look(at);
    const covered = rows.filter((row) => row.seq <= cursor).map((row) => `e${world.storage} ${at} ${row.seq}`);
    expect(covered.filter((name) => !arrived.has(name) && !world.tombstones.has(name))).toEqual([]);
  }
}

function expectEverythingThere(world: World): void {
  const times = new Map<string, number>();
  for (const { life, numbers } of world.arrivals) {
    for (const number of numbers) times.set(`${life} ${number}`, (times.get(`${life} ${number}`) ?? 0) + 1);
  }
  expect([...times].filter(([, count]) => count > 1)).toEqual([]);

  const ever = new Set(world.arrivals.flatMap((each) => each.numbers));
  const missing = [...world.accepted].filter(
    ([number, { storage, topic: of, seq }]) =>
      storage === world.storage && !ever.has(number) && !world.tombstones.has(`e${storage} ${of} ${seq}`),
  );
  expect(missing).toEqual([]);

  for (const at of topics) {
    const look = world.look(at);
    expect(look.cursor).toBe(Math.max(look.cursor, ...look.rows.map((row) => row.seq)));
    const rows = world.arrivals.filter((each) => each.topic === at && !each.ahead);
    for (const key of new Set(rows.map((row) => `${row.life} ${row.storage}`))) {
      const seqs = rows.filter((row) => `${row.life} ${row.storage}` === key).map((row) => row.seq);
      expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    }
    expectThisLifeComplete(world, at, look);
    expectOutcomesKnown(world, at);
    if (world.life === 0) expectReportsThere(world, at, look);
  }
}

/** Also after its state was lost, the workstation has every message of which the relay has no report that it was used. */
function expectThisLifeComplete(world: World, at: Topic, look: LogLook): void {
  const here = new Set(
    world.arrivals
      .filter((each) => each.life === world.life && each.storage === `e${world.storage}` && each.topic === at)
      .map((each) => each.seq),
  );
  const unused = look.rows.filter((row) => row.kind === 'message' && (row.state === null || row.state === 'taken'));
  expect(unused.filter((row) => !here.has(row.seq))).toEqual([]);
}

/** Whatever was lost on the way, the workstation knows of every key what the relay knows. */
function expectOutcomesKnown(world: World, at: Topic): void {
  const { openKeys, outbox } = world.journal.project(projectKey(mailbox, at));
  expect([...openKeys]).toEqual([]);
  // What ended in a storage that is gone is not brought to the next.
  const here = [...outbox.values()].flatMap(({ end }) => (end && world.outcomeOf(at, end.key) ? [end] : []));
  expect(here).toEqual(here.map(({ key }) => world.outcomeOf(at, key)));
}

function expectReportsThere(world: World, at: Topic, look: LogLook): void {
  const project = world.journal.project(projectKey(mailbox, at));
  expect([...project.receipts.values()]).toEqual([]);
  for (const message of project.messages.values()) {
    const row = look.rows.find(({ seq }) => seq === message.row.seq);
    const isHere = message.row.id.startsWith(`msg_e${world.storage}_`);
    if (!isHere || !row || row.state === 'expired') continue;
    const reported = message.ended ?? (message.phase === 'injected' ? 'injected' : null);
    expect({ id: message.row.id, state: row.state }).toEqual({ id: message.row.id, state: reported });
    expect(message.phase === 'ended').toBe(row.state !== null && isTerminal(row.state as 'answered'));
  }
}

it('whatever happens in whatever order, every message that was taken reaches the journal once, in order, and no report or outcome is lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
      const world = await createWorld();
      try {
        for (const todo of steps) {
          const { storage } = world;
          const before = topics.map((at) => world.look(at));
          await run(world, todo);
          for (const [index, at] of topics.entries()) {
            if (world.storage === storage) expectLogKept(before[index] as LogLook, world.look(at));
          }
          expectPromiseKept(world);
        }
        await world.settle();
        expectEverythingThere(world);
      } finally {
        await world.close();
      }
    }),
    { numRuns: runs(80) },
  );
});

it('leaves an album closed that was handed out, when the clock goes back', () => {
  const bench = createBench();
  bench.say('one', { album: 'a' });
  bench.clock.now += 1_000;
  expect(bench.poll().rows).toMatchObject([{ seq: 1, text: 'one' }]);
  bench.clock.now -= 1_000;
  bench.say('two', { album: 'a' });
  expect(bench.poll({ after: 1 }).rows).toMatchObject([{ seq: 2, text: 'two' }]);
});
