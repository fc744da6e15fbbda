import { expect, it } from 'vitest';
import { wantsTurn } from '../../../agent/dev/echo-agent.ts';

const message = { id: 'tg_1', text: 'hello', read: false };
const stop = { id: 'tg_2', text: '/stop', control: 'stop', read: false };

it.each([
  ['a message', [message], true],
  ['a message beside a STOP', [stop, message], true],
  ['a STOP', [stop], false],
  ['a message that was read', [{ ...message, read: true }], false],
  ['a parked message', [{ ...message, parked: true }], false],
  ['nothing', [], false],
])('the echo agent takes its turn for %s: %j, %s', (_, messages, expected) => {
  expect(wantsTurn(JSON.stringify({ messages }, null, 2))).toBe(expected);
});

it.each(['', '{"messages":', '{}', 'null'])('the echo agent takes no turn for a file that says %j', (text) => {
  expect(wantsTurn(text)).toBe(false);
});
