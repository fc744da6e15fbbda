// An owned session over ACP, against the scripted agent: what every agent can do, whatever its habits.

import { expect, it } from 'vitest';
import { openScripted } from '../../../helpers/acp/scripted.ts';

it('a prompt is inserted at the first sign of the model, streams its text in order, and is answered', async () => {
  const { session, record } = await openScripted();

  const end = await session.prompt([{ text: '[[think: hm]] [[say: Hello from the model]]' }]);

  expect(end).toEqual({ type: 'answered' });
  expect(record.events).toEqual([
    { type: 'inserted' },
    { type: 'thought', text: 'hm' },
    { type: 'text', text: 'Hello from' },
    { type: 'text', text: ' the model' },
  ]);
});
