import { chmodSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Journal, openJournal } from '../../agent/journal/journal.ts';
import type { ProjectState } from '../../agent/journal/state.ts';
import type { InboxSync } from '../../agent/mailbox/inbox.ts';
import { toEntry } from '../../agent/mailbox/inbox-entries.ts';
import { type InboxEntry, identityOf, isoSeconds } from '../../protocol/files.ts';
import { messageId } from '../../protocol/ids.ts';
import type { Row } from '../../protocol/log.ts';
import { loneInbox } from '../helpers/inbox.ts';
import { quickFolder, runs } from './runs.ts';

type Text = 'A' | 'B' | 'C';
type Step =
  | { do: 'row'; text: Text }
  | {
      do: 'edit' | 'ended' | 'foreignRead' | 'foreignDrop' | 'foreignDouble' | 'foreignSameId';
      pick: number;
      text: Text;
    }
  | { do: 'turn'; pick: number; end: 'answered' | 'lost' | 'runs' }
  | { do: 'content'; text: string }
  | { do: 'time'; ms: number }
  | { do: 'refresh' | 'restart' | 'foreignAdd' | 'snapshot' | 'restore' | 'remove' | 'open' };

const text = fc.constantFrom<Text>('A', 'B', 'C');
const pick = fc.nat(8);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('row'), text }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('edit', 'edit', 'foreignRead', 'foreignDrop', 'foreignDouble', 'foreignSameId'),
      pick,
      text,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('turn'), pick, end: fc.constantFrom('answered', 'lost', 'runs') }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('content'),
      text: fc.constantFrom('', '{"messages":[', '{}', '[]', '{"messages":[]}'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('time'), ms: fc.constantFrom(1_000, 6_000, 2 * 3_600_000, -1_000) }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('refresh') }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('restart', 'foreignAdd', 'snapshot', 'restore', 'remove', 'open') }),
  },
) as fc.Arbitrary<Step>;

const p = '1.0';

interface Scene {
  run(step: Step): Promise<void>;
  close(): Promise<void>;
}

