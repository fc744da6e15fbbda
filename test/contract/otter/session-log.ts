// What the session file of Otter says, one object a line: {"person"}, {"agent","used","id"}, {"trouble"}, {"left":true},
// {"ran":{"id","does","with","at"}}, {"shortened"}. Pure.

import type { SessionRecord } from '../../../agent/drivers/driver.ts';
import { object, parsed, text } from '../../../agent/drivers/fields.ts';

/** `parsed` gives an empty object for a torn line, and for every other one that is no object. */
export function readSession(whole: string): SessionRecord {
  const lines = whole.split('\n').map(parsed);
  const all = (key: string) => lines.flatMap((line) => text(line[key]) ?? []);
  const after = lines.slice(lines.findLastIndex(({ person }) => typeof person === 'string') + 1);
  const last = (key: string) => after.findLast((line) => typeof line[key] === 'string');
  const lastMessage = last('agent') ?? lines.findLast(({ id }) => typeof id === 'string');
  return {
    prompts: all('person'),
    answer: text(last('agent')?.agent),
    error: text(last('trouble')?.trouble),
    cancelled: after.some(({ left }) => left === true),
    model: undefined,
    contextShare: undefined,
    lastId: text(lastMessage?.id),
    tools: lines.flatMap(({ ran }) => {
      const { id, does, with: input, at } = object(ran);
      if (typeof id !== 'string' || typeof does !== 'string' || typeof at !== 'number') return [];
      return [{ id, tool: does, input: object(input), at }];
    }),
    tokens: new Map(
      lines.flatMap(({ id, used }) => (typeof id === 'string' && typeof used === 'number' ? [[id, used]] : [])),
    ),
    compressions: all('shortened'),
  };
}
