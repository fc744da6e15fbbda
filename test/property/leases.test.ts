// Leases against a model, on the real journal and inbox file: whatever polls, hooks, ends, dies or restarts in whatever order,
// a message is with at most one of them, and it ends or comes back.

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Journal, openJournal } from '../../agent/journal/journal.ts';
import { readMailbox } from '../../agent/mailbox/update.ts';
import { createLeases, type Leases } from '../../agent/session/leases.ts';
import { messageId } from '../../protocol/ids.ts';
import { fileLimits } from '../../protocol/limits.ts';
import { loneInbox } from '../helpers/inbox.ts';
import { quickFolder, runs } from './runs.ts';

const p = '1.0';
const hour = 3_600_000;
const agent = fc.constantFrom('a', 'b');

type Step =
  | { do: 'arrive' | 'turn' | 'restart' | 'check' }
  | { do: 'poll'; who: string; limit: number }
  | { do: 'reply' | 'ack' | 'close' | 'die'; who: string }
  | { do: 'wait'; hours: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<Step>({ do: 'arrive' }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('poll' as const), who: agent, limit: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('reply' as const, 'ack' as const, 'close' as const, 'die' as const),
      who: agent,
    }),
  },
  { weight: 2, arbitrary: fc.constantFrom<Step>({ do: 'turn' }, { do: 'restart' }, { do: 'check' }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 13 }) }) },
);

interface Expected {
  /** Who has it: an agent's connection, `turn`, or nobody. */
  with: string | undefined;
  replied: boolean;
  attempt: number;
  until: number;
  ended: string | undefined;
}

