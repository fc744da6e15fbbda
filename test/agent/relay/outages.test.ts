import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fileLog } from '../../../agent/log.ts';
import { createOutages, type Outages } from '../../../agent/relay/outages.ts';
import { WaError } from '../../../protocol/errors.ts';

const minuteMs = 60_000;
const startedAt = 1_790_000_000_000;
const poll = '1000001.0 poll';
const outbox = '1000001.0 outbox';
const gone = new WaError('relay_unreachable', 'the relay did not answer /v1/poll: ECONNREFUSED', { hint: 'Check it.' });

let root: string;
let now: number;
let outages: Outages;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'wa-outages-'));
  now = startedAt;
  outages = createOutages({ log: fileLog(join(root, 'wa-sync.log'), () => now), clock: () => now });
});
afterEach(() => rm(root, { recursive: true }));

async function lines(): Promise<Record<string, unknown>[]> {
  const text = await readFile(join(root, 'wa-sync.log'), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

const events = async () => (await lines()).map(({ event }) => event);

describe('the log of a relay that is away', () => {
  it('has a line when it goes and one when all loops are through again, with how long and how many tries', async () => {
    for (let n = 0; n < 100; n += 1) {
      outages.failed(poll, gone);
      outages.failed(outbox, new WaError('relay_error', 'a proxy answered 502'));
      now += 1_000;
    }
    outages.worked(poll);
    outages.worked(outbox);
    expect(await lines()).toEqual([
      {
        time: new Date(startedAt).toISOString(),
        level: 'warn',
        event: 'relay failing',
        part: poll,
        code: 'relay_unreachable',
        message: gone.message,
        hint: 'Check it.',
      },
      {
        time: new Date(startedAt + 100_000).toISOString(),
        level: 'info',
        event: 'relay works again',
        failures: 200,
        forSeconds: 100,
      },
    ]);
  });

  it('has one reminder in five minutes while it lasts', async () => {
    for (; now < startedAt + 60 * minuteMs; now += 500) outages.failed(poll, gone);
    expect(await events()).toEqual(['relay failing', ...Array(11).fill('relay still failing')]);
  });

  it('stays short when the relay comes and goes with each try', async () => {
    for (; now < startedAt + 60 * minuteMs; now += 1_000) {
      outages.failed(poll, gone);
      outages.worked(poll);
    }
    expect((await events()).length).toBeLessThanOrEqual(2 * (5 + 12));
  });

  it('says what comes later: a second outage, and one with another repair', async () => {
    outages.failed(poll, gone);
    outages.worked(poll);
    now += minuteMs;
    outages.failed(poll, gone);
    outages.failed(poll, new WaError('unauthorized', 'the relay does not know this token'));
    outages.failed(outbox, new WaError('mailbox_full', 'the mailbox is full'));
    outages.worked(poll);
    outages.worked(outbox);
    expect((await lines()).map(({ event, code }) => code ?? event)).toEqual([
      'relay_unreachable',
      'relay works again',
      'relay_unreachable',
      'unauthorized',
      'mailbox_full',
      'relay works again',
      'relay works again',
    ]);
  });
});
