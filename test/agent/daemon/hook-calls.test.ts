// One hook call through the parts of its project, when one of them fails.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createHookCalls, type HookCallsOptions } from '../../../agent/daemon/hook-calls.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'wa-calls-'));
});
afterEach(() => rm(dir, { recursive: true }));

it('a result that a filter withheld stays withheld when the turn rules fail on a full disk', async () => {
  const project = {
    binding: { dir, mailbox: '1000001', project: 0 },
    guard: {
      admit: async () => undefined,
      sees: () => {},
      runsAfter: async () => true,
      follow: async () => ({ deny: 'withheld' }),
    },
    turns: {
      handle: async () => {
        throw new Error('no space left');
      },
    },
    owned: { sessions: { isOwn: () => false } },
  } as unknown as HookCallsOptions['projects'][number];
  const gates = { closed: () => false } as HookCallsOptions['gates'];
  const calls = createHookCalls({
    projects: [project],
    gates,
    clock: () => 0,
    log: () => {},
  });
  const payload = {
    session_id: 's',
    cwd: dir,
    hook_event_name: 'AfterTool',
    tool_name: 'run_shell_command',
    tool_input: { command: 'cat log' },
    tool_response: { llmContent: 'secret' },
  };
  const run = {
    tool: 'gemini',
    event: 'AfterTool',
    payload,
    pid: process.pid,
    maxSeconds: 180,
    slowness: 1,
    isGone: () => false,
  } as const;
  expect(await calls({ ...run, hold: () => {} })).toEqual({ decision: 'deny', reason: 'withheld' });
});

it('a command that runs in another folder is judged at the gate of the project in which its session began', async () => {
  const judged: unknown[] = [];
  const project = {
    binding: { dir, mailbox: '1000001', project: 0 },
    guard: {
      admit: async () => undefined,
      sees: () => {},
      runsAfter: async () => false,
      passes: () => {},
      follow: async (call: unknown) => {
        judged.push(call);
        return { deny: 'not here' };
      },
    },
    turns: { handle: async () => ({}) },
    owned: { sessions: { isOwn: () => false } },
  } as unknown as HookCallsOptions['projects'][number];
  const gates = { closed: () => false } as HookCallsOptions['gates'];
  const calls = createHookCalls({ projects: [project], gates, clock: () => 0, log: () => {} });
  const transcript = join(dir, 'rollout.jsonl');
  await writeFile(transcript, `${JSON.stringify({ type: 'session_meta', payload: { cwd: dir } })}\n`);
  const payload = {
    ...{ session_id: 's', turn_id: 't', transcript_path: transcript, cwd: '/usr', hook_event_name: 'PreToolUse' },
    ...{ tool_name: 'Bash', tool_input: { command: 'rm -r lib' }, tool_use_id: 'call' },
  };
  const run = {
    tool: 'codex',
    event: 'PreToolUse',
    maxSeconds: 86_400,
    slowness: 1,
    pid: process.pid,
    isGone: () => false,
  };
  const deny = { hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'not here' } };
  expect(await calls({ ...run, payload, hold: () => {} })).toMatchObject(deny);
  expect(judged).toHaveLength(1);
  await rm(transcript);
  expect(await calls({ ...run, payload, hold: () => {} })).toMatchObject(deny);
  // A session that began elsewhere has no gate here.
  const other = { ...payload, session_id: 'other', transcript_path: null };
  expect(await calls({ ...run, payload: other, hold: () => {} })).toEqual({});
});
