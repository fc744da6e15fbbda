import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { apply } from '../../agent/journal/apply.ts';
import { compact } from '../../agent/journal/compact.ts';
import { openJournal } from '../../agent/journal/journal.ts';
import { type JournalRecord, type ProjectRecord, parseRecord } from '../../agent/journal/records.ts';
import { emptyProject, isKnown, type JournalState, type ProjectState } from '../../agent/journal/state.ts';
import { messageId } from '../../protocol/ids.ts';
import type { Row } from '../../protocol/log.ts';
import { quickFolder, runs } from './runs.ts';

const p = '1.0';
const number = fc.integer({ min: 1, max: 8 });
const ids = fc
  .uniqueArray(number, { minLength: 1, maxLength: 2 })
  .map((all) => all.map((seq) => messageId('e', 0, seq)));
const text = fc.constantFrom('A', 'B');
const holder = { connection: 'c', client: 'x', pid: 7, started: '1', space: '', parent: 6 };
const outboxKey = fc.constantFrom('key-of-entry', 'key-of-item');

/** Its place in the log is given when it comes: rows come in order. */
function rowAt(seq: number, { kind, of, text: words }: { kind: string; of: number; text: string }): Row {
  const head = { seq, id: messageId('e', 0, seq), at: 1_000 * seq };
  if (kind === 'edit') return { ...head, kind, editOf: messageId('e', 0, of), text: words };
  if (kind === 'message') return { ...head, kind, text: words, expiresAt: 9e12 };
  if (kind === 'later') return { ...head, kind: 'control', control: { type: 'command', name: 'later', args: words } };
  return { ...head, kind: 'control', control: { type: 'stop', text: 'stop' } };
}

