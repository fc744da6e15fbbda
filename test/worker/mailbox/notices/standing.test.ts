import { describe, expect, it } from 'vitest';
import type { PollRequest } from '../../../../protocol/relay-api.ts';
import type { Standing } from '../../../../protocol/standing.ts';
import { clockText } from '../../../../worker/mailbox/notices/words.ts';
import { type Bench, createBench, startAt, textsOf } from '../../bench.ts';

/** 15:33 in Berlin. */
const noon = Date.parse('2026-09-21T13:33:20Z');
const minuteMs = 60_000;

const standing: Standing = {
  machine: 'laptop',
  folder: 'app',
  version: '0.1.0',
  zone: 'Europe/Berlin',
  agent: 'Gemini CLI',
  session: '3f2a91c0',
  doing: 'turn',
  sinceAt: startAt - 3 * minuteMs,
  asked: 0,
  waiting: 0,
  away: false,
  approvals: 'risky',
  usage: [],
};

const serve = (bench: Bench, told: Partial<Standing>, request: Partial<PollRequest> = {}) =>
  bench.open({ ...request, standing: { ...standing, ...told } });

async function asked(bench: Bench, command: string, project = 0): Promise<string> {
  bench.platform.calls.length = 0;
  bench.say(command, { project });
  await bench.wake();
  return textsOf(bench.platform.calls).at(-1) ?? '';
}

describe('a time on the phone', () => {
  it.each([
    ['Europe/Berlin', '15:33'],
    ['Asia/Kolkata', '19:03'],
    [undefined, '13:33 UTC'],
    ['Nowhere/At_All', '13:33 UTC'],
  ])('of %s is %s', (zone, text) => {
    expect(clockText(noon, noon, zone)).toBe(text);
  });

  it('has its date when it was another day there, also when it was the same in London', () => {
    expect(clockText(noon, noon + 9 * 60 * minuteMs, 'Europe/Berlin')).toBe('2026-09-21 15:33');
    expect(clockText(noon, noon + 9 * 60 * minuteMs, undefined)).toBe('13:33 UTC');
  });
});

describe('/status', () => {
  it('says what `wa-sync status` says: place, agent, turn, modes, what waits', async () => {
    const bench = createBench();
    serve(bench, {
      asked: 2,
      waiting: 1,
      away: true,
      present: false,
      follow: 'auto',
      sprint: { done: 1, tasks: 3 },
      dialog: 'Delete it?',
    });
    expect(await asked(bench, '/status')).toBe(
      [
        'app on laptop, Gemini CLI, session 3f2a91c0',
        `Now: a dialog is open at the desk: “Delete it?”; 2 questions for you above; a turn runs since ${clockText(standing.sinceAt, startAt, 'Europe/Berlin')}.`,
        'Modes: away on, nobody at the terminal, follow auto, approvals risky, sprint: 1 of 3 tasks done.',
        'Workstation: connected.',
        'Messages: none.',
        "1 message on the workstation, for the agent's next turn or tool.",
        'Answers: 0 waiting, 0 could not be sent.',
      ].join('\n'),
    );
  });

  it('says what was so when the workstation was seen last, once it is gone', async () => {
    const bench = createBench();
    bench.poll({ standing });
    bench.clock.now += 5 * minuteMs;
    const text = await asked(bench, '/status');
    const at = (ms: number) => clockText(ms, bench.clock.now, 'Europe/Berlin');
    expect(text).toContain(`\nWhen last seen: a turn runs since ${at(standing.sinceAt)}.\n`);
    expect(text).toContain(`\nWorkstation: last seen ${at(startAt)}, 5 min ago.\n`);
  });

  it('forgets what another daemon has told', async () => {
    const bench = createBench();
    bench.poll({ standing });
    bench.clock.now += 5 * minuteMs;
    bench.poll({ daemon: { id: 'daemon-two', startedAt: startAt } });
    expect(await asked(bench, '/status')).not.toContain('laptop');
  });
});

describe('/sessions', () => {
  it('shows who needs the owner first, then who is online, and topics without a project', async () => {
    const bench = createBench();
    bench.poll({ standing: { ...standing, folder: 'old', machine: 'desktop' } });
    bench.clock.now += 5 * minuteMs;
    serve(bench, { folder: 'web', doing: 'waiting' }, { project: 7 });
    bench.logic.addTopic(8, 'api');
    serve(bench, { folder: 'api', asked: 1 }, { project: 8 });
    bench.say('is anybody there', { project: 9 });
    const lines = (await asked(bench, '/sessions', 7)).split('\n');
    expect(lines).toEqual([
      expect.stringMatching(/^❗ needs you: api on laptop \(api\): online; .*1 question for you above; a turn runs/),
      expect.stringMatching(/^web on laptop \(here\): online; Gemini CLI, session 3f2a91c0; waits for you since/),
      expect.stringMatching(/^old on desktop \(the main chat\): offline\. Workstation: last seen .*, 5 min ago\./),
      'topic 9: no project. 1 message kept. To bind one, run in its folder: wa-sync setup --topic 9',
    ]);
  });

  it('says so when there is none, and fits into one message when there are hundreds', async () => {
    const bench = createBench();
    expect(await asked(bench, '/sessions')).toBe('No workstation has connected yet.');
    for (let project = 1; project <= 300; project += 1) bench.poll({ project, standing });
    const text = await asked(bench, '/sessions');
    expect(text.length).toBeLessThanOrEqual(4096);
    expect(text).toMatch(/\nand \d+ more\.$/);
  });
});

describe('/usage', () => {
  it("says what each session did today, and the day's share of the free plan", async () => {
    const bench = createBench();
    const usage = [
      { session: '3f2a91c0', agent: 'Gemini CLI', turns: 12, tokens: 184_320, context: 0.234 },
      { session: 'b', agent: 'Other', turns: 1 },
    ];
    bench.poll({ standing: { ...standing, usage } });
    bench.core.counters.add('object_requests', 4_200);
    expect(await asked(bench, '/usage')).toMatch(
      new RegExp(
        '^Today in app on laptop:\\nGemini CLI, session 3f2a91c0: 12 turns, 184k tokens, context 23 % full\\nOther, session b: 1 turn\\n' +
          "Relay: 4 % of today's free plan \\(Durable Object requests; \\d+ requests to the Worker, 42\\d\\d to the mailbox, \\d+ rows written, \\d+ GB-s\\)\\.$",
      ),
    );
  });
});

describe('what a daemon tells of itself', () => {
  it('costs no statement: it stands in the row that each poll writes anyway', () => {
    const writes = (told: Partial<PollRequest>) => {
      const bench = createBench();
      bench.poll();
      const before = bench.sql.statements();
      bench.poll(told);
      return bench.sql.statements() - before;
    };
    expect(writes({ standing })).toBe(writes({}));
  });
});
