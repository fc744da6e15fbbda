import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readCall } from '../../../agent/drivers/gemini/hook-io.ts';
import { deskNews, pickUpText } from '../../../agent/turns/desk.ts';

const fixtures = join(import.meta.dirname, '..', '..', 'fixtures', 'gemini-0.61.0', 'hooks');

/** What the phone hears of a recorded payload. */
function news(name: string): string | undefined {
  const call = readCall(name.split('.')[0] ?? '', JSON.parse(readFileSync(join(fixtures, `${name}.json`), 'utf8')));
  return call && deskNews(call.event);
}

it.each([
  ['Notification.exec', 'A dialog waits at the desk: Confirm Shell Command\necho AAA > a.txt'],
  ['Notification.edit', 'A dialog waits at the desk: Confirm Write: f.txt\nf.txt'],
  ['Notification.mcp', 'A dialog waits at the desk: Confirm MCP Tool Execution\nlab: wait_message'],
  ['BeforeTool.ask_user', 'The agent asks at the desk:\nWhich way\n- A\n- B'],
  ['Notification.ask_user', undefined],
  ['BeforeTool.write_file', undefined],
])('of %s the phone hears %j', (name, text) => {
  expect(news(name)).toBe(text);
});

it('hears of a compression that somebody asked for, and of none that may not happen', () => {
  const payload = { session_id: 's', cwd: '/p' };
  const heard = (trigger: string) => {
    const call = readCall('PreCompress', { ...payload, trigger });
    return call && deskNews(call.event);
  };
  expect(heard('manual')).toBe('The agent compresses its context.');
  expect(heard('auto')).toBeUndefined();
});

it('reads questions of any shape', () => {
  const ask = (questions: unknown) => {
    const payload = { session_id: 's', cwd: '/p', tool_name: 'ask_user', tool_input: { questions } };
    const call = readCall('BeforeTool', payload);
    return call && deskNews(call.event);
  };
  for (const odd of [undefined, 'x', [], [null, 7, { question: 7 }]]) expect(ask(odd)).toBeUndefined();
  expect(ask([{ question: 'Go?', options: [null, { label: 3 }, { label: 'Yes' }] }])).toBe(
    'The agent asks at the desk:\nGo?\n- Yes',
  );
});

it.each([
  [{ isOpen: false }, /^It waits: no session .* The first turn of the next session gets it\.$/],
  [{}, /^It waits for the next turn at the desk: the idle terminal cannot be woken\. \/away, or .* lets it listen\.$/],
  [{ nudges: true }, /could not be woken now\. \/away/],
  [{ isAway: true }, /cannot be woken\.$/],
  [{ policy: 'always' as const }, /cannot be woken\.$/],
  [{ isAway: true, policy: 'never' as const }, /cannot be woken\. \("hold" is "never" in config\.json\.\)$/],
])('of a message that nothing picks up, with %j, the phone hears how it will be', (desk, text) => {
  expect(pickUpText({ isOpen: true, isAway: false, policy: 'auto', nudges: false, ...desk })).toMatch(text);
});
