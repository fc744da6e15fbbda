// What Codex's hooks say and may be answered, beyond the contract of all drivers.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { codex } from '../../../../agent/drivers/codex/driver.ts';
import { queueRun } from '../../../../agent/drivers/codex/queue.ts';
import type { TurnAnswer } from '../../../../protocol/turn-events.ts';

const fixtures = join(import.meta.dirname, '..', '..', '..', 'fixtures', 'codex-0.169.0');
const payload = (name: string) => JSON.parse(readFileSync(join(fixtures, 'hooks', `${name}.json`), 'utf8'));
const session = readFileSync(join(fixtures, 'session.interactive.jsonl'), 'utf8');

it('a gate is never answered with a field that Codex refuses, because the tool would run', () => {
  const answers: TurnAnswer[] = [{ halt: 'stop' }, { deny: 'no', halt: 'stop' }, { deny: 'no', ask: true }];
  for (const answer of answers) {
    expect(codex.writeAnswer('PreToolUse', answer)).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: answer.deny ?? answer.halt,
      },
    });
  }
  expect(codex.writeAnswer('PreToolUse', { ask: true })).toEqual({});
});

it('no event is answered with `continue`, which Codex refuses, whatever was decided', () => {
  const answer: TurnAnswer = {
    deny: 'no',
    halt: 'stop',
    next: 'go',
    context: 'x',
    notice: 'y',
    ask: true,
    allow: true,
  };
  for (const event of Object.keys(codex.events)) {
    for (const each of [answer, { halt: 'stop' }, { notice: 'y' }])
      expect(codex.writeAnswer(event, each)).not.toHaveProperty('continue');
  }
});

it('an app-server is no terminal, and runs the sessions of several', () => {
  const { isServer = () => false, isHeadless } = codex;
  for (const argv of [
    ['codex', 'app-server'],
    ['/x/codex', 'app-server', '--listen', 'unix://'],
    ['codex', '-c', 'a=b', 'app-server'],
  ])
    expect([isServer(argv), isHeadless(argv)]).toEqual([true, false]);
  for (const argv of [['codex'], ['codex', 'resume', 'x'], ['node', 'codex.js', 'exec', 'x']])
    expect(isServer(argv)).toBe(false);
});

it('a patch is no command line, and the files that it names are arguments', () => {
  const { event } = codex.readCall('PreToolUse', payload('PreToolUse.apply_patch')) ?? {};
  expect(event).toMatchObject({ tool: 'apply_patch', input: { files: ['a.txt'] } });
  expect(event?.type === 'gate' && codex.tools.command(event.input)).toBeUndefined();
});

it('the call at the dialog is the call at its gate, without the reason of the agent', () => {
  const { event } = codex.readCall('PermissionRequest', payload('PermissionRequest.Bash')) ?? {};
  const gate = codex.readCall('PreToolUse', payload('PreToolUse.Bash'))?.event;
  expect(event).toMatchObject({ type: 'permission', why: 'need it', hidesDialog: true });
  expect(event?.type === 'permission' && event.input).toEqual(gate?.type === 'gate' && gate.input);
});

it('only the first end of a turn is named by the turn', () => {
  const end = (name: string) => codex.readCall('Stop', payload(name))?.event;
  expect([end('Stop'), end('Stop.active')]).toMatchObject([{ run: payload('Stop').turn_id }, { run: undefined }]);
  expect(codex.readCall('Interrupt', payload('Interrupt'))?.event).toMatchObject({ cancelled: true, last: true });
});

it('a command may run elsewhere, and the session file says where its session belongs', () => {
  expect(codex.readCall('PreToolUse', payload('PreToolUse.Bash.workdir'))?.cwd).toBe('/usr');
  expect(codex.sessionFolder?.(session)).toBe('/home/dev/project');
});

it('an error ends its turn until the next one begins', () => {
  const lines = session.split('\n');
  const at = lines.findIndex((line) => line.includes('Scripted error 400'));
  const upTo = (end: number) => codex.readSession(lines.slice(0, end).join('\n'));
  expect([upTo(at).isOver, upTo(at + 1).isOver, upTo(at + 1).error]).toEqual([false, true, 'Scripted error 400']);
  const next = lines.findIndex((line, index) => index > at && line.includes('"task_started"'));
  expect(upTo(next + 1).isOver).toBe(false);
});

it('texts of hooks count as given, those of the host and of tools do not', () => {
  const { prompts } = codex.readSession(session);
  expect(prompts).toEqual(expect.arrayContaining(['CTX-PROMPT', 'CTX-POST']));
  expect(prompts.some((text) => text.includes('<environment_context>') || text.includes('<turn_aborted>'))).toBe(false);
});

it('each word for the queue is one argument, in the settings of the session', () => {
  const transcript = '/home/dev/other/sessions/2026/11/22/rollout-x.jsonl';
  expect(queueRun({ id: 't', transcript }, '--resume\nx')).toEqual({
    args: ['queue', '--thread=t', '--message=--resume\nx'],
    variables: { CODEX_HOME: '/home/dev/other' },
  });
  expect(queueRun({ id: 't', transcript: undefined }, 'x').variables).toEqual({});
});
