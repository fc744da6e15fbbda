import * as v from 'valibot';
import { expect, it } from 'vitest';
import { createStanding, surroundings } from '../../../agent/daemon/standing.ts';
import type { ProjectStatus } from '../../../agent/daemon-status.ts';
import { pollRequestSchema } from '../../../protocol/relay-api.ts';
import { essenceOf, needsOwner } from '../../../protocol/standing.ts';
import { testClock } from '../../helpers/surroundings.ts';

const status: ProjectStatus = {
  dir: '/home/ann/code/app',
  files: '/home/ann/code/app/.gemini',
  filesNote: null,
  mailbox: '1000001',
  project: 0,
  relay: 'connected',
  waiting: 2,
  leased: [],
  unsent: 0,
  cursor: 0,
  session: '3f2a91c0-1111-2222-3333-444455556666',
  agent: 'gemini',
  transcript: null,
  turnRuns: false,
  held: false,
  sprint: null,
  away: false,
  inboxTrouble: null,
  outboxTrouble: null,
  approvals: { mode: 'risky', asked: 0, policies: [], problems: [] },
  usage: [{ session: '3f2a91c0-1111-2222-3333-444455556666', agent: 'gemini', turns: 3, tokens: 9 }],
  last: { poll: null, message: null, sent: null, hook: null },
};
const redact = (text: string) => text.replaceAll('secret-word', '***');
const standingWith = (clock: () => number, where = place) => createStanding(where, { clock, redact });
const place = { machine: 'laptop', version: '0.1.0', zone: 'Europe/Berlin' };

it('the relay is told folder, machine, agent and session by short names, and never a path', () => {
  const clock = testClock();
  const standing = standingWith(clock.now)(status);
  expect(standing).toEqual({
    ...place,
    folder: 'app',
    agent: 'Gemini CLI',
    session: '3f2a91c0',
    doing: 'idle',
    sinceAt: clock.now(),
    asked: 0,
    waiting: 2,
    away: false,
    approvals: 'risky',
    usage: [{ session: '3f2a91c0', agent: 'Gemini CLI', turns: 3, tokens: 9 }],
  });
  expect(JSON.stringify(standing)).not.toContain('ann');
});

it('what the agent does keeps the time when it began', () => {
  const clock = testClock();
  const standing = standingWith(clock.now);
  standing(status);
  clock.advance(1_000);
  const turn = standing({ ...status, turnRuns: true });
  clock.advance(1_000);
  expect(standing({ ...status, turnRuns: true })).toEqual(turn);
  expect(turn).toMatchObject({ doing: 'turn', sinceAt: clock.now() - 1_000 });
  expect(standing({ ...status, turnRuns: true, held: true })).toMatchObject({ doing: 'waiting', sinceAt: clock.now() });
});

it('a question or a dialog needs the owner, and counts that rise are no news', () => {
  const standing = standingWith(() => 0);
  const calm = standing(status);
  expect(needsOwner(calm)).toBe(false);
  expect(needsOwner(standing({ ...status, approvals: { ...status.approvals, asked: 1 } }))).toBe(true);
  const open = standing({ ...status, dialog: 'Print secret-word?' });
  expect(open.dialog).toBe('Print ***?');
  expect([needsOwner(open), essenceOf(open) === essenceOf(calm)]).toEqual([true, false]);
  expect(essenceOf(standing({ ...status, waiting: 9, usage: [] }))).toBe(essenceOf(calm));
});

it('the longest and the strangest names still make a record that the relay takes', () => {
  const strange = `${'😀\u202e\n'.repeat(400)}`;
  const standing = standingWith(() => 0, { machine: strange, version: strange, zone: strange })({
    ...status,
    dir: `/${strange.repeat(3)}`,
    session: strange,
    agent: strange,
    dialog: strange,
    follow: strange,
    sprint: { done: 2, tasks: 5 },
    approvals: { mode: strange, asked: 3, policies: [], problems: [] },
    usage: Array(50).fill({ session: strange, agent: strange, turns: 1 }),
  });
  const request = {
    mailbox: '1',
    project: 0,
    epoch: null,
    after: null,
    holdMs: 0,
    daemon: { id: 'daemon-1', startedAt: 0 },
  };
  const parsed = v.safeParse(pollRequestSchema, { ...request, standing });
  expect(parsed.issues).toBeUndefined();
  expect(JSON.stringify(standing).length).toBeLessThan(4_000);
  expect(surroundings('0.1.0').zone).toMatch(/^[A-Za-z_]+(\/[A-Za-z_+-]+)*$/);
});
