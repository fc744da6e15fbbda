import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createHookApp, type HookRun } from '../../../agent/local-server/app.ts';
import { hookLimits } from '../../../protocol/limits.ts';
import { posted } from '../../helpers/local-call.ts';

const newlines = '\n'.repeat(hookLimits.keepAliveBytes);

/** The app with one pending answer per run. */
function createApp() {
  const runs: { run: HookRun; answer(value: object): void; fail(): void }[] = [];
  const steered: string[] = [];
  let now = 1_000;
  const app = createHookApp({
    clock: () => now,
    log: () => {},
    onHook: (run) =>
      new Promise((answer, reject) => runs.push({ run, answer, fail: () => reject(new Error('of a test')) })),
    status: () => ({}),
    onDown: () => {},
    onSendFile: async () => {},
    onRelay: async () => ({}),
    onHello: async () => ({ answered: false }),
    onSteer: async ({ action, args }) => {
      steered.push(`${action} ${args}`.trim());
      return 'done';
    },
  });
  const post = (event: string, body: string, headers: Record<string, string> = {}) =>
    posted(app, `/hook/gemini/${event}`, { body, headers });
  const steer = async (action: string, args: string) => {
    const body = JSON.stringify({ action, args, cwd: '/' });
    const response = await posted(app, '/steer', { body });
    return (await response.json()) as { text?: string; error?: { code: string } };
  };
  return { runs, post, steer, steered, advance: (ms: number) => (now += ms) };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a held answer', () => {
  it('begins at once and is kept alive by newlines until somebody answers', async () => {
    const { runs, post } = createApp();
    const response = await post('BeforeTool', '{}');
    const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    expect(await reader.read()).toEqual({ done: false, value: newlines });
    vi.advanceTimersByTime(hookLimits.keepAliveMs);
    expect(await reader.read()).toEqual({ done: false, value: newlines });
    runs[0]?.answer({ decision: 'deny' });
    expect(await reader.read()).toEqual({ done: false, value: '{"decision":"deny"}\n' });
    expect(await reader.read()).toEqual({ done: true, value: undefined });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('costs nothing any more when its reader goes away, and knows that it is gone', async () => {
    const { post, runs } = createApp();
    const response = await post('AfterAgent', '{}');
    expect(runs[0]?.run.isGone()).toBe(false);
    await response.body?.cancel();
    expect([vi.getTimerCount(), runs[0]?.run.isGone()]).toEqual([0, true]);
  });

  it('knows how long the host waits', async () => {
    const { runs, post } = createApp();
    await post('BeforeTool', '{}', { 'x-wa-max-seconds': '86400' });
    await post('BeforeTool', '{"second":1}', { 'x-wa-max-seconds': 'long' });
    await expect.poll(() => runs.map(({ run }) => run.maxSeconds)).toEqual([86_400, 60]);
  });
});

describe('an event that is answered at once', () => {
  it('is kept alive from when a command runs for it', async () => {
    const { runs, post } = createApp();
    const pending = post('AfterTool', '{}');
    await expect.poll(() => runs).toHaveLength(1);
    runs[0]?.run.hold();
    const reader = ((await pending).body as ReadableStream<Uint8Array>)
      .pipeThrough(new TextDecoderStream())
      .getReader();
    expect(await reader.read()).toEqual({ done: false, value: newlines });
    runs[0]?.answer({ decision: 'deny' });
    expect(await reader.read()).toEqual({ done: false, value: '{"decision":"deny"}\n' });
  });

  it('is known by what stands before a result that is too long to be passed on', async () => {
    const { runs, post } = createApp();
    const whole = JSON.stringify({
      cwd: '/p',
      tool_input: { command: 'a", \\', list: [1, { b: '{' }] },
      tool_response: { llmContent: 'x,"'.repeat(hookLimits.stdinBytes / 3) },
    });
    void post('AfterTool', whole.slice(0, hookLimits.stdinBytes));
    const known = { cwd: '/p', tool_input: { command: 'a", \\', list: [1, { b: '{' }] } };
    await expect.poll(() => runs.map(({ run }) => run.payload)).toEqual([known]);
    void post('BeforeTool', whole.slice(0, hookLimits.stdinBytes));
    await expect.poll(() => runs.map(({ run }) => run.payload)).toEqual([known, undefined]);
  });
});

describe('equal bytes, from hooks in two scopes', () => {
  it('share one verdict at a gate, also when the second comes after the first was answered', async () => {
    const { runs, post, advance } = createApp();
    const first = post('BeforeTool', '{"a":1}');
    const twin = post('BeforeTool', '{"a":1}');
    await expect.poll(() => runs).toHaveLength(1);
    advance(3_600_000);
    runs[0]?.answer({ decision: 'deny' });
    const texts = await Promise.all([first, twin].map(async (each) => (await (await each).text()).trim()));
    expect(texts).toEqual(['{"decision":"deny"}', '{"decision":"deny"}']);
    expect((await (await post('BeforeTool', '{"a":1}')).text()).trim()).toBe('{"decision":"deny"}');
    expect(runs).toHaveLength(1);
  });

  it('are asked again when they come later than a twin would', async () => {
    const { runs, post, advance } = createApp();
    const first = post('BeforeTool', '{"a":1}');
    await expect.poll(() => runs).toHaveLength(1);
    runs[0]?.answer({});
    await (await first).text();
    advance(hookLimits.twinMs + 1);
    void post('BeforeTool', '{"a":1}');
    await expect.poll(() => runs).toHaveLength(2);
  });

  it('give the second one nothing at every other event', async () => {
    const { runs, post } = createApp();
    void post('AfterAgent', '{"a":1}');
    await expect.poll(() => runs).toHaveLength(1);
    expect(await (await post('AfterAgent', '{"a":1}')).text()).toBe('{}\n');
  });
});

describe('what nobody can read', () => {
  it('is asked about at a gate and gets an empty object elsewhere', async () => {
    const { runs, post } = createApp();
    expect(await (await post('BeforeAgent', '{"cut')).text()).toBe('{}\n');
    await post('BeforeTool', '{"cut');
    await expect.poll(() => runs.map(({ run }) => run.payload)).toEqual([undefined]);
  });

  it('gets an empty object when the answer fails', async () => {
    const { runs, post } = createApp();
    const response = post('BeforeAgent', '{}');
    await expect.poll(() => runs).toHaveLength(1);
    runs[0]?.fail();
    expect(await (await response).text()).toBe('{}\n');
  });
});

describe('what is asked at the desk', () => {
  it('is a switch or a number, so that no text reaches a prompt by way of the socket', async () => {
    const { steer, steered } = createApp();
    const allowed: [string, string][] = [
      ['stop', ''],
      ['sprint', ''],
      ['sprint', '12'],
      ['away', 'on'],
      ['away', 'off'],
    ];
    for (const each of allowed) expect(await steer(...each)).toEqual({ text: 'done' });
    const refused: [string, string][] = [
      ['sprint', 'abc'],
      ['sprint', '3 x'],
      ['sprint', '-1'],
      ['sprint', '1\n'],
      ['stop', 'now'],
      ['away', 'maybe'],
      ['later', ''],
      ['toString', ''],
    ];
    for (const each of refused) expect((await steer(...each)).error?.code).toBe('bad_arguments');
    expect(steered).toEqual(['stop', 'sprint', 'sprint 12', 'away on', 'away off']);
  });
});
