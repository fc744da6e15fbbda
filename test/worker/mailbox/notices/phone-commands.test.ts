import { describe, expect, it } from 'vitest';
import type { SendOutcome } from '../../../../worker/platform.ts';
import { createBench, startAt, textsOf } from '../../bench.ts';

const pause = (afterMs: number): SendOutcome => ({ kind: 'pause', afterMs, code: 'rate_limited', reason: 'too many' });

describe('commands that need no workstation', () => {
  it('are answered in the topic where they were asked, and leave no row', async () => {
    const bench = createBench();
    bench.say('/ping', { project: 12 });
    bench.say('/status@example_bridge_bot');
    await bench.wake();
    expect(bench.platform.calls).toMatchObject([
      { kind: 'send', topic: 12, text: 'pong' },
      {
        kind: 'send',
        topic: 0,
        text: 'Workstation: never seen.\nMessages: none.\nAnswers: 0 waiting, 0 could not be sent.',
      },
    ]);
    expect(bench.poll()).toMatchObject({ rows: [], controls: [] });
  });

  it('are not answered when they name another bot, once the username of this bot is known', async () => {
    const bench = createBench({ chatId: '-100200' });
    bench.say('/ping@other_bot');
    await bench.runUntil(startAt + 1_000);
    expect(textsOf(bench.platform.calls)).toEqual(['pong']);
    bench.say('/ping@other_bot');
    bench.say('/stop@other_bot');
    bench.say('/startup@other_bot');
    bench.say('/ping@Example_Bridge_Bot');
    await bench.runUntil(startAt + 2_000);
    expect(textsOf(bench.platform.calls)).toEqual(['pong', 'pong']);
    expect(bench.poll()).toMatchObject({ rows: [], controls: [] });
  });

  it('tell in /status where each message is', async () => {
    const bench = createBench();
    bench.say('one');
    bench.say('two');
    bench.poll({ after: 1 });
    bench.clock.now += 5_000;
    bench.say('/status');
    await bench.wake();
    expect(textsOf(bench.platform.calls)).toEqual([
      `Workstation: last seen ${new Date(startAt).toISOString().slice(11, 16)} UTC, 5 s ago.\n` +
        'Messages: 1 stored, 1 delivered.\nThe oldest waits for 5 s.\nAnswers: 0 waiting, 0 could not be sent.',
    ]);
  });
});

describe('/status', () => {
  it('says that a workstation is connected, how many dead letters there are, and until when sending pauses', async () => {
    const bench = createBench();
    bench.say('lost work');
    bench.poll({ after: 1, receipts: [{ id: 'msg_e0_0_1', attempt: 2, state: 'lost', at: startAt }] });
    await bench.wake();
    bench.open({ after: 1 });
    bench.post({ key: 'answer-1' });
    bench.platform.script.push(pause(3_600_000));
    await bench.wake();
    bench.platform.calls.length = 0;
    bench.say('/status');
    await bench.runUntil(startAt + 3_600_000);
    const until = new Date(startAt + 3_600_000).toISOString().slice(11, 16);
    expect(textsOf(bench.platform.calls)[0]).toBe(
      'Workstation: connected.\nMessages: 1 lost.\nAnswers: 1 waiting, 0 could not be sent.\n' +
        `Dead letters: 1, see /letters.\nSending pauses until ${until} UTC: rate_limited.`,
    );
  });
});
