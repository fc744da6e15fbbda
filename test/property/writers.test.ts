import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pruneSettled } from '../../agent/mailbox/merge.ts';
import { updateMailboxFile } from '../../agent/mailbox/update.ts';
import { isoSeconds, type OutboxEntry } from '../../protocol/files.ts';
import { fileLimits } from '../../protocol/limits.ts';
import { quickFolder, runs } from './runs.ts';

const entryOf = (id: string, fields: Partial<OutboxEntry> = {}): OutboxEntry => ({
  id,
  timestamp: isoSeconds(Date.now()),
  from: 'agent',
  text: `text of ${id}`,
  sent: false,
  ...fields,
});

async function inFolder<T>(work: (path: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(quickFolder(), 'wa-writers-'));
  try {
    return await work(join(dir, 'wa_outbox.json'));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const readNow = (path: string): OutboxEntry[] =>
  existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { messages: OutboxEntry[] }).messages : [];

/** A script of another program: no lock, a name of its own, all within one tick, so that nothing of ours comes in between. */
function foreignWrite(path: string, change: (entries: OutboxEntry[]) => OutboxEntry[]): void {
  const temporary = `${path}.tmp`;
  writeFileSync(temporary, JSON.stringify({ messages: change(readNow(path)) }));
  chmodSync(temporary, 0o644);
  renameSync(temporary, path);
}

type Act = { wait: number } & (
  | { by: 'ours'; add: boolean; settle: number }
  | { by: 'foreign'; add: boolean; settle: number }
);

const act: fc.Arbitrary<Act> = fc.record({
  wait: fc.nat(3),
  by: fc.constantFrom('ours', 'ours', 'foreign'),
  add: fc.boolean(),
  settle: fc.nat(200),
}) as fc.Arbitrary<Act>;

/** Lets other writers go first, `turns` times. */
async function letOthers(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

it('eight writers at once, with and without our lock: nothing of ours is lost, and nothing of others that one of us has seen', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(act, { maxLength: 12 }), { minLength: 8, maxLength: 8 }), async (writers) =>
      inFolder(async (path) => {
        const added = new Set<string>();
        const foreign = new Set<string>();
        const seen = new Set<string>();
        const settled = new Set<string>();
        const writer = async (acts: Act[], name: number) => {
          for (const [number, { wait, by, add, settle }] of acts.entries()) {
            await letOthers(wait);
            const id = `${by}-${name}-${number}`;
            const target = readNow(path)[settle]?.id;
            const change = (entries: readonly OutboxEntry[]) => [
              ...entries.map((each) => (each.id === target ? { ...each, sent: true } : each)),
              ...(add ? [entryOf(id)] : []),
            ];
            if (by === 'foreign') {
              foreignWrite(path, change);
              if (add) foreign.add(id);
              continue;
            }
            const { entries } = await updateMailboxFile<OutboxEntry>(
              { path, kind: 'outbox', now: Date.now, lockTimeoutMs: 30_000 },
              change,
            );
            if (add) added.add(id);
            for (const each of entries) seen.add(each.id);
            for (const each of entries) if (each.sent) settled.add(each.id);
          }
        };
        await Promise.all(writers.map(writer));
        const last = readNow(path);
        const left = new Map(last.map((each) => [each.id, each]));
        expect([...added].filter((id) => !left.has(id))).toEqual([]);
        // The documented window: added by another program after our last look, and seen by none of us.
        expect([...foreign].filter((id) => !left.has(id) && seen.has(id))).toEqual([]);
        expect([...settled].filter((id) => left.get(id)?.sent === false)).toEqual([]);
        expect(last.map((each) => each.id)).toEqual([...new Set(last.map((each) => each.id))]);
      }),
    ),
    { numRuns: runs(25) },
  );
});

it('after a write of ours at most the limit stand in the file, unless more are unsent, and no unsent one has gone', async () => {
  const entry = fc.record({ sent: fc.boolean(), ageMs: fc.nat(2 * fileLimits.settledKeptMs) });
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 260, size: 'max' }), async (kinds) =>
      inFolder(async (path) => {
        const now = Date.now();
        const before = kinds.map(({ sent, ageMs }, number) =>
          entryOf(`e${number}`, { sent, timestamp: isoSeconds(now - ageMs) }),
        );
        foreignWrite(path, () => before);
        await updateMailboxFile<OutboxEntry>({ path, kind: 'outbox', now: () => now }, (entries) =>
          pruneSettled([...entries, entryOf('ours')], 'outbox', now),
        );
        const after = readNow(path);
        const unsent = (entries: OutboxEntry[]) => entries.filter((each) => !each.sent);
        expect(unsent(after)).toEqual([...unsent(before), expect.objectContaining({ id: 'ours' })]);
        expect(after.length <= fileLimits.entries || after.every((each) => !each.sent)).toBe(true);
        expect(statSync(path).mode & 0o777).toBe(0o600);
        expect(await readFile(path, 'utf8')).toBe(`${JSON.stringify({ messages: after }, null, 2)}\n`);
      }),
    ),
    { numRuns: runs(40) },
  );
});

it('eight processes at once: every entry that one was told is in stands in the file, sent as the last one said', async () => {
  const program = fileURLToPath(new URL('./writer.ts', import.meta.url));
  const names = Array.from({ length: 8 }, (_, index) => `writer${index}`);
  const count = 12;
  await inFolder(async (path) => {
    const outputs = await Promise.all(
      names.map((name) => promisify(execFile)(process.execPath, ['--no-warnings', program, path, name, String(count)])),
    );
    expect(outputs.map(({ stdout, stderr }) => stdout.trim().split('\n').length + stderr.length)).toEqual(
      names.map(() => count),
    );
    const sent = Object.fromEntries(readNow(path).map((each) => [each.id, each.sent]));
    const wanted = names.flatMap((name) =>
      Array.from({ length: count }, (_, number) => [`${name}-${number}`, number < count - 1]),
    );
    expect(sent).toEqual(Object.fromEntries(wanted));
  });
});
