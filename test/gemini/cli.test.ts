// Proves the harness itself: the real CLI answers headless and in a terminal, and a user's hooks run.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ModelServer, startModelServer } from '../helpers/models/gemini.ts';
import { running } from '../hosts/processes.ts';
import { type GeminiHome, geminiHome, runHeadless, startTui } from './harness.ts';
import { recordHooks } from './hook-recorder.ts';

let model: ModelServer;
let home: GeminiHome;

beforeEach(async () => {
  model = await startModelServer();
  home = await geminiHome({ modelUrl: model.url, projectName: 'my project' });
});

afterEach(async () => {
  await home.close();
  await model.close();
});

describe('headless', () => {
  test('a prompt reaches the model and its answer reaches stdout', async () => {
    const result = await runHeadless(home, { prompt: 'Hello [[say: Good day.]]' });
    expect(result).toMatchObject({ code: 0, stdout: 'Good day.\n' });
    expect(model.requests.map(({ method, userTexts }) => [method, userTexts.at(-1)])).toEqual([
      ['streamGenerateContent', 'Hello [[say: Good day.]]'],
    ]);
  });

  test("the user's hooks run, with spaces in every path", async () => {
    const hooks = await recordHooks(home, [
      'SessionStart',
      'BeforeAgent',
      'BeforeTool',
      'AfterTool',
      'AfterAgent',
      'SessionEnd',
    ]);
    const prompt = 'Do it [[shell: echo done]] [[say: Done.]]';
    const result = await runHeadless(home, { prompt, args: ['--approval-mode', 'yolo'] });
    expect(result).toMatchObject({ code: 0, stdout: 'Done.\n' });
    const payloads = await hooks.payloads();
    expect(payloads.map((payload) => payload.hook_event_name)).toEqual([
      'SessionStart',
      'BeforeAgent',
      'BeforeTool',
      'AfterTool',
      'AfterAgent',
      'SessionEnd',
    ]);
    expect(payloads.every((payload) => payload.cwd === home.project)).toBe(true);
    expect(payloads.at(4)).toMatchObject({ prompt, prompt_response: 'Done.', stop_hook_active: false });
  });

  test('an error of the model ends the run with an error', async () => {
    const result = await runHeadless(home, { prompt: 'Hello [[error: 400]]' });
    expect(result.code).not.toBe(0);
    expect(result.stderr).toContain('Scripted error 400');
  });
});

describe('in a terminal', () => {
  test('a pasted prompt of two lines is one turn, and nothing is left running afterwards', async () => {
    const hooks = await recordHooks(home, ['AfterAgent']);
    const tui = await startTui(home);
    try {
      await tui.paste('First line\nsecond line [[say: Both read.]]');
      await tui.enter();
      await tui.waitForScreen(/✦ Both read\./);
      const [payload] = await hooks.waitFor('AfterAgent');
      expect(payload).toMatchObject({
        prompt: 'First line\nsecond line [[say: Both read.]]',
        prompt_response: 'Both read.',
      });
    } finally {
      await tui.close();
    }
    expect(await running([tui.pid])).toEqual([]);
  });

  test('an error of the model ends the turn without an answer and stands in the session file', async () => {
    const hooks = await recordHooks(home, ['AfterAgent']);
    const tui = await startTui(home);
    try {
      await tui.paste('Hello [[error: 400]]');
      await tui.enter();
      const [payload] = await hooks.waitFor('AfterAgent');
      expect(payload?.prompt_response).toBe('[no response text]');
      const errors = (await home.sessionLines()).filter((line) => line.type === 'error');
      expect(errors.map((line) => line.content)).toEqual([expect.stringContaining('Scripted error 400')]);
    } finally {
      await tui.close();
    }
  });

  test('leaves with its exit code after Ctrl+C twice', async () => {
    const tui = await startTui(home);
    try {
      await tui.key('C-c');
      await tui.waitForScreen('Press Ctrl+C again to exit');
      await tui.key('C-c');
      expect(await tui.waitForExit()).toBe(0);
    } finally {
      await tui.close();
    }
  });
});
