import { describe, expect, it } from 'vitest';
import { findCommand } from '../../../../protocol/commands.ts';
import { setMeta } from '../../../../worker/mailbox/tables/schema.ts';
import type { OutboundCall, SendOutcome } from '../../../../worker/platform.ts';
import { createBench, mailbox, scriptedPlatform, startAt, textsOf } from '../../bench.ts';

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
        `Not delivered: 1, see /letters.\nSending pauses until ${until} UTC: rate_limited.`,
    );
  });

  it('says connected also between two polls, and when the workstation was seen last as soon as none follows', async () => {
    const bench = createBench();
    const saysAfter = async (ms: number) => {
      bench.clock.now += ms;
      bench.say('/status');
      await bench.wake();
      return textsOf(bench.platform.calls).at(-1)?.split('\n')[0];
    };
    bench.open();
    bench.say('ends the poll');
    expect(await saysAfter(1_000)).toBe('Workstation: connected.');
    expect(await saysAfter(3_000)).toMatch(/^Workstation: last seen .* 4 s ago\.$/);
  });
});

describe('the menu of the phone', () => {
  const menus = (calls: readonly OutboundCall[]) => calls.filter(({ kind }) => kind === 'menu');

  it('comes with the first message to the phone, once for each list, whatever restarts', async () => {
    const bench = createBench({ platform: scriptedPlatform({ menu: true }) });
    bench.poll();
    bench.say('hello');
    await bench.wake();
    expect(menus(bench.platform.calls)).toEqual([]);
    bench.say('/ping');
    await bench.wake();
    expect(menus(bench.platform.calls)).toEqual([
      {
        kind: 'menu',
        chatId: mailbox,
        commands: expect.arrayContaining([{ name: 'away_off', help: 'stop waiting: the keyboard is free' }]),
      },
    ]);
    bench.restart();
    bench.say('/ping');
    await bench.wake();
    expect(menus(bench.platform.calls)).toHaveLength(1);
    // As it is after an update of the relay.
    setMeta(bench.sql, 'menu', 'the list of yesterday');
    bench.restart();
    bench.say('/ping');
    await bench.wake();
    expect(menus(bench.platform.calls)).toHaveLength(2);
  });

  it('that the platform did not take is offered again by the next start', async () => {
    const bench = createBench({ platform: scriptedPlatform({ menu: true }) });
    bench.platform.script.push({ kind: 'sent' }, { kind: 'dead', code: 'rejected', reason: 'no' });
    bench.say('/ping');
    await bench.wake();
    bench.restart();
    bench.say('/ping');
    await bench.wake();
    expect(menus(bench.platform.calls)).toHaveLength(2);
  });
});

describe('/help', () => {
  it('lists each command as a phone links it whole', async () => {
    const bench = createBench();
    bench.say('/help');
    await bench.wake();
    const lines =
      textsOf(bench.platform.calls)[0]
        ?.split('\n')
        .filter((line) => line.startsWith('/')) ?? [];
    expect(lines.length).toBeGreaterThan(10);
    const forms = lines.map((line) => /^\/([a-z0-9_]{1,32})(?: [A-Z[].*)? - \S/.exec(line)?.[1]);
    expect(forms.filter((form) => form === undefined || findCommand(form) === undefined)).toEqual([]);
    expect(forms).toEqual(expect.arrayContaining(['away', 'away_off', 'mute_off', 'approvals_risky']));
  });
});
