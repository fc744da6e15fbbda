import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readCall } from '../../../agent/drivers/gemini/hook-io.ts';
import { pickUpText, terminalNews } from '../../../agent/turns/terminal.ts';

const fixtures = join(import.meta.dirname, '..', '..', 'fixtures', 'gemini-0.61.0', 'hooks');

/** What the phone hears of a recorded payload. */
function news(name: string): string | undefined {
  const call = readCall(name.split('.')[0] ?? '', JSON.parse(readFileSync(join(fixtures, `${name}.json`), 'utf8')));
  return call && terminalNews(call.event);
}

it.each([
  ['Notification.exec', 'A dialog waits at the desk: Confirm Shell Command\necho AAA > a.txt'],
  ['Notification.edit', 'A dialog waits at the desk: Confirm Write: f.txt\nf.txt'],
  ['Notification.mcp', 'A dialog waits at the desk: Confirm MCP Tool Execution\nlab: wait_message'],
  ['BeforeTool.ask_user', 'The agent asks in the terminal:\nWhich way\n- A\n- B'],
  ['Notification.ask_user', undefined],
  ['BeforeTool.write_file', undefined],
])('of %s the phone hears %j', (name, text) => {
  expect(news(name)).toBe(text);
});

it('the phone hears of a compression that a person asked for, and not of one that may never happen', () => {
  const payload = { session_id: 's', cwd: '/p' };
  const heard = (trigger: string) => {
    const call = readCall('PreCompress', { ...payload, trigger });
    return call && terminalNews(call.event);
  };
  expect(heard('manual')).toBe('The agent compresses its context.');
  expect(heard('auto')).toBeUndefined();
});

it('the phone hears of a question whatever its shape', () => {
  const ask = (questions: unknown) => {
    const payload = { session_id: 's', cwd: '/p', tool_name: 'ask_user', tool_input: { questions } };
    const call = readCall('BeforeTool', payload);
    return call && terminalNews(call.event);
  };
  for (const odd of [undefined, 'x', [], [null, 7, { question: 7 }]]) expect(ask(odd)).toBeUndefined();
  expect(ask([{ question: 'Go?', options: [null, { label: 3 }, { label: 'Yes' }] }])).toBe(
    'The agent asks in the terminal:\nGo?\n- Yes',
  );
});

it.each([
  [{ isOpen: false }, /^It waits: no session .* The first turn of the next session gets it\.$/],
  [{ isTerminal: false }, /^It waits for the next turn of the coding agent\.$/],
  [
    {},
    /^It waits for a prompt at the terminal, .* cannot be woken from here: type anything there, and before you leave \/wa:away/,
  ],
  [{ wakeable: true }, /as soon as the prompt is empty\.$/],
  [{ policy: 'never' as const }, /type anything there\. \("hold" is "never" in config\.json\.\)$/],
])('the phone hears how a waiting message will be picked up, with %j', (terminal, text) => {
  expect(pickUpText({ isOpen: true, isTerminal: true, policy: 'auto', wakeable: false, ...terminal })).toMatch(text);
});