async function openScene(): Promise<Scene> {
  const dir = await mkdtemp(join(quickFolder(), 'wa-view-'));
  const path = join(dir, 'project', 'wa_inbox.json');
  await mkdir(join(dir, 'project'));
  let now = Date.parse('2026-02-15T14:30:00Z');
  let seq = 0;
  let others = 0;
  let snapshot: string | undefined;
  /** The first look after a start concludes nothing from what is missing. */
  let hasLooked = false;
  let journal: Journal = await openJournal(join(dir, 'journal.jsonl'), () => now);
  let inbox: InboxSync = start();

  function start(): InboxSync {
    return loneInbox({
      project: journal.project(p),
      journal,
      path,
      clock: () => now,
    });
  }

  const project = () => journal.project(p);
  const one = (number: number) => [...project().messages.values()][number % Math.max(1, project().messages.size)];
  const content = () => (existsSync(path) ? readFileSync(path, 'utf8') : undefined);
  /** Undefined = no well-formed file. */
  const entries = () => entriesOf(content());

  function foreignWrite(change: (entries: InboxEntry[]) => InboxEntry[]): void {
    put(JSON.stringify({ messages: change(entries() ?? []) }));
  }

  function put(text: string): void {
    writeFileSync(`${path}.tmp`, text);
    renameSync(`${path}.tmp`, path);
  }

  async function add(row: object): Promise<void> {
    seq += 1;
    const whole = { ...row, seq, id: messageId('e0', 0, seq), at: now } as Row;
    await journal.append([{ t: 'row', p, at: now, row: whole }]);
  }

  async function turn(number: number, end: 'answered' | 'lost' | 'runs'): Promise<void> {
    const message = one(number);
    if (message?.phase !== 'waiting') return;
    const ids = [message.row.id];
    await journal.append([{ t: 'handed', p, at: now, ids, tool: 'gemini', session: 's', transcript: null, offset: 0 }]);
    if (end === 'lost') await journal.append([{ t: 'returned', p, at: now, ids }]);
    if (end === 'answered') {
      await journal.append([
        { t: 'proved', p, at: now, ids },
        { t: 'ended', p, at: now, ids, state: 'answered' },
      ]);
    }
  }

  async function refresh(): Promise<void> {
    if (project().messages.size === 0) return;
    const before = entries();
    const taken = expectedTaken(project(), hasLooked ? before : undefined, before ?? [], now);
    const waiting = [...project().waiting.keys()].filter((id) => !taken.includes(id));
    await inbox.refresh();
    hasLooked = true;
    expect(inbox.trouble()).toBeUndefined();
    expect([...project().waiting.keys()]).toEqual(waiting);
    for (const id of taken) expect(project().messages.get(id)).toMatchObject({ phase: 'ended', ended: 'taken' });
    const after = entries() ?? [];
    if (content() !== undefined) expect(statSync(path).mode & 0o777).toBe(0o600);
    expectView(project(), after);
    // Of others: whatever was unread is there as it was.
    const foreign = (list: InboxEntry[]) => list.filter((each) => isForeign(project(), each) && !each.read);
    expect(foreign(after)).toEqual(foreign(before ?? []));
    const offered = await inbox.waiting();
    expect(
      offered.messages
        .filter((each) => each.fromOwner)
        .map((each) => each.entry.id)
        .sort(),
    ).toEqual(waiting.sort());
    expect(offered.messages.filter((each) => !each.fromOwner).map((each) => each.entry)).toEqual(
      [...foreign(after)].sort((a, b) => Date.parse(a.timestamp) - Date.parse(b.timestamp)),
    );
  }

  return {
    async run(todo) {
      switch (todo.do) {
        case 'row':
          return add({ kind: 'message', text: todo.text, expiresAt: Number.MAX_SAFE_INTEGER });
        case 'edit': {
          const target = one(todo.pick);
          if (target) await add({ kind: 'edit', editOf: target.row.id, text: todo.text });
          return;
        }
        case 'turn':
          return turn(todo.pick, todo.end);
        case 'time':
          now += todo.ms;
          return;
        case 'refresh':
          return refresh();
        case 'restart':
          await journal.close();
          journal = await openJournal(join(dir, 'journal.jsonl'), () => now);
          inbox = start();
          hasLooked = false;
          return;
        case 'content':
          return put(todo.text);
        case 'remove':
          return rmSync(path, { force: true });
        case 'open':
          if (existsSync(path)) chmodSync(path, 0o644);
          return;
        case 'snapshot':
          snapshot = content();
          return;
        case 'restore':
          if (snapshot !== undefined) put(snapshot);
          return;
        case 'foreignAdd':
          others += 1;
          return foreignWrite((list) => [...list, foreignEntry(`f${others}`, now)]);
        case 'foreignSameId': {
          const id = one(todo.pick)?.row.id;
          others += 1;
          if (id) foreignWrite((list) => [...list, { ...foreignEntry(id, now), text: `Z${others}` }]);
          return;
        }
        case 'foreignRead':
          return foreignWrite((list) => list.map((each, at) => (at === todo.pick ? { ...each, read: true } : each)));
        case 'foreignDrop':
          return foreignWrite((list) => list.filter((_, at) => at !== todo.pick));
        case 'foreignDouble':
          return foreignWrite((list) => [...list, ...list.filter((_, at) => at === todo.pick)]);
      }
    },
    async close() {
      await journal.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function entriesOf(text: string | undefined): InboxEntry[] | undefined {
  try {
    const { messages } = JSON.parse(text ?? '') as { messages?: InboxEntry[] };
    return Array.isArray(messages) ? uniqueByIdentity(messages) : undefined;
  } catch {
    return undefined;
  }
}

/** Two copies of one entry are one, read when one of them is. */
function uniqueByIdentity(list: InboxEntry[]): InboxEntry[] {
  const found = new Map<string, InboxEntry>();
  for (const entry of list) {
    const known = found.get(identityOf(entry));
    const wins =
      !known ||
      (entry.attempt ?? 0) > (known.attempt ?? 0) ||
      ((entry.attempt ?? 0) === (known.attempt ?? 0) && entry.read);
    found.set(identityOf(entry), wins ? entry : known);
  }
  return [...found.values()];
}

const foreignEntry = (id: string, now: number): InboxEntry => ({
  id,
  timestamp: isoSeconds(now),
  from: 'user',
  text: 'from another program',
  read: false,
});

/** It ended long ago, and its words are gone. */
function isOnlyAName(project: ProjectState, id: string): boolean {
  return project.known.has(id) && !project.messages.has(id);
}

/** Not in the words of the journal, and not of an id that the journal remembers only by its name. */
function isForeign(project: ProjectState, entry: InboxEntry): boolean {
  return !['A', 'B', 'C'].includes(entry.text) && !isOnlyAName(project, entry.id);
}

/** The rule of the files: read by another program, or gone from a well-formed file for longer than a stale write takes. */
/** `telling` = the entries from whose absence something follows; undefined = none follows. */
function expectedTaken(
  project: ProjectState,
  telling: InboxEntry[] | undefined,
  before: InboxEntry[],
  now: number,
): string[] {
  return [...project.waiting.values()].flatMap((message) => {
    const shown = before.find((each) => identityOf(each) === identityOf(toEntry(message)));
    if (shown) return shown.read && (shown.attempt ?? 0) >= message.attempt ? [message.row.id] : [];
    const gone = telling !== undefined && message.filedAt !== undefined && now - message.filedAt > 5_000;
    return gone ? [message.row.id] : [];
  });
}

function expectView(project: ProjectState, after: InboxEntry[]): void {
  for (const message of project.messages.values()) {
    const ours = toEntry(message);
    const shown = after.filter((each) => identityOf(each) === identityOf(ours));
    if (message.phase === 'waiting') expect(shown).toEqual([ours]);
    else expect(shown.filter((each) => !each.read && (each.attempt ?? 0) <= message.attempt)).toEqual([]);
    const replaced = (project.replaced.get(message.row.id) ?? []).map(({ text }) => text);
    const dead = replaced.filter((words) => words !== message.row.text);
    expect(after.filter((each) => each.id === message.row.id && dead.includes(each.text))).toEqual([]);
  }
  expect(after.filter((each) => isOnlyAName(project, each.id) && !each.read)).toEqual([]);
}

it('the inbox file shows what the journal holds, whatever other programs do to it: put back, taken, edited, given again', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
      await runAll([...steps, { do: 'refresh' }]);
    }),
    { numRuns: runs(60) },
  );
});

/** Whether the view is right is looked at with each `refresh`. */
async function runAll(steps: Step[]): Promise<void> {
  const scene = await openScene();
  try {
    for (const todo of steps) await scene.run(todo);
  } finally {
    await scene.close();
  }
}

it('a text that was edited away and back again is not taken for the one that the edit replaced', async () => {
  await runAll([
    { do: 'row', text: 'A' },
    { do: 'edit', pick: 0, text: 'B' },
    { do: 'edit', pick: 0, text: 'A' },
    { do: 'refresh' },
    { do: 'time', ms: 6_000 },
    { do: 'refresh' },
  ]);
});

it('a message of another program with the id of a message of the phone is offered to the coding agent, too', async () => {
  await runAll([{ do: 'row', text: 'A' }, { do: 'foreignSameId', pick: 0, text: 'A' }, { do: 'refresh' }]);
});
