// The pull loop against relays that answer at once and say nothing, garbage, or what is known.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Journal, openJournal } from '../../../agent/journal/journal.ts';
import { createPace } from '../../../agent/relay/backoff.ts';
import type { RelayClient } from '../../../agent/relay/client.ts';
import { createOutages } from '../../../agent/relay/outages.ts';
import { type Pull, startPull } from '../../../agent/relay/pull.ts';
import { WaError } from '../../../protocol/errors.ts';
import { messageId } from '../../../protocol/ids.ts';
import type { PollAnswer, PollRequest } from '../../../protocol/relay-api.ts';
import { privatePhone } from '../../helpers/private-phone.ts';

const minuteMs = 60_000;
const startedAt = 1_790_000_000_000;

let root: string;
let journal: Journal;
let pull: Pull | undefined;
/** Moves only where the loop waits. */
let elapsedMs: number;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'wa-pull-'));
  journal = await openJournal(join(root, 'journal.jsonl'), () => startedAt);
  elapsedMs = 0;
});
afterEach(async () => {
  await pull?.stop();
  await journal.close();
  await rm(root, { recursive: true });
});

type Answer = (request: PollRequest, count: number) => PollAnswer;

/** When the polls of the first minutes came, milliseconds after the start. */
function pollsOf(answer: Answer, { untilMs = 2 * minuteMs, onPoll = (_count: number) => {} } = {}): Promise<number[]> {
  const at: number[] = [];
  // biome-ignore lint/nursery/noMisusedPromises: the promise that the rule sees is returned by `poll`, not by the executor
  return new Promise((resolve) => {
    pull = startPull({
      project: journal.project('1000001.0'),
      address: { mailbox: '1000001', project: 0 },
      journal,
      client: {
        async poll(request: PollRequest, signal: AbortSignal) {
          // The loop has no clock but that of its waits: one that never waits would never see the end of the minute.
          if (elapsedMs >= untilMs || at.length >= 1_000) {
            resolve(at);
            return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
          }
          at.push(elapsedMs);
          onPoll(at.length);
          return answer(request, at.length);
        },
      } as Partial<RelayClient> as RelayClient,
      daemon: { id: 'daemon-1', startedAt },
      clock: () => startedAt + elapsedMs,
      random: () => 0,
      pace: createPace(
        () => elapsedMs,
        async (ms) => {
          elapsedMs += ms;
        },
      ),
      log: () => {},
      outages: createOutages({ log: () => {}, clock: () => 0 }),
      onRows: async () => {},
      onEnded: () => {},
      onEpoch: () => {},
      onRelayClock: () => {},
    });
  });
}

/** The most polls in any minute. */
function mostInAMinute(at: readonly number[]): number {
  return Math.max(...at.map((from) => at.filter((time) => time >= from && time < from + minuteMs).length));
}

const nothing: PollAnswer = { epoch: 'e', now: startedAt, rows: [], controls: [], cursor: 0, phone: privatePhone };
const row = (seq: number) =>
  ({
    seq,
    id: messageId('e', 0, seq),
    at: startedAt,
    kind: 'message',
    text: `m${seq}`,
    expiresAt: startedAt + 1e9,
  }) as const;

describe('a relay that answers at once', () => {
  it.each<[string, Answer]>([
    ['without news', () => nothing],
    ['with rows that are known', () => ({ ...nothing, rows: [row(1)], cursor: 1 })],
    ['with another epoch each time', (_, count) => ({ ...nothing, epoch: `e${count}` })],
    ['with a higher cursor each time', (_, count) => ({ ...nothing, cursor: count })],
    [
      'with garbage and nothing by turns',
      (_, count) => {
        if (count % 2 === 0) return nothing;
        throw new WaError('relay_bad_answer', 'the answer ended early');
      },
    ],
  ])('%s is asked at most 240 times in a minute', async (_, answer) => {
    const at = await pollsOf(answer);
    expect(mostInAMinute(at)).toBeLessThanOrEqual(240);
    // And it is asked: a floor, not a wall.
    expect(at.length).toBeGreaterThan(300);
  });

  it('is asked no more often when something is to be reported all the time', async () => {
    const at = await pollsOf(() => nothing, { onPoll: () => pull?.wake() });
    expect(mostInAMinute(at)).toBeLessThanOrEqual(240);
  });

  it('delivers a burst of real messages without a wait, one in each answer', async () => {
    const at = await pollsOf((_, count) =>
      count <= 500 ? { ...nothing, rows: [row(count)], cursor: count } : nothing,
    );
    expect(at.slice(0, 500)).toEqual(Array(500).fill(0));
    expect(journal.project('1000001.0').waiting.size).toBe(500);
  });
});
