import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readCall } from '../../../agent/drivers/gemini/hook-io.ts';
import { pickUpText, terminalNews, unwakeableNotice } from '../../../agent/turns/terminal.ts';
import { textsIn } from '../../../protocol/texts.ts';

const fixtures = join(import.meta.dirname, '..', '..', 'fixtures', 'gemini-0.61.0', 'hooks');

/** The event of a recorded payload. */
function eventOf(name: string) {
  return readCall(name.split('.')[0] ?? '', JSON.parse(readFileSync(join(fixtures, `${name}.json`), 'utf8')))?.event;
}

it.each([
  ['exec', { kind: 'exec', title: 'Confirm Shell Command', text: 'echo AAA > a.txt' }],
  ['edit', { kind: 'edit', title: 'Confirm Write: f.txt', text: 'f.txt\n@@ -0,0 +1,1 @@\n+hello' }],
  ['mcp', { kind: 'mcp', title: 'Confirm MCP Tool Execution', text: 'lab: wait_message' }],
])('a dialog of kind %s is told with what it concerns, and once', (kind, dialog) => {
  const event = eventOf(`Notification.${kind}`);
  expect(event).toEqual({ type: 'dialog', dialog });
  expect(event && terminalNews(event)).toBeUndefined();
});

it('the dialog of a question tells nothing more than the question, which comes with its gate', () => {
  expect(eventOf('Notification.ask_user')).toEqual({ type: 'other' });
  expect(eventOf('BeforeTool.ask_user')).toMatchObject({ type: 'gate', asks: 'Which way\n- A\n- B' });
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

it('a question is read whatever its shape', () => {
  const ask = (questions: unknown) => {
    const payload = { session_id: 's', cwd: '/p', tool_name: 'ask_user', tool_input: { questions } };
    const event = readCall('BeforeTool', payload)?.event;
    return event?.type === 'gate' ? event.asks : 'no gate';
  };
  for (const odd of [undefined, 'x', [], [null, 7, { question: 7 }]]) expect(ask(odd)).toBeUndefined();
  expect(ask([{ question: 'Go?', options: [null, { label: 3 }, { label: 'Yes' }] }])).toBe('Go?\n- Yes');
});

it.each([
  [{ isOpen: false }, /^It waits: no session .* The first turn of the next session gets it\.$/],
  [{ isTerminal: false }, /^It waits for the next turn of the coding agent\.$/],
  [
    {},
    /^It waits for a prompt at the terminal, .* cannot be woken from here: type anything there, and before you leave wa:away/,
  ],
  [{ nudgeOff: true }, /so that the agent listens\. \("nudge" is "off" in config\.json\.\)$/],
  [{ wakeable: true }, /as soon as the prompt is empty\.$/],
  [{ policy: 'never' as const }, /type anything there\. \("hold" is "never" in config\.json\.\)$/],
])('the phone hears how a waiting message will be picked up, with %j', (terminal, text) => {
  expect(
    pickUpText(
      { isOpen: true, isTerminal: true, policy: 'auto', wakeable: false, nudgeOff: false, ...terminal },
      textsIn('en'),
    ),
  ).toMatch(text);
});

it('tmux is advised to the terminal alone, and the setting first where the owner has switched the wake-up off', () => {
  expect(unwakeableNotice(false)).toMatch(/; or start the agent in tmux, where it is woken by itself\.$/);
  expect(unwakeableNotice(true)).toMatch(
    /; or set "nudge" to "auto" in config\.json and start the agent in tmux, where/,
  );
});
