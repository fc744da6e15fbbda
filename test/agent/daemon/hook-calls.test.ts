// One hook call through the parts of its project, when one of them fails.

import { mkdtemp, rm } from 'node:fs/promises';
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