async function world() {
  const dir = await mkdtemp(join(quickFolder(), 'wa-leases-'));
  await mkdir(join(dir, 'project'));
  const path = join(dir, 'project', 'wa_inbox.json');
  let now = Date.parse('2026-02-15T14:30:00Z');
  const dead = new Set<number>();
  const told: string[] = [];
  let journal: Journal;
  let leases: Leases;
  async function open() {
    journal = await openJournal(join(dir, 'journal.jsonl'), () => now);
    const inbox = loneInbox({
      project: journal.project(p),
      journal,
      path,
      clock: () => now,
    });
    leases = createLeases({
      project: journal.project(p),
      journal,
      inbox,
      exclusive: (work) => work(),
      isGone: ({ pid }) => dead.has(pid),
      tell: async ({ replyTo = '' }) => void told.push(replyTo),
      onReceipts: () => {},
      clock: () => now,
      log: () => {},
    });
    await inbox.refresh();
    return inbox;
  }
  let inbox = await open();
  /** Each process of an agent is another connection. */
  const generation = new Map([
    ['a', 1],
    ['b', 2],
  ]);
  let pids = 2;
  const holderOf = (who: string) => {
    const pid = generation.get(who) ?? 0;
    return { connection: `${who}${pid}`, client: who, pid, started: '', space: '', parent: 0 };
  };
  return {
    told,
    project: () => journal.project(p),
    now: () => now,
    holderOf,
    leases: () => leases,
    inbox: () => inbox,
    file: async () => (await readMailbox(path, 'inbox')).entries as { id: string; read: boolean; attempt?: number }[],
    append: (record: object) => journal.append([{ p, at: now, ...record } as never]),
    next(who: string) {
      pids += 1;
      generation.set(who, pids);
    },
    kill: (who: string) => dead.add(holderOf(who).pid),
    wait: (ms: number) => {
      now += ms;
    },
    async restart() {
      await inbox.refresh();
      await journal.close();
      inbox = await open();
    },
    async close() {
      await inbox.refresh();
      await journal.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function follow(steps: readonly Step[]): Promise<void> {
  const w = await world();
  const model = new Map<string, Expected>();
  const back = (which: (each: Expected) => boolean) => {
    for (const each of model.values()) {
      if (!each.with || each.with === 'turn' || each.ended || !which(each)) continue;
      each.with = undefined;
      if (each.attempt + 1 >= fileLimits.maxAttempts) each.ended = 'failed';
      else each.attempt += 1;
    }
  };
  const free = () => [...model].filter(([, each]) => !each.with && !each.ended).map(([id]) => id);
  const dead = new Set<string>();
  const due = () => back((each) => dead.has(each.with ?? '') || w.now() >= each.until);
  try {
    let seq = 0;
    for (const each of steps) {
      switch (each.do) {
        case 'arrive': {
          seq += 1;
          const id = messageId('e', 0, seq);
          const row = { seq, id, at: w.now(), kind: 'message', text: `text ${seq}`, expiresAt: 9e15 };
          await w.append({ t: 'row', row });
          await w.inbox().refresh();
          model.set(id, { with: undefined, replied: false, attempt: 0, until: 0, ended: undefined });
          break;
        }
        case 'poll': {
          const { connection } = w.holderOf(each.who);
          const given = await w.leases().take(w.holderOf(each.who), each.limit);
          const expected = free().slice(0, each.limit);
          expect(given.map(({ entry }) => entry.id)).toEqual(expected);
          for (const id of expected)
            Object.assign(model.get(id) as Expected, { with: connection, replied: false, until: w.now() + 12 * hour });
          break;
        }
        case 'reply': {
          const { connection } = w.holderOf(each.who);
          await w.leases().replied(connection);
          for (const one of model.values()) if (one.with === connection) one.replied = true;
          break;
        }
        case 'ack': {
          const { connection } = w.holderOf(each.who);
          const { acked } = await w.leases().acknowledge(connection, [...model.keys()]);
          for (const [id, one] of model) {
            if (one.with === connection && one.replied && !one.ended) {
              one.ended = 'answered';
              one.with = undefined;
            }
            expect(acked.includes(id)).toBe(one.ended === 'answered');
          }
          break;
        }
        case 'close': {
          const { connection } = w.holderOf(each.who);
          await w.leases().release('closed', (_, { holder }) => holder.connection === connection);
          back((one) => one.with === connection);
          w.next(each.who);
          break;
        }
        case 'die':
          dead.add(w.holderOf(each.who).connection);
          w.kill(each.who);
          w.next(each.who);
          break;
        case 'check':
          await w.leases().check();
          due();
          break;
        case 'turn': {
          const { messages } = await w.inbox().waiting();
          const ids = messages.map(({ entry }) => entry.id);
          expect(ids).toEqual(free());
          if (ids.length > 0) {
            const hand = { tool: 'gemini', session: 's', transcript: null } as const;
            const record = () => w.append({ t: 'handed', ids, ...hand, offset: 0 });
            expect(await w.inbox().take(messages, { ...hand, at: 0 }, record)).toBe(true);
          }
          for (const id of ids) Object.assign(model.get(id) as Expected, { with: 'turn' });
          break;
        }
        case 'restart':
          await w.restart();
          break;
        case 'wait':
          w.wait(each.hours * hour);
          break;
      }
      await w.inbox().refresh();
      const unread = new Map((await w.file()).map((entry) => [entry.id, entry]));
      for (const [id, one] of model) {
        const held = w.project().messages.get(id);
        const phase = one.ended ? 'ended' : one.with === 'turn' ? 'handed' : one.with ? 'leased' : 'waiting';
        // What has ended and is reported may be gone from the journal after a restart.
        if (held || !one.ended) {
          expect([id, held?.phase, held?.attempt]).toEqual([id, phase, one.attempt]);
          expect(held?.lease?.holder.connection).toBe(phase === 'leased' ? one.with : undefined);
        }
        const entry = unread.get(id);
        if (entry) expect([id, entry.read]).toEqual([id, phase !== 'waiting']);
        else expect(phase).not.toBe('waiting');
      }
      expect(w.told.length).toBe([...model.values()].filter(({ ended }) => ended === 'failed').length);
    }
  } finally {
    await w.close();
  }
}

it('a message is with one agent, one turn or nobody, and never ends without an answer or a word to the phone', async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), follow), { numRuns: runs(150) });
}, 300_000);
