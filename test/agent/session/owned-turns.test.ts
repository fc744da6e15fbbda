// The turn rules with a session that the daemon runs itself as their host. Real journal, no agent.

import { beforeEach, describe, expect, it } from 'vitest';
import type { Journal } from '../../../agent/journal/journal.ts';
import type { Turns } from '../../../agent/session/types.ts';
import type { TurnEvent } from '../../../protocol/turn-events.ts';
import { plainTurns } from '../../helpers/plain-turns.ts';
import { journalIn, temporaryFolder, testClock } from '../../helpers/surroundings.ts';

const p = '1000001.0';
const clock = testClock();
let journal: Journal;
let turns: Turns;
let reports: { text: string; failed: boolean }[];
let told: string[];
let ids: string[];

beforeEach(async () => {
  journal = await journalIn(await temporaryFolder(), clock);
  reports = [];
  told = [];
  ids = [];
  turns = newTurns();
});

/** As a daemon that starts with this journal. `filed` = the answer of the session file to the prompt of a message. */
function newTurns(filed: { answer: string; to: string } | undefined = undefined): Turns {
  return plainTurns({
    ...{ journal, p, clock: clock.now, reports, ids, told },
    more: {
      async answerInFile({ session }, carried) {
        if (!filed || !carried.includes(filed.to)) return undefined;
        return { answer: filed.answer, prompts: [filed.to], id: `resp_of_${session}` };
      },
    },
  });
}

const says = (event: TurnEvent, session = 's') =>
  turns.handle(
    { agent: 'scripted', event, session, cwd: '/', transcript: undefined, owned: true },
    { tool: 'scripted', pid: 42, maxMs: Number.POSITIVE_INFINITY, isGone: () => false },
  );
const arrives = (id: string) =>
  journal.append([
    {
      ...{ t: 'row', p, at: clock.now() },
      row: { seq: 1, id, at: clock.now(), kind: 'message', text: 'go', expiresAt: clock.now() + 1e9 },
    },
  ]);
const phase = (id: string) => journal.project(p).messages.get(id)?.phase;

/** The prompt that the session gets for this message. */
async function prompted(id: string): Promise<string> {
  await says({ type: 'sessionStart', source: 'owned' });
  await arrives(id);
  const { next = '' } = await says({ type: 'ready' });
  await says({ type: 'turnStart', prompt: next });
  return next;
}