const change: fc.Arbitrary<object> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      t: fc.constant('row'),
      kind: fc.constantFrom('message', 'message', 'edit', 'edit', 'control', 'later'),
      of: number,
      text,
    }),
  },
  { weight: 2, arbitrary: ids.map((of) => ({ t: 'filed', ids: of })) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom('parked', 'unparked'), ids).map(([t, of]) => ({ t, ids: of })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('later', 'stopWord'), number)
      .map(([t, seq]) => ({ t, id: messageId('e', 0, seq) })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(null, { id: 's', tasks: 3, done: 1 }).map((sprint) => ({ t: 'sprint', sprint })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(true, false).map((value) => ({ t: 'setting', name: 'away', value })),
  },
  // Only what waits is handed over, only what is handed can be proved, come back, or end: as the daemon does it.
  {
    weight: 3,
    arbitrary: ids.map((of) => ({ t: 'handed', ids: of, tool: 'gemini', session: 's', transcript: '/t', offset: 3 })),
  },
  { weight: 3, arbitrary: fc.tuple(fc.constantFrom('proved', 'returned'), ids).map(([t, of]) => ({ t, ids: of })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(ids, fc.constantFrom('taken', 'answered', 'failed', 'lost', 'expired'))
      .map(([of, state]) => ({ t: 'ended', ids: of, state })),
  },
  { weight: 3, arbitrary: ids.map((of) => ({ t: 'leased', ids: of, holder, untilAt: 9e12 })) },
  { weight: 2, arbitrary: ids.map((of) => ({ t: 'replied', ids: of })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(ids, fc.boolean())
      .map(([of, ungiven]) => ({ t: 'unleased', ids: of, ...(ungiven ? { ungiven } : {}) })),
  },
  { weight: 2, arbitrary: fc.constant({ t: 'receipted' }) },
  { weight: 1, arbitrary: fc.constant({ t: 'spent', ids: [1, 2, 3, 4, 5].map((seq) => messageId('e', 0, seq)) }) },
  { weight: 1, arbitrary: fc.constant({ t: 'epoch', epoch: 'e', cursor: 0 }) },
  {
    weight: 1,
    arbitrary: fc.constant({
      t: 'entry',
      key: 'key-of-entry',
      answer: { id: 'r', timestamp: 't', text: 'done' },
      replyTo: 'm',
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constant({
      t: 'item',
      key: 'key-of-item',
      item: { key: 'key-of-item', class: 'reply', parts: [{ text: 'x', entities: [] }] },
    }),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(outboxKey, fc.constantFrom('queued', 'sent', 'dead'))
      .map(([key, state]) => ({ t: 'key', key, state })),
  },
);

/** Leaves out what the daemon never writes: each step needs a message in the phase before it. */
function allowed(project: ProjectState | undefined, record: Record<string, unknown>): object | undefined {
  const phases: Record<string, string[]> = {
    filed: ['waiting'],
    parked: ['waiting', 'fetching'],
    unparked: ['waiting', 'fetching'],
    handed: ['waiting'],
    proved: ['handed'],
    returned: ['handed'],
    ended: ['waiting', 'leased', 'handed', 'injected'],
    leased: ['waiting'],
    replied: ['leased'],
    unleased: ['leased'],
  };
  if (record.t === 'receipted') return { ...record, receipts: [...(project?.receipts.values() ?? [])] };
  const needed = phases[String(record.t)];
  if (!needed) return record;
  const fit = (record.ids as string[]).filter((id) => needed.includes(project?.messages.get(id)?.phase ?? ''));
  return fit.length > 0 ? { ...record, ids: fit } : undefined;
}

/** What anybody can still ask of a project: of a message that ended and is reported only that it is known. */
function askable(project: ProjectState = emptyProject(p)) {
  const isOver = (id: string) => project.messages.get(id)?.phase === 'ended' && !project.receipts.has(id);
  const messages = [...project.messages].filter(([id]) => !isOver(id)).sort(([a], [b]) => (a < b ? -1 : 1));
  const candidates = Array.from({ length: 40 }, (_, index) => messageId('e', 0, index + 1));
  return {
    epoch: project.epoch,
    cursor: project.epoch === null ? null : project.cursor,
    messages,
    waiting: [...project.waiting.keys()],
    leased: [...project.leased.keys()].sort(),
    replaced: [...project.replaced].filter(([id]) => !isOver(id)).sort(([a], [b]) => (a < b ? -1 : 1)),
    controls: [...project.controls.values()],
    known: candidates.filter((id) => isKnown(project, id)),
    receipts: [...project.receipts].sort(([a], [b]) => (a < b ? -1 : 1)),
    outbox: [...project.outbox],
    openKeys: [...project.openKeys].sort(),
    sprint: project.sprint,
    settings: [...project.settings],
  };
}

const changes = fc.array(change, { maxLength: 40, size: 'max' });

/** What the daemon would have written; `state` is what it adds up to. */
function recordsOf(changes: readonly object[]): { records: ProjectRecord[]; state: JournalState; at: number } {
  const state: JournalState = new Map();
  const records: ProjectRecord[] = [];
  let at = 1_000_000;
  let seq = 0;
  for (const each of changes as Record<string, unknown>[]) {
    at += 1_000;
    if (each.t === 'row') seq += 1;
    const made = each.t === 'row' ? { t: 'row', row: rowAt(seq, each as never) } : allowed(state.get(p), each);
    if (!made) continue;
    const record = { p, at, ...made } as ProjectRecord;
    apply(state, record);
    records.push(record);
  }
  return { records, state, at };
}

it('a journal that was compacted, once or twice, says what it said before', () => {
  fc.assert(
    fc.property(changes, (changes) => {
      const { state, at } = recordsOf(changes);
      const before = askable(state.get(p));
      let compacted = state;
      for (let round = 0; round < 2; round += 1) {
        const lines = compact(compacted, at).map((record) => JSON.stringify(record));
        compacted = new Map();
        for (const line of lines) apply(compacted, parseRecord(line) as JournalRecord);
        expect(askable(compacted.get(p))).toEqual(before);
      }
    }),
    { numRuns: runs(1_000) },
  );
});

it('a journal that is compacted while it is written says the same, in memory and to whoever reads it next', async () => {
  await fc.assert(
    fc.asyncProperty(changes, fc.integer({ min: 1, max: 4 }), async (changes, perAppend) => {
      const dir = await mkdtemp(join(quickFolder(), 'wa-compaction-'));
      const path = join(dir, 'journal.jsonl');
      const { records, state, at } = recordsOf(changes);
      const before = askable(state.get(p));
      const journal = await openJournal(path, () => at, 1);
      for (let next = 0; next < records.length; next += perAppend) {
        await journal.append(structuredClone(records.slice(next, next + perAppend)));
      }
      expect(askable(journal.project(p))).toEqual(before);
      await journal.close();
      const reopened = await openJournal(path, () => at);
      expect(askable(reopened.project(p))).toEqual(before);
      await reopened.close();
      await rm(dir, { recursive: true });
    }),
    { numRuns: runs(60) },
  );
});

it('a journal whose process is killed at any write, also in a compaction, keeps all that it had promised', async () => {
  const seqs = Array.from({ length: 400 }, (_, index) => index + 1);
  const records = seqs.map((seq) => ({ t: 'row', p, at: seq, row: rowAt(seq, { kind: 'message', of: 1, text: 'A' }) }));
  const dir = await mkdtemp(join(quickFolder(), 'wa-compaction-'));
  const module = new URL('../../agent/journal/journal.ts', import.meta.url).href;
  // Ends every message, so that each compaction leaves things out; says aloud what it was promised.
  const writer = `import { openJournal } from ${JSON.stringify(module)};
    const journal = await openJournal(process.argv[1], () => 1, 1);
    for (const record of ${JSON.stringify(records)}) {
      await journal.append([record, { t: 'ended', p: record.p, at: 1, ids: [record.row.id], state: 'taken' }]);
      console.log(record.row.seq);
    }`;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 60 }), async (killAfter) => {
      const path = join(await mkdtemp(join(dir, 'run-')), 'journal.jsonl');
      const child = spawn(process.execPath, ['--input-type=module', '-e', writer, path], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      let promised = 0;
      for await (const line of createInterface({ input: child.stdout })) {
        promised = Number(line);
        if (promised === killAfter) child.kill('SIGKILL');
      }
      expect(promised).toBeGreaterThanOrEqual(killAfter);
      const journal = await openJournal(path, () => 1);
      const project = journal.project(p);
      expect(seqs.slice(0, promised).filter((seq) => !isKnown(project, messageId('e', 0, seq)))).toEqual([]);
      expect([journal.unreadableLines, project.waiting.size <= 1]).toEqual([0, true]);
      await journal.close();
    }),
    { numRuns: 12 },
  );
  await rm(dir, { recursive: true });
});
