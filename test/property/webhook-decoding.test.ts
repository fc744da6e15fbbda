import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isoSeconds } from '../../protocol/files.ts';
import { messageId, parseMessageId } from '../../protocol/ids.ts';
import { decodeUpdate } from '../../worker/telegram/inbound.ts';
import { anyJson, mutated } from '../fuzz/any-json.ts';
import { recordedUpdates } from '../fuzz/recorded.ts';
import { runs } from './runs.ts';

const update = fc.oneof(
  { weight: 4, arbitrary: mutated(recordedUpdates.map(({ value }) => value)) },
  { weight: 1, arbitrary: anyJson },
);
const startAt = 1_790_000_000_000;

function expectUsable(value: unknown): void {
  const decoded = decodeUpdate(value, startAt);
  if (!decoded.ok) return;
  const { at, project } = decoded.event;
  // A time that every part can write down, and a project that a poll can name.
  expect(isoSeconds(at)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  expect(parseMessageId(messageId('e', project, 1))).toEqual({ epoch: 'e', project, seq: 1 });
}

it('makes of any update an event that the workstation can file, or a reason', () => {
  fc.assert(fc.property(update, expectUsable), { numRuns: runs(5_000) });
});

it.each([
  [
    'a time that no calendar has',
    { update_id: 1, message: { message_id: 1, date: 2 ** 53 - 1, chat: { id: 1 }, text: 'x' } },
  ],
  [
    'a time before all time',
    { update_id: 1, edited_message: { message_id: 1, date: 1, edit_date: -9e12, chat: { id: 1 }, text: 'x' } },
  ],
  [
    'a topic below zero',
    { update_id: 1, stopped_message_generation: { chat: { id: 1 }, message_thread_id: -5, draft_id: 1 } },
  ],
])('is not poisoned by %s', (_, value) => {
  expectUsable(value);
});
