// One prompt into the queue of a coding agent: what the agent's program is given, and what counts as failed.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPromptQueue } from '../../../agent/daemon/prompt-queue.ts';
import { isOver } from '../../../agent/process.ts';
import { until } from '../../helpers/daemon.ts';
import { temporaryFolder } from '../../helpers/surroundings.ts';

let dir: string;
let env: Record<string, string>;
afterEach(() => void vi.useRealTimers());
beforeEach(async () => {
  dir = await temporaryFolder();
  await mkdir(join(dir, 'bin'));
  env = { PATH: join(dir, 'bin'), HOME: dir, WA_AGENT_TOKEN: 'the-token-of-the-relay' };
});

const transcript = '/home/dev/.codex/sessions/2026/11/22/rollout-x.jsonl';
const session = { agent: 'codex', id: 'thread', transcript };
const seen = (name: string) => readFile(join(dir, name), 'utf8');

/** Codex is a script of the shell here. */
const codex = (script: string) => writeFile(join(dir, 'bin', 'codex'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
const queue = (limitMs?: number) => createPromptQueue({ agents: {}, nudge: 'auto' }, env, limitMs);
const added = (prompt = 'go on', limitMs?: number) => queue(limitMs).add(session, prompt);

it('the prompt is one word of the command line, whatever it looks like, and no secret goes along', async () => {
  await codex(`printf '%s\\0' "$@" > ${dir}/args; /usr/bin/env > ${dir}/env`);
  await added('--resume\n!ls "$HOME" `id`');
  expect(await seen('args')).toBe('queue\0--thread=thread\0--message=--resume\n!ls "$HOME" `id`\0');
  expect(await seen('env')).toContain('CODEX_HOME=/home/dev/.codex\n');
  expect(await seen('env')).not.toContain('the-token-of-the-relay');
});

it('the exit code alone counts, whatever the program prints and however much', async () => {
  await codex('i=0; while [ $i -lt 3000 ]; do echo "$i garbage garbage garbage garbage"; i=$((i+1)); done');
  await expect(added()).resolves.toBeUndefined();
});

describe('a prompt that may not stand in the queue is an error that repeats no word of it', () => {
  const failure = async (prompt?: string, limitMs?: number) => {
    const error = await added(prompt, limitMs).catch((cause) => cause);
    expect(JSON.stringify([error.message, error.hint])).not.toContain('secret words');
    return { code: error.code, message: error.message, hint: error.hint };
  };

  it('the program refuses it, as a full queue or an unknown session does', async () => {
    await codex('echo "$@" >&2; exit 7');
    expect(await failure('secret words')).toMatchObject({
      code: 'child_failed',
      message: expect.stringMatching(/codex queue` ended with 7$/),
      hint: expect.stringContaining('--version'),
    });
  });

  it('the program hangs: it is ended with what it started', async () => {
    await codex(`/bin/sleep 1000 & echo $! > ${dir}/child; wait`);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const failed = failure('secret words', 600_000);
    // Each look moves the clock by its interval, which comes nowhere near the limit.
    await expect.poll(() => seen('child').catch(() => '')).toMatch(/^\d+\n$/);
    vi.advanceTimersByTime(600_000);
    vi.useRealTimers();
    expect((await failed).message).toMatch(/did not end within 600 s$/);
    const child = Number(await seen('child'));
    await until('what it started is gone', () => isOver({ pid: child, started: '' }));
  });

  it('the program does not start', async () => {
    const gone = createPromptQueue({ agents: { codex: '/nowhere/codex' }, nudge: 'auto' }, env);
    await expect(gone.add(session, 'secret words')).rejects.toThrow(
      /^`\/nowhere\/codex queue` does not start \(ENOENT\)$/,
    );
    await codex('exit 0');
    expect((await failure('secret words \0')).message).toMatch(/does not start \(ERR_INVALID_ARG_VALUE\)$/);
  });

  it('the program is gone', async () => {
    expect(await failure('secret words')).toMatchObject({ code: 'not_found', hint: expect.stringContaining('PATH') });
  });
});

it('reaches sessions only of an agent with a queue, whose program is there, while nudge is on', async () => {
  expect(await queue().reaches('codex')).toBe(false);
  await codex('exit 0');
  expect(await queue().reaches('codex')).toBe(true);
  expect([await queue().reaches('gemini'), await queue().reaches('nobody')]).toEqual([false, false]);
  expect(await createPromptQueue({ agents: {}, nudge: 'off' }, env).reaches('codex')).toBe(false);
  const named = createPromptQueue({ agents: { codex: join(dir, 'bin', 'codex') }, nudge: 'auto' }, { PATH: '' });
  expect(await named.reaches('codex')).toBe(true);
});
