// A phone, a relay and a workstation in one process, each of which can be cut, killed or robbed of its storage at any step.
// Real: the relay's queue over SQLite, the daemon's pull loop, its journal on the disk. Holds the books, and no expectations.

import { appendFile, mkdtemp, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { type Journal, openJournal } from '../../agent/journal/journal.ts';
import type { ProjectRecord } from '../../agent/journal/records.ts';
import { isKnown, type ProjectState } from '../../agent/journal/state.ts';
import { WaError } from '../../protocol/errors.ts';
import { projectKey } from '../../protocol/ids.ts';
import type { Row } from '../../protocol/log.ts';
import { isEnd, type OutboxItem, type OutboxOutcome, type PollAnswer } from '../../protocol/relay-api.ts';
import { readOutcome } from '../../worker/mailbox/outbound/outcomes.ts';
import type { InboundEvent } from '../../worker/platform.ts';
import { type Bench, createBench, mailbox } from '../worker/bench.ts';
import { quickFolder } from './runs.ts';
import { createWire, type Wire } from './wire.ts';

export const topics = [0, 7] as const;
export type Topic = (typeof topics)[number];

/** Everything that the phone sends holds a number of its own in these brackets. */
const numberOf = (text: string) => [...text.matchAll(/«(\d+)»/g)].map((match) => Number(match[1]));

/** What the relay took of the phone: it answered 200 for it. */
export interface Accepted {
  topic: Topic;
  /** Which storage of the relay has it. */
  storage: number;
  seq: number;
  kind: Row['kind'];
}

/** A row whose line is in the journal, and was not before. */
export interface Arrival {
  row: Row;
  topic: Topic;
  /** Which state directory of the workstation. */
  life: number;
  storage: string;
  seq: number;
  numbers: number[];
  ahead: boolean;
}

export interface LogLook {
  cursor: number;
  rows: { seq: number; kind: string; state: string | null; text: string }[];
}

export interface World {
  readonly bench: Bench;
  readonly accepted: ReadonlyMap<number, Accepted>;
  readonly arrivals: readonly Arrival[];
  /** `<storage> <topic> <seq>` of tombstones that the workstation got, after their time. */
  readonly tombstones: ReadonlySet<string>;
  readonly journal: Journal;
  readonly storage: number;
  readonly life: number;
  /** Edits for which the relay told the phone that the message is gone. */
  readonly told: ReadonlySet<number>;
  look(topic: Topic): LogLook;
  /** One message, command, part of an album or edit; gives its number. */
  send(topic: Topic, shape: Shape): number;
  /** The platform brings an update once more. */
  repeat(index: number): void;
  /** Carries the answer of the relay to the workstation, or loses it on the way. */
  poll(topic: Topic, fate: Fate): Promise<void>;
  /** Something new for the phone: journalled, then brought to the relay with what it does not have; its answer may be lost. */
  post(topic: Topic, fate: 'arrives' | 'lost'): Promise<void>;
  /** The platform refuses the next call for good. */
  refuse(): void;
  /** What the relay says of a key; undefined = this storage never had it. */
  outcomeOf(topic: Topic, key: string): OutboxOutcome | undefined;
  /** What the coding agent did with the oldest messages that wait. */
  turn(topic: Topic, count: number, end: 'answered' | 'failed' | 'lost' | 'runs'): Promise<void>;
  passTime(ms: number, alarms: boolean): Promise<void>;
  alarm(): Promise<void>;
  /** The relay's storage fails at the n-th statement from now. */
  failAt(statement: number): void;
  restartRelay(): void;
  newStorage(): void;
  restartDaemon(): Promise<void>;
  loseState(): Promise<void>;
  /** Everything works again, and goes on until nothing moves. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export type Shape = 'text' | 'stopWord' | 'stop' | 'command' | 'albumA' | 'albumB' | { edit: number };
export type Fate = 'arrives' | 'lost' | 'cut' | { crashAt: number };

export async function createWorld(): Promise<World> {
  const dir = await mkdtemp(join(quickFolder(), 'wa-world-'));
  const journalPath = join(dir, 'journal.jsonl');
  const accepted = new Map<number, Accepted>();
  const arrivals: Arrival[] = [];
  const tombstones = new Set<string>();
  const told = new Set<number>();
  const sent: { event: InboundEvent; number: number; storage: number }[] = [];
  let undelivered: typeof sent = [];
  let storage = 0;
  let life = 0;
  let starts = 0;
  let failIn = 0;
  let journalBytes = 0;
  let latest = 0;
  let items = 0;
  let journal: Journal;
  let bench = newBench(0);
  const wires = new Map<Topic, Wire>();
  const sockets = new Map<Topic, ReturnType<Bench['open']>>();

  function newBench(at: number): Bench {
    const made = createBench({ epoch: `e${at}` });
    const { exec } = made.sql;
    made.sql.exec = (query, ...params) => {
      if (failIn > 0) {
        failIn -= 1;
        if (failIn === 0) throw new Error('the disk of the relay is full');
      }
      return exec(query, ...params);
    };
    return made;
  }

  const clock = () => bench.clock.now;
  const stateOf = (topic: Topic) => journal.project(projectKey(mailbox, topic));

  /** It starts when its storage works. */
  function restartRelay(): void {
    failIn = 0;
    bench.restart();
  }

  /** The object starts again when its storage failed, as the real one does. */
  function guarded<T>(work: () => T): T | 'failed' {
    try {
      return work();
    } catch (error) {
      if (error instanceof WaError) throw error;
      restartRelay();
      return 'failed';
    }
  }

  function look(topic: Topic): LogLook {
    const armed = failIn;
    failIn = 0;
    const cursor = bench.sql.exec<{ cursor: number }>('SELECT cursor FROM project WHERE project = ?', topic)[0];
    const rows = bench.sql.exec<{ seq: number; kind: string; state: string | null; body: string }>(
      'SELECT seq, kind, state, body FROM log WHERE project = ? ORDER BY seq',
      topic,
    );
    failIn = armed;
    return { cursor: cursor?.cursor ?? 0, rows: rows.map(({ body, ...row }) => ({ ...row, text: body })) };
  }

  function deliver(update: (typeof sent)[number]): void {
    const outcome = guarded(() => bench.accept(update.event));
    if (outcome === 'failed') {
      undelivered.push(update);
      return;
    }
    if (outcome !== 'stored') return;
    const topic = update.event.project as Topic;
    const row = look(topic).rows.find(({ text }) => numberOf(text).includes(update.number));
    if (row) accepted.set(update.number, { topic, storage, seq: row.seq, kind: row.kind as Row['kind'] });
    else told.add(update.number);
  }

  function deliverAgain(): void {
    restartRelay();
    for (const update of undelivered.splice(0)) deliver(update);
  }

  function eventOf(topic: Topic, shape: Shape, number: number): InboundEvent {
    const base = { dedupeKey: `u${number}`, project: topic, at: clock() };
    const text = `«${number}»`;
    if (typeof shape === 'object') {
      const earlier = sent.filter(({ event }) => event.project === topic && event.kind === 'message');
      const target = earlier[shape.edit % Math.max(1, earlier.length)]?.event;
      return { ...base, kind: 'edit', ref: target?.kind === 'message' ? target.ref : 'none', text };
    }
    const message = { ...base, kind: 'message', ref: String(number) } as const;
    if (shape === 'stopWord') return { ...message, text: `please stop ${text}` };
    if (shape === 'stop') return { ...message, text: `/stop ${text}` };
    if (shape === 'command') return { ...message, text: `/sprint ${text}` };
    return shape === 'text' ? { ...message, text } : { ...message, text, album: shape };
  }

  /** An outcome is known by the cursor alone. */
  function hasArrived({ epoch, cursor, ...project }: ProjectState, row: Row): boolean {
    if (row.kind !== 'outcome') return isKnown({ epoch, cursor, ...project }, row.id);
    return row.id.startsWith(`msg_${epoch}_`) && row.seq <= cursor;
  }

  function note(records: readonly ProjectRecord[]): Arrival[] {
    const found: Arrival[] = [];
    const ids = new Set<string>();
    /** From where it reads anew. */
    let moved: { epoch: string; cursor: number } | undefined;
    for (const record of records) {
      if (record.t === 'epoch') moved = record;
      if (record.t !== 'row') continue;
      const { row } = record;
      const topic = Number(record.p.split('.')[1]) as Topic;
      const [, of = ''] = row.id.split('_');
      if (row.kind === 'message' && row.expired) {
        tombstones.add(`${of} ${topic} ${row.seq}`);
        continue;
      }
      if (hasArrived({ ...stateOf(topic), ...moved }, row) || ids.has(row.id)) continue;
      ids.add(row.id);
      found.push({
        row,
        topic,
        life,
        storage: of,
        seq: row.seq,
        numbers: numbersOf(row, found),
        ahead: record.ahead === true,
      });
    }
    return found;
  }

  /** An edit of one part of an album brings the words of the others along: those came before, with the album. */
  function numbersOf(row: Row, found: readonly Arrival[]): number[] {
    const numbers = numberOf(JSON.stringify(row));
    if (row.kind !== 'edit') return numbers;
    const before = [...arrivals, ...found].filter((each) => each.life === life);
    return numbers.filter((number) => !before.some((each) => each.numbers.includes(number)));
  }

  async function startDaemon(): Promise<void> {
    const opened = await openJournal(journalPath, clock);
    journal = {
      ...opened,
      async append(records) {
        journalBytes = (await stat(journalPath)).size;
        const found = note(records as ProjectRecord[]);
        await opened.append(records);
        arrivals.push(...found);
      },
    };
    starts += 1;
    const daemon = { id: 'daemon-of-the-world', startedAt: starts };
    for (const topic of topics) {
      const wire = createWire({ mailbox, project: topic, state: stateOf(topic), journal, daemon, clock });
      wires.set(topic, wire);
      await wire.request();
    }
  }

  async function stopDaemon(): Promise<void> {
    for (const wire of wires.values()) await wire.stop();
    sockets.clear();
    await journal.close();
  }

  function wireOf(topic: Topic): Wire {
    return wires.get(topic) as Wire;
  }

  /** Undefined = the poll is parked, and stays so. */
  async function ask(topic: Topic): Promise<{ body: PollAnswer } | { error: WaError } | undefined> {
    const request = await wireOf(topic).request();
    let socket = sockets.get(topic);
    if (!socket) {
      const opened = guarded(() => bench.open(request));
      if (opened === 'failed') return { error: new WaError('storage_failed', 'the mailbox cannot be reached') };
      socket = opened;
      sockets.set(topic, socket);
    }
    const frame = socket.frame();
    if (!frame || frame.head === 'parked') return undefined;
    sockets.delete(topic);
    const { error } = frame.body;
    return error ? { error: new WaError(error.code as 'superseded', 'refused') } : { body: frame.body };
  }

  /** The hold is over: the stateless half of the relay answers with what it got when the poll was parked. */
  function endHold(topic: Topic): PollAnswer {
    const socket = sockets.get(topic);
    const body = socket?.frame()?.body as PollAnswer;
    socket?.finish(`200\n${JSON.stringify(body)}`);
    sockets.delete(topic);
    return body;
  }

  async function poll(topic: Topic, fate: Fate): Promise<void> {
    const wire = wireOf(topic);
    const reply = await ask(topic);
    if (reply && 'error' in reply) return wire.fail(reply.error);
    if (fate === 'lost' && reply) return wire.fail();
    if (fate === 'cut' && !reply) {
      // The connection goes while the poll is parked.
      endHold(topic);
      return wire.fail();
    }
    if (!reply) return fate === 'arrives' ? wire.answer(endHold(topic)) : undefined;
    const before = arrivals.length;
    await wire.answer(reply.body);
    if (typeof fate === 'object') await crashWhileWriting(fate.crashAt, before);
  }

  /** Killed between the first and the last byte of the lines that were written last: nothing has been promised of them. */
  async function crashWhileWriting(share: number, before: number): Promise<void> {
    await stopDaemon();
    const { size } = await stat(journalPath);
    await truncate(journalPath, journalBytes + Math.floor((size - journalBytes) * share));
    await startDaemon();
    const gone = arrivals.splice(before);
    arrivals.push(...gone.filter(({ topic, row }) => hasArrived(stateOf(topic), row)));
  }

  function itemOf(key: string): OutboxItem {
    return { key, class: 'answer', parts: [{ text: key, entities: [] }] };
  }

  /** As the daemon does it, without the waiting between two tries. */
  async function bring(topic: Topic, fate: 'arrives' | 'lost'): Promise<void> {
    const { key: p, openKeys, outbox } = stateOf(topic);
    const keys = [...openKeys].filter((key) => outbox.get(key)?.state === 'open');
    if (keys.length === 0) return;
    const answer = guarded(() => bench.logic.post({ mailbox, project: topic, items: keys.map(itemOf) }));
    if (answer === 'failed' || fate === 'lost') return;
    const head = { p, at: clock() };
    const posted = answer.items.filter((item) => !isEnd(item)).map(({ key }) => key);
    const ended = answer.items.filter(isEnd);
    await journal.append([
      { ...head, t: 'posted', keys: posted, epoch: answer.epoch },
      ...ended.map((end) => ({ ...head, t: 'key' as const, ...end })),
    ]);
  }

  async function pollAll(): Promise<void> {
    for (const topic of topics) {
      // The first parked poll may still carry what the relay does not know; the second says that nothing is left.
      for (let quiet = 0, turn = 0; quiet < 3 && turn < 300; turn += 1) {
        const reply = await ask(topic);
        quiet = reply ? 0 : quiet + 1;
        if (reply && 'error' in reply) await wireOf(topic).fail(reply.error);
        else await wireOf(topic).answer(reply?.body ?? endHold(topic));
      }
    }
  }

  await startDaemon();

  const world: World = {
    get bench() {
      return bench;
    },
    get journal() {
      return journal;
    },
    get storage() {
      return storage;
    },
    get life() {
      return life;
    },
    accepted,
    arrivals,
    tombstones,
    told,
    look,
    send(topic, shape) {
      const number = sent.length;
      const update = { event: eventOf(topic, shape, number), number, storage };
      sent.push(update);
      deliver(update);
      return number;
    },
    repeat(index) {
      const update = sent[index % Math.max(1, sent.length)];
      if (!update || undelivered.includes(update)) return;
      // The platform forgets an update after a day, and a new storage does not know what the old one took.
      const isOld = Math.max(latest, clock()) - update.event.at > 24 * 3_600_000;
      if (!isOld && update.storage === storage) deliver(update);
    },
    poll,
    async post(topic, fate) {
      items += 1;
      const key = `item-${items}-of-the-world`;
      await journal.append([{ t: 'item', p: stateOf(topic).key, at: clock(), key, item: itemOf(key) }]);
      await bring(topic, fate);
    },
    refuse() {
      bench.platform.script.push({ kind: 'dead', code: 'chat_unreachable', reason: 'Forbidden: blocked' });
    },
    outcomeOf: (topic, key) => readOutcome(bench.sql, topic, key),
    async turn(topic, count, end) {
      const project = stateOf(topic);
      const ids = [...project.waiting.keys()].slice(0, count);
      if (ids.length === 0) return;
      const head = { p: project.key, at: clock(), ids };
      const records: ProjectRecord[] = [
        { ...head, t: 'handed', tool: 'gemini', session: 's', transcript: null, offset: 0 },
      ];
      if (end === 'lost') records.push({ ...head, t: 'returned' });
      else records.push({ ...head, t: 'proved' });
      if (end === 'answered' || end === 'failed') records.push({ ...head, t: 'ended', state: end });
      await journal.append(records);
    },
    async passTime(ms, alarms) {
      latest = Math.max(latest, clock());
      // The platform tries again within minutes.
      if (ms >= 3_600_000) deliverAgain();
      if (!alarms || ms < 0) bench.clock.now += ms;
      else await bench.runUntil(clock() + ms).catch(restartRelay);
    },
    async alarm() {
      await bench.wake().catch(restartRelay);
    },
    failAt(statement) {
      failIn = statement;
    },
    restartRelay,
    newStorage() {
      storage += 1;
      const now = clock();
      bench = newBench(storage);
      bench.clock.now = now;
      sockets.clear();
      // What the old storage took and was then repeated would be new to this one.
      undelivered = undelivered
        .filter((update) => !accepted.has(update.number))
        .map((update) => ({ ...update, storage }));
    },
    async restartDaemon() {
      await stopDaemon();
      await appendFile(journalPath, '{"t":"row","p":"torn');
      await startDaemon();
    },
    async loseState() {
      await stopDaemon();
      await rm(journalPath);
      life += 1;
      await startDaemon();
    },
    async settle() {
      deliverAgain();
      // A clock that went back has to come to where it was: an album is open until then.
      await bench.runUntil(Math.max(latest, clock()) + 2_000);
      await pollAll();
      for (const topic of topics) await bring(topic, 'arrives');
      // A chat takes one message a second.
      await bench.runUntil(clock() + 120_000);
      await pollAll();
    },
    async close() {
      await stopDaemon();
      await rm(dir, { recursive: true, force: true });
    },
  };
  return world;
}
