// What the id of an answer is made of, for every driver: unique per end of a turn, and the same for whoever reads the payload.

import { describe, expect, it } from 'vitest';
import { allDrivers } from '../../agent/drivers/registry.ts';
import { answerId } from '../../agent/mailbox/signing.ts';
import { recordedHooksOf } from '../fuzz/recorded.ts';

/** Ends that their payload names, where it does not name all of them. */
const named: Readonly<Record<string, number>> = { claude: 0, codex: 1 };

describe.each(allDrivers())('the end of a turn of $name', ({ name: tool, events, readCall }) => {
  const ends = Object.keys(events).filter((event) => events[event] === 'turnEnd');
  const eventOf = (file: string) => file.split('.')[0] ?? '';
  const recorded = recordedHooksOf(tool).filter(({ name }) => ends.includes(eventOf(name)));
  const read = (payload: unknown) => {
    const call = readCall(ends[0] ?? '', payload);
    if (call?.event.type !== 'turnEnd') throw new Error('no end of a turn');
    return { session: call.session, run: call.event.run ?? '' };
  };

  it('is named in every recorded payload, or in none and then by the session file, and no two ends of one session alike', () => {
    expect(recorded.length).toBeGreaterThan(1);
    const runs = recorded.map(({ value }) => read(value)).filter(({ run }) => run !== '');
    expect(runs).toHaveLength(named[tool] ?? recorded.length);
    const ids = runs.map(({ session, run }) => answerId(tool, session, run));
    expect(new Set(ids).size).toBe(runs.length);
    expect(ids.filter((id) => !/^resp_[0-9a-f]{32}$/.test(id))).toEqual([]);
  });

  it('is named by the bytes alone, so that daemon, hook and twin name it alike', () => {
    for (const { value } of recorded) {
      const bytes = JSON.stringify(value);
      expect(read(JSON.parse(bytes))).toEqual(read(JSON.parse(Buffer.from(bytes).toString('utf8'))));
    }
  });

  it('is nameless where the payload does not say, and never named by what was answered', () => {
    for (const { value } of recorded) {
      const { timestamp: _, turn_id: __, ...rest } = value as Record<string, unknown>;
      expect(read(rest).run).toBe('');
    }
  });
});
