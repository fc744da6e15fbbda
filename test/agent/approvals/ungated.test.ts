// Tools that ran without a gate that let them through.

import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createUngated } from '../../../agent/approvals/ungated.ts';
import type { ApprovalMode } from '../../../agent/journal/approvals.ts';
import { textsIn } from '../../../protocol/texts.ts';
import type { TurnEvent } from '../../../protocol/turn-events.ts';
import { temporaryFolder } from '../../helpers/surroundings.ts';

let mode: ApprovalMode;
let told: string[];
let audited: string[];
let file: string;
let now: number;
let ungated: ReturnType<typeof create>;
beforeEach(async () => {
  mode = 'all';
  told = [];
  audited = [];
  file = join(await temporaryFolder(), 'session.jsonl');
  writeFileSync(file, '');
  now = 1000;
  ungated = create();
});

/** As a daemon does that has just started. */
function create() {
  return createUngated({
    mode: () => mode,
    notify: (textOf, call) => told.push(textOf(String(call?.input.command ?? ''), textsIn('en')).split('\n')[0] ?? ''),
    audit: ({ tool }) => audited.push(tool),
    clock: () => now++,
  });
}

const see = (event: TurnEvent, session = 's') =>
  ungated.sees({ agent: 'gemini', session, transcript: file, cwd: '/p', event });
const start = () => see({ type: 'turnStart', prompt: 'go' });
const request = () => see({ type: 'modelRequest', texts: [] });
const end = () => see({ type: 'turnEnd', answer: 'done' });
const shell = (command: string, tool = 'run_shell_command') => ({
  agent: 'gemini',
  tool,
  server: undefined,
  input: { command },
});
function gate(command: string, yes = true): void {
  see({ type: 'gate', ...shell(command) });
  if (yes) ungated.passed('s', shell(command));
}
const ended = (command: string, tool?: string) => see({ type: 'toolEnd', ...shell(command, tool) });
/** As Gemini CLI writes it. */
function ran(id: string, at = now++): void {
  const call = { id, name: 'run_shell_command', args: { command: id }, status: 'success' };
  const message = { type: 'gemini', toolCalls: [{ ...call, timestamp: new Date(at).toISOString() }] };
  appendFileSync(file, `${JSON.stringify(message)}\n`);
}
/** What is in the file is looked at. */
const looked = () => ungated.look();

const without = (command: string) => `⚠ A command ran without being asked: ${command}`;

describe('a tool that ended', () => {
  it('is reported at once when no gate let it through', () => {
    start();
    ended('touch x');
    expect([told, audited]).toEqual([[without('touch x')], ['run_shell_command']]);
  });

  it('is not reported when its gate said yes, also when several run at once', () => {
    start();
    for (const command of ['a', 'b', 'a']) gate(command);
    for (const command of ['b', 'a', 'a']) ended(command);
    expect(told).toEqual([]);
  });

  it('is reported when its gate said no, or has not answered because its launcher was killed', () => {
    start();
    gate('touch x', false);
    ended('touch x');
    expect(told).toEqual([without('touch x')]);
  });

  it('needs a yes of its own each time, in its own session', () => {
    start();
    gate('a');
    ended('a');
    ended('a');
    ungated.passed('another', shell('b'));
    ended('b');
    expect(told).toEqual([without('a'), without('b')]);
  });

  it('is reported however many other sessions show events meanwhile', () => {
    start();
    for (let number = 0; number < 60; number += 1) {
      see({ type: 'turnStart', prompt: 'x' }, `other_${number}`);
      request();
    }
    ended('ls');
    expect(told).toEqual([without('ls')]);
  });

  it('is reported when it ran with other arguments than its gate saw', () => {
    start();
    gate('ls');
    ended('rm -rf .');
    expect(told).toEqual([
      '⚠ A command ran with other arguments than were asked (changed at the desk, or by another hook): rm -rf .',
    ]);
  });

  it('is not reported for another order of its arguments, nor for an argument that the host adds', () => {
    start();
    ungated.passed('s', { agent: 'gemini', tool: 'grep_search', input: { pattern: 'x', dir_path: '.' } });
    see({ type: 'toolEnd', tool: 'grep_search', input: { dir_path: '.', pattern: 'x', context: 3 } });
    expect(told).toEqual([]);
  });

  it('is reported only while approvals are on', () => {
    mode = 'off';
    start();
    ended('a');
    mode = 'risky';
    start();
    ended('b');
    mode = 'off';
    ended('c');
    expect(told).toEqual([without('b')]);
  });

  it('is not reported when its gate may have been answered before approvals were on, or by an earlier daemon', () => {
    ended('of the daemon before');
    mode = 'off';
    start();
    gate('asked while off');
    mode = 'all';
    ended('asked while off');
    ended('answered without the daemon');
    expect(told).toEqual([]);
    request();
    ended('after the next request');
    expect(told).toEqual([without('after the next request')]);
  });

  it('and ran another agent is not reported after a start in the middle of its turn', () => {
    request();
    ended('', 'invoke_agent');
    ended('', 'other');
    expect(told).toEqual(['⚠ The tool other ran without being asked.']);
  });

  it('is reported one by one up to five times in a turn; the rest is counted at the end of the turn', () => {
    start();
    for (let index = 0; index < 1000; index++) ended(`c${index}`);
    expect(told).toHaveLength(5);
    end();
    expect(told.slice(5)).toEqual(['⚠ 995 more tools ran without being asked in this turn.']);
    start();
    ended('next');
    expect(told.at(-1)).toBe(without('next'));
  });

  it('is recognised after a thousand sessions and ten thousand calls, of which only the last are kept', () => {
    for (let index = 0; index < 1000; index++) ungated.passed(`s${index}`, shell('x'));
    for (let index = 0; index < 10_000; index++) ungated.passed('s', shell(`x${index}`));
    start();
    ended('x9999');
    expect(told).toEqual([]);
  });
});

describe('a session file', () => {
  it('reports each tool once in a turn that shows neither gates nor ends', async () => {
    start();
    await looked();
    ran('touch x');
    request();
    await looked();
    expect(told).toEqual([without('touch x')]);
    await looked();
    end();
    await looked();
    expect(told).toHaveLength(1);
  });

  it('reports tools without any event, once it has grown', async () => {
    start();
    await looked();
    ran('touch x');
    await looked();
    expect(told).toEqual([without('touch x')]);
  });

  it('reports nothing where gates are seen, nor in the turns after', async () => {
    start();
    await looked();
    gate('a');
    ran('a');
    ended('a');
    request();
    end();
    await looked();
    start();
    request();
    end();
    await looked();
    expect(told).toEqual([]);
  });

  it('reports nothing that ran before approvals were on', async () => {
    mode = 'off';
    start();
    const before = now;
    ran('before');
    await looked();
    mode = 'all';
    request();
    await looked();
    // Written once more, as the host does with a message that changed.
    ran('before', before);
    ran('after');
    end();
    await looked();
    expect(told).toEqual([without('after')]);
  });
});
