// What Claude Code's hooks say and may be answered, beyond the contract of all drivers.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claude } from '../../../../agent/drivers/claude/driver.ts';
import { claudeWorkstation } from '../../../../agent/drivers/claude/workstation.ts';
import { nudgeLine } from '../../../../protocol/turn-events.ts';

const fixtures = join(import.meta.dirname, '..', '..', '..', 'fixtures', 'claude-2.1.329');
const payload = (name: string) => JSON.parse(readFileSync(join(fixtures, 'hooks', `${name}.json`), 'utf8'));
const read = (name: string) => claude.readCall(name.split('.')[0] ?? '', payload(name));

describe('a turn that failed', () => {
  const errors = readdirSync(join(fixtures, 'hooks')).filter((name) => name.startsWith('StopFailure'));

  it.each(errors.map((name) => name.slice(0, -'.json'.length)))('is told in the words of the host: %s', (name) => {
    const { last_assistant_message } = payload(name);
    expect(last_assistant_message).toEqual(expect.stringMatching(/./));
    expect(read(name)?.event).toEqual({
      type: 'turnEnd',
      answer: undefined,
      error: last_assistant_message,
      last: true,
    });
  });

  it('is recorded with each of these errors', () => {
    expect(errors.map((name) => payload(name.slice(0, -'.json'.length)).error).sort()).toEqual(
      ['unknown', 'authentication_failed', 'billing_error', 'model_not_found', 'invalid_request', 'rate_limit']
        .concat('server_error')
        .sort(),
    );
  });

  it('is told by the name of its error where the host has no words, and by a sentence where it has neither', () => {
    const told = (fields: object) => claude.readCall('StopFailure', { ...payload('StopFailure'), ...fields })?.event;
    expect(told({ last_assistant_message: '' })).toMatchObject({ error: 'unknown' });
    expect(told({ last_assistant_message: 7, error: null })).toMatchObject({ error: 'The turn failed.' });
  });

  it('of an agent inside the session, or of a compression, ends no turn of the session', () => {
    const inner = JSON.parse(readFileSync(join(fixtures, 'agent-StopFailure.json'), 'utf8'));
    expect(inner.agent_id).toEqual(expect.any(String));
    expect(claude.readCall('StopFailure', inner)?.event).toEqual({ type: 'other' });
  });
});

describe('a prompt', () => {
  it('that the host makes up when a background task ends was typed by no person', () => {
    expect(read('UserPromptSubmit.task-notification')?.event).toMatchObject({ type: 'turnStart', byHost: true });
    expect(read('UserPromptSubmit')?.event).toEqual({ type: 'turnStart', prompt: payload('UserPromptSubmit').prompt });
  });

  it('that came through the inbox socket is the line itself, by which the rules know a nudge', () => {
    expect(read('UserPromptSubmit.inbox')?.event).toEqual({ type: 'turnStart', prompt: nudgeLine });
  });
});

describe('a text that the model writes', () => {
  it('comes in parts of one message, and the last one may be empty', () => {
    const parts = ['first', 'second', 'end'].map((name) => read(`MessageDisplay.${name}`)?.event);
    const { message_id: message } = payload('MessageDisplay.first');
    expect(parts).toMatchObject([
      { type: 'says', message, index: 0, last: false, text: expect.stringMatching(/^word0 .*word5 .*\n\n$/s) },
      { type: 'says', message, index: 1, last: false, text: expect.stringMatching(/^word6 .*word11 .*\n\n$/s) },
      { type: 'says', message, index: 4, last: true, text: '' },
    ]);
  });

  it('is not told of an agent inside the session, nor where a field is of another type', () => {
    const part = payload('MessageDisplay');
    for (const odd of [{ agent_id: 'a1' }, { index: 0.5 }, { index: '0' }, { delta: null }, { message_id: 7 }])
      expect(claude.readCall('MessageDisplay', { ...part, ...odd })?.event).toEqual({ type: 'other' });
  });
});

describe('a result that a policy replaces', () => {
  const said = 'Withheld.';
  const answer = (name: string) => {
    const { event } = read(name) ?? {};
    if (event?.type !== 'toolEnd') throw new Error(`${name} is no end of a tool`);
    const result = claudeWorkstation.replacedResult?.(event.tool, event.server, said);
    const formed = result === undefined ? {} : { result };
    return claude.writeAnswer('PostToolUse', { deny: said, context: 'also', ...formed });
  };
  const output = (updatedToolOutput: unknown) => ({
    hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'also', updatedToolOutput },
  });

  it('has the form of the tool, which is all that the host takes', () => {
    expect(answer('PostToolUse.Bash')).toEqual(
      output({ stdout: said, stderr: '', interrupted: false, isImage: false }),
    );
    const asText = { filePath: '', content: said, numLines: 1, startLine: 1, totalLines: 1 };
    expect(answer('PostToolUse.Read')).toEqual(output({ type: 'text', file: asText }));
    expect(answer('PostToolUse.Read.image')).toEqual(output({ type: 'text', file: asText }));
    expect(answer('PostToolUse.mcp')).toEqual(output([{ type: 'text', text: said }]));
    expect(answer('PostToolUse.WebSearch')).toEqual(output({ query: '', results: [said], durationSeconds: 0 }));
    const { updatedToolOutput } = (answer('PostToolUse.Agent') as ReturnType<typeof output>).hookSpecificOutput;
    expect(updatedToolOutput).toMatchObject({ status: 'completed', content: [{ type: 'text', text: said }] });
    // Every field that the host's own result must have.
    const own = payload('PostToolUse.Agent').tool_response;
    expect(Object.keys(own)).toEqual(expect.arrayContaining(Object.keys(updatedToolOutput as object)));
  });

  it('is left alone where the host has no form for it: a file that was changed, and a tool that failed', () => {
    const context = { hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'also' } };
    expect(answer('PostToolUse.Edit')).toEqual(context);
    expect(answer('PostToolUse.AskUserQuestion')).toEqual(context);
    const result = claudeWorkstation.replacedResult?.('Bash', undefined, said) ?? {};
    expect(claude.writeAnswer('PostToolUseFailure', { deny: said, result })).toEqual({});
  });

  it('is read by a filter as the model reads it', () => {
    const result = (name: string) => {
      const { event } = read(name) ?? {};
      return event?.type === 'toolEnd' ? event.result : undefined;
    };
    expect(result('PostToolUse.Read')).toBe('one SECRET\ntwo\n');
    expect(result('PostToolUse.mcp')).toEqual(payload('PostToolUse.mcp').tool_response);
    expect(result('PostToolUse.Agent')).toEqual([{ type: 'text', text: 'from subagent' }]);
    expect(result('PostToolUseFailure.Bash')).toBe('Exit code 3\nSECRET');
  });
});

it('a permission is answered with the decision alone, and no word of it reaches another event', () => {
  const decision = (behavior: object) => ({
    hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: behavior },
  });
  expect(claude.writeAnswer('PermissionRequest', { allow: true, notice: 'x', context: 'y' })).toEqual(
    decision({ behavior: 'allow' }),
  );
  expect(claude.writeAnswer('PermissionRequest', { deny: 'no', allow: true })).toEqual(
    decision({ behavior: 'deny', message: 'no' }),
  );
  expect(claude.writeAnswer('PermissionRequest', { allow: true, input: { command: 'ls' } })).toEqual(
    decision({ behavior: 'allow', updatedInput: { command: 'ls' } }),
  );
  expect(claude.writeAnswer('Stop', { allow: true, context: 'x' })).toEqual({});
});
