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
import type { Standing } from '../../../protocol/standing.ts';
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
function pollsOf(
  answer: Answer,
  {
    untilMs = 2 * minuteMs,
    most = 1_000,
    onPoll = (_count: number) => {},
    onParked = (_request: PollRequest) => {},
    standing,
  }: {
    untilMs?: number;
    most?: number;
    onPoll?: (count: number) => void;
    onParked?: (request: PollRequest) => void;
    standing?: () => Standing;
  } = {},
): Promise<number[]> {
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
          if (elapsedMs >= untilMs || at.length >= most) {
            onParked(request);
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
      ...(standing === undefined ? {} : { standing }),
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

const standing: Standing = {
  machine: 'laptop',
  folder: 'app',
  version: '0.1.0',
  zone: 'Europe/Berlin',
  doing: 'idle',
  sinceAt: startedAt,
  asked: 0,
  waiting: 0,
  away: false,
  approvals: 'off',
  usage: [],
};

describe('where a project stands', () => {
  const sent = async (answer: Answer, now: () => Standing, most = 6) => {
    const requests: (Standing | undefined)[] = [];
    await pollsOf(
      (request, count) => {
        requests.push(request.standing);
        return answer(request, count);
      },
      { standing: now, most },
    );
    return requests;
  };

  it('goes with the next poll, and never again while it stays so', async () => {
    const requests = await sent(
      () => nothing,
      () => ({ ...standing }),
    );
    expect(requests).toEqual([standing, ...Array(5).fill(undefined)]);
  });

  it('goes again when it changes, when the poll failed, and to another storage', async () => {
    let polls = 0;
    const requests = await sent(
      (_, count) => {
        polls = count;
        if (count === 3) throw new WaError('relay_bad_answer', 'the answer ended early');
        return count < 5 ? nothing : { ...nothing, epoch: 'f' };
      },
      () => ({ ...standing, away: polls > 0 }),
      7,
    );
    const away = { ...standing, away: true };
    // 1 first, 2 changed, 3 nothing new and fails, 4 again, 5 another storage answers, 6 it gets the standing, 7 nothing new.
    expect(requests).toEqual([standing, away, undefined, away, undefined, away, undefined]);
  });

  it('makes the daemon poll at once for what the phone should know, and not for counts', async () => {
    let now = standing;
    const parked: (Standing | undefined)[] = [];
    let onParked = () => {};
    const next = () =>
      new Promise<void>((resolve) => {
        onParked = resolve;
      });
    let isParked = next();
    void pollsOf(() => nothing, {
      standing: () => now,
      most: 1,
      onParked({ standing: sent }) {
        parked.push(sent);
        onParked();
      },
    });
    await isParked;
    const counted = { ...standing, waiting: 3, usage: [{ session: 'a', agent: 'b', turns: 1 }] };
    now = counted;
    pull?.stands();
    isParked = next();
    now = { ...counted, away: true };
    pull?.stands();
    await isParked;
    // A second change within seconds goes with a later poll.
    now = { ...counted, asked: 1 };
    pull?.stands();
    expect(parked).toEqual([undefined, { ...counted, away: true }]);
  });
});

describe('a relay whose day runs out', () => {
  it('is asked with the hold and after the pause that it names, while nothing comes', async () => {
    const holds: number[] = [];
    const slow = { holdMs: 50_000, pollAfterMs: 1 };
    await pollsOf(
      ({ holdMs }, count) => {
        holds.push(holdMs);
        return { ...nothing, slow: count < 4 ? slow : { holdMs: Number.NaN, pollAfterMs: -1 } };
      },
      { most: 6 },
    );
    expect(holds).toEqual([0, 50_000, 50_000, 50_000, 25_000, 25_000]);
  });

  it('is asked without a pause while a turn runs or a terminal waits, which may need a STOP', async () => {
    const slow = { holdMs: 50_000, pollAfterMs: 80_000 };
    const busy = (count: number) => ({ ...standing, doing: count < 4 ? ('turn' as const) : ('waiting' as const) });
    let polls = 0;
    const at = await pollsOf(
      (_, count) => {
        polls = count;
        return { ...nothing, slow };
      },
      { most: 8, standing: () => busy(polls) },
    );
    expect(at).toHaveLength(8);
  });
});
