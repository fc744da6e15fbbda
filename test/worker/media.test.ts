import { describe, expect, it } from 'vitest';
import { messageId } from '../../protocol/ids.ts';
import { relayLimits } from '../../protocol/limits.ts';
import type { PhoneFile } from '../../protocol/log.ts';
import { createBench, epoch, startAt, textsOf } from './bench.ts';

const idOf = (seq: number) => messageId(epoch, 0, seq);
const photo = (id: string): PhoneFile => ({ id, kind: 'photo', name: 'photo.jpg', bytes: 10 });

describe('a message with files', () => {
  it('names them by ids of the relay, by which only this log can be read', () => {
    const bench = createBench();
    bench.say('look', { files: [photo('platform-id')] });
    const [row] = bench.poll().rows;
    expect(row).toEqual({
      seq: 1,
      id: idOf(1),
      at: startAt,
      kind: 'message',
      text: 'look',
      expiresAt: startAt + relayLimits.messageTtlMs,
      files: [{ ...photo('platform-id'), id: `${idOf(1)}_0` }],
    });
    expect(bench.logic.findFile(0, `${idOf(1)}_0`).id).toBe('platform-id');
    for (const id of ['platform-id', `${idOf(1)}_1`, `${idOf(2)}_0`, 'msg_zz_0_1_0', `${idOf(1)}_`, '', '_'])
      expect(() => bench.logic.findFile(0, id)).toThrow('has no file');
    expect(() => bench.logic.findFile(12, `${idOf(1)}_0`)).toThrow('has no file');
  });

  it('keeps them when it is sent again', () => {
    const bench = createBench();
    bench.say('look', { files: [photo('platform-id')] });
    bench.poll({ after: 1, receipts: [{ id: idOf(1), attempt: 0, state: 'failed', at: startAt }] });
    bench.logic.actOnDeadLetter(0, idOf(1), 'retry');
    expect(bench.poll({ after: 1 }).rows).toMatchObject([{ files: [{ id: `${idOf(2)}_0` }] }]);
    expect(bench.logic.findFile(0, `${idOf(2)}_0`).id).toBe('platform-id');
  });

  it('that are too large is told to the phone below the message', async () => {
    const bench = createBench();
    bench.say('[document dump.zip, 30 MB: too large to be fetched]', {
      ref: '7',
      tooLarge: [{ name: 'dump.zip', bytes: 30 * 1024 * 1024 }],
    });
    await bench.wake();
    expect(bench.platform.calls).toMatchObject([
      {
        replyToRef: '7',
        text: 'dump.zip has 30 MB; a bot can download at most 20 MB. The agent gets only its name.',
      },
    ]);
  });

  it('and a caption like a command stays a message; one that is a bare stop is a STOP', () => {
    const bench = createBench();
    for (const text of ['/status', '/sprint 3', 'stop']) bench.say(text, { files: [photo('p')] });
    expect(bench.poll()).toMatchObject({
      rows: [{ text: '/status' }, { text: '/sprint 3' }, { kind: 'control' }],
      controls: [{ control: { type: 'stop' } }],
    });
  });
});

describe('an album', () => {
  it('is one message with all files in order and the words of its parts', async () => {
    const bench = createBench();
    bench.say('compare them', { ref: '7', album: 'a', files: [photo('one')] });
    bench.say('', { ref: '8', album: 'a', files: [photo('two')] });
    bench.say('and this', { ref: '9', album: 'a', files: [photo('three')] });
    await bench.runUntil(startAt + relayLimits.albumGatherMs);
    expect(bench.poll().rows).toEqual([
      {
        seq: 1,
        id: idOf(1),
        at: startAt,
        kind: 'message',
        text: 'compare them\nand this',
        expiresAt: startAt + relayLimits.messageTtlMs,
        files: ['one', 'two', 'three'].map((id, index) => ({ ...photo(id), id: `${idOf(1)}_${index}` })),
      },
    ]);
  });

  it('takes an edit of any caption as an edit of the whole', async () => {
    const bench = createBench();
    bench.say('one', { ref: '7', album: 'a', files: [photo('one')] });
    bench.say('', { ref: '8', album: 'a', files: [photo('two')] });
    await bench.runUntil(startAt + relayLimits.albumGatherMs);
    const edit = (ref: string, text: string) =>
      bench.accept({ dedupeKey: `e${ref}${text}`, project: 0, at: startAt, kind: 'edit', ref, text, album: 'a' });
    edit('8', 'two');
    edit('7', 'ONE');
    edit('7', 'ONE');
    expect(bench.poll({ after: 1 }).rows).toEqual([
      { seq: 2, id: idOf(2), at: startAt, kind: 'edit', editOf: idOf(1), text: 'one\ntwo' },
      { seq: 3, id: idOf(3), at: startAt, kind: 'edit', editOf: idOf(1), text: 'ONE\ntwo' },
    ]);
    expect(textsOf(bench.platform.calls)).toEqual([]);
  });
});
