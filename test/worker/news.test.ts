import { describe, expect, it } from 'vitest';
import type { SendOutcome } from '../../worker/platform.ts';
import { createBench, daemon, epoch, startAt } from './bench.ts';

const part = (text: string) => ({ text, entities: [] });
const retry: SendOutcome = { kind: 'retry', code: 'platform_error', reason: 'HTTP 502' };

describe('news of the outbox', () => {
  it('end a parked poll, once, and stand in every answer until the daemon asks', async () => {
    const bench = createBench();
    bench.post({ key: 'answer-1' });
    const socket = bench.open();
    await bench.wake();
    expect(socket.frame()).toMatchObject({ head: '200', body: { rows: [], outbox: 'changed' } });
    expect(bench.open().frame()).toMatchObject({ head: 'parked', body: { outbox: 'changed' } });
    bench.post({ key: 'answer-1' });
    expect(bench.open().frame()?.body).toEqual({
      epoch,
      now: startAt,
      rows: [],
      controls: [],
      cursor: 0,
      phone: expect.anything(),
    });
  });

  it('that came while nobody polled answer the next poll at once, also after the object was evicted', async () => {
    const bench = createBench();
    bench.post({ key: 'answer-1' });
    await bench.wake();
    bench.restart();
    expect(bench.open().frame()).toMatchObject({ head: '200', body: { outbox: 'changed' } });
  });

  it('stay until the daemon has asked for every key that ended', async () => {
    const bench = createBench();
    bench.post({ key: 'answer-1' }, { key: 'answer-2' });
    await bench.wake();
    expect(bench.open().frame()).toMatchObject({ head: '200', body: { outbox: 'changed' } });
    bench.post({ key: 'answer-1' });
    expect(bench.open().frame()?.body).toMatchObject({ outbox: 'changed' });
    bench.post({ key: 'answer-2' });
    expect(bench.open().frame()?.body.outbox).toBeUndefined();
  });

  it('end when a daemon that was told does not ask for a long time: it has forgotten the key', async () => {
    const bench = createBench();
    bench.post({ key: 'answer-1' });
    await bench.wake();
    expect(bench.poll()).toMatchObject({ outbox: 'changed' });
    bench.clock.now += 9 * 60_000;
    expect(bench.poll()).toMatchObject({ outbox: 'changed' });
    bench.clock.now += 60_000;
    expect(bench.poll().outbox).toBeUndefined();
  });

  it('say nothing of a part before the last, nor of progress', async () => {
    const bench = createBench();
    const socket = bench.open();
    bench.platform.script.push({ kind: 'sent' }, retry);
    bench.post({ key: 'answer-1', parts: [part('one'), part('two')] }, { key: 'progress-1', class: 'progress' });
    await bench.wake();
    expect(socket.frame()?.head).toBe('parked');
  });

  it('are not taken back by a post of new keys alone', async () => {
    const bench = createBench();
    bench.post({ key: 'answer-1' });
    await bench.wake();
    bench.post({ key: 'answer-2' });
    expect(bench.open().frame()).toMatchObject({ head: '200', body: { outbox: 'changed' } });
  });

  it('say nothing of what the relay itself sent', async () => {
    const bench = createBench();
    bench.say('/ping');
    await bench.wake();
    expect(bench.open({ daemon }).frame()?.body).toEqual({
      epoch,
      now: startAt,
      rows: [],
      controls: [],
      cursor: 0,
      phone: expect.anything(),
    });
  });
});