describe('an owned session', () => {
  it('holds each end whatever the policy is, also after a cancel, and is woken by the next message', async () => {
    const prompt = await prompted('msg_1');
    await says({ type: 'modelRequest', texts: [prompt] });
    const end = says({ type: 'turnEnd', answer: undefined, run: '1', cancelled: true, alone: true });
    await expect.poll(() => turns.status().held).toBe(true);
    expect(reports).toEqual([{ text: 'Cancelled from the phone.', failed: true }]);
    await arrives('msg_2');
    turns.wake();
    expect((await end).next).toContain('msg_2');
  });

  it('tells two equal answers in a row, of which the second is no continuation of the first', async () => {
    const prompt = await prompted('msg_1');
    await says({ type: 'modelRequest', texts: [prompt] });
    await arrives('msg_2');
    const { next = '' } = await says({ type: 'turnEnd', answer: 'Done.', run: '1', alone: true });
    await says({ type: 'turnStart', prompt: next });
    await says({ type: 'modelRequest', texts: [next] });
    void says({ type: 'turnEnd', answer: 'Done.', run: '2', alone: true });
    await expect.poll(() => reports.length).toBe(2);
    expect(reports.map(({ failed }) => failed)).toEqual([false, false]);
  });

  it('is not given twice what its model had when the daemon died, and that turn is told as failed', async () => {
    const prompt = await prompted('msg_1');
    await says({ type: 'modelRequest', texts: [prompt] });
    await expect.poll(() => phase('msg_1')).toBe('injected');
    turns = newTurns();
    await turns.checkProcess();
    await says({ type: 'sessionStart', source: 'owned' });
    void says({ type: 'ready', why: 'The daemon had ended.' });
    await expect.poll(() => turns.status().held).toBe(true);
    expect(reports).toEqual([{ text: 'The daemon had ended.', failed: true }]);
    expect(journal.project(p).messages.get('msg_1')?.ended).toBe('failed');
  });

  it.each([true, false])(
    'has an answer that came while no daemon ran told once, known to be read or not (%s)',
    async (isProved) => {
      const prompt = await prompted('msg_1');
      if (isProved) {
        await says({ type: 'modelRequest', texts: [prompt] });
        await expect.poll(() => phase('msg_1')).toBe('injected');
      }
      turns = newTurns({ answer: 'Done meanwhile.', to: 'msg_1' });
      await turns.checkProcess();
      await says({ type: 'sessionStart', source: 'owned' });
      void says({ type: 'ready', why: 'The daemon had ended.' });
      await expect.poll(() => turns.status().held).toBe(true);
      expect(reports).toEqual([{ text: 'Done meanwhile.', failed: false }]);
      expect(ids).toEqual(['resp_of_s']);
      expect(journal.project(p).messages.get('msg_1')?.ended).toBe('answered');
      expect(told).toEqual([]);
    },
  );

  it('tells an answer of the session file that begins as the one before, whole', async () => {
    turns = newTurns({ answer: 'Done. And more.', to: 'msg_2' });
    const prompt = await prompted('msg_1');
    await says({ type: 'modelRequest', texts: [prompt] });
    await arrives('msg_2');
    const { next = '' } = await says({ type: 'turnEnd', answer: 'Done.', run: '1', alone: true });
    await says({ type: 'turnStart', prompt: next });
    void says({ type: 'ready', why: 'Its process died.' });
    await expect.poll(() => reports.length).toBe(2);
    expect(reports[1]).toEqual({ text: 'Done. And more.', failed: false });
  });

  it('is given again what its model had not when the daemon died, and nothing is told as failed', async () => {
    await prompted('msg_1');
    turns = newTurns();
    await says({ type: 'sessionStart', source: 'owned' });
    const { next = '' } = await says({ type: 'ready', why: 'The daemon had ended.' });
    expect(next).toContain('given again, because it did not reach you before');
    expect(reports).toEqual([]);
    expect(told).toEqual(['The coding agent ended before your message reached it. It gets the message again.']);
  });

  it('is told after 5 silent minutes of a turn without a word of a terminal, once', async () => {
    await prompted('msg_1');
    clock.advance(5 * 60_000);
    await turns.checkProcess();
    await turns.checkProcess();
    expect(told).toEqual([
      expect.stringMatching(/^No sign of the coding agent for 5 minutes .* \/cancel ends the turn\.$/),
    ]);
    expect(told[0]).not.toContain('terminal');
  });

  it('takes the messages over from a terminal, and keeps them although its process is unknown', async () => {
    await turns.handle(
      {
        agent: 'gemini',
        event: { type: 'sessionStart', source: 'startup' },
        session: 't',
        cwd: '/',
        transcript: undefined,
      },
      { tool: 'gemini', pid: 7, maxMs: 60_000, isGone: () => false },
    );
    expect(turns.status()).toMatchObject({ session: 't', owned: false });
    await says({ type: 'sessionStart', source: 'owned' });
    await arrives('msg_1');
    const typed = await turns.handle(
      { agent: 'gemini', event: { type: 'turnStart', prompt: 'x' }, session: 't', cwd: '/', transcript: undefined },
      { tool: 'gemini', pid: 7, maxMs: 60_000, isGone: () => false },
    );
    expect(typed).toEqual({});
    expect(turns.status()).toMatchObject({ session: 's', owned: true, present: null });
    expect((await says({ type: 'ready' })).next).toContain('msg_1');
  });
});
