// Our hooks as a guest in somebody's Gemini CLI: beside the user's own, in odd folders, after our removal.

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { handedOver, hookContext, turnRequests } from './hand-over.ts';
import { type GeminiHome, runHeadless } from './harness.ts';
import { recordHooks } from './hook-recorder.ts';
import { test, type } from './stage.ts';

const userEvents = [
  'SessionStart',
  'BeforeAgent',
  'BeforeModel',
  'BeforeTool',
  'AfterTool',
  'AfterAgent',
  'SessionEnd',
];

/**
 * Our folders in the home, the phone's texts in the CLI's own sessions, and the files of a bound project with what is being written
 * to them: named, but no part of the installation.
 */
const notInstalled =
  /(^|\/)(\.local|\.config|tmp|history|recorded hooks)\/|\/(wa_(inbox|outbox)\.json|\.wa-tmp-[^/]*)$/;

/** Files of the user's Gemini CLI and project that name us, and their contents. */
async function traces({ home }: GeminiHome): Promise<Record<string, string>> {
  const entries = await readdir(home, { recursive: true, withFileTypes: true });
  const found: Record<string, string> = {};
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (notInstalled.test(path.slice(home.length))) continue;
    if (entry.isDirectory() && /wa-sync/.test(entry.name)) found[path] = 'dir';
    if (!entry.isFile()) continue;
    const text = await readFile(path, 'utf8');
    if (/wa-sync|wa-hook/.test(path.slice(home.length) + text)) found[path] = text;
  }
  return found;
}

describe.each(['user', 'project'])('installed as %s', (scope) => {
  test("the user's own hooks run beside ours, and what they tell the model stays", async ({ model, home, product }) => {
    const settingsPath = join(home.project, '.gemini', 'settings.json');
    const ownHook = {
      hooks: [
        {
          type: 'command',
          name: 'house-rule',
          command: `echo '{"hookSpecificOutput":{"additionalContext":"House rule: be brief."}}'`,
        },
      ],
    };
    await mkdir(join(home.project, '.gemini'), { recursive: true });
    await writeFile(settingsPath, `${JSON.stringify({ hooks: { BeforeAgent: [ownHook] } }, null, 2)}\n`);
    const hooks = await recordHooks(home, userEvents);
    if (scope === 'project') {
      await product.wa('hooks', 'uninstall');
      expect(await product.wa('hooks', 'install', '--scope', 'project')).toMatchObject({ code: 0 });
    }
    await product.say('From the phone [[shell: echo done]] [[say: Both are here.]]');
    const result = await runHeadless(home, { prompt: 'go on', args: ['--approval-mode', 'yolo'] });

    expect(result).toMatchObject({ code: 0, stdout: 'Both are here.\n' });
    const request = await model.waitForRequest('From the phone [[shell');
    expect(hookContext(request).join('\n')).toContain('House rule: be brief.');
    expect(handedOver(request)).toHaveLength(1);
    expect((await hooks.payloads()).map((payload) => payload.hook_event_name)).toEqual([
      'SessionStart',
      'BeforeAgent',
      'BeforeModel',
      'BeforeTool',
      'AfterTool',
      'BeforeModel',
      'AfterAgent',
      'SessionEnd',
    ]);
    expect((await product.waitForAnswers(1)).map(({ text }) => text)).toEqual(['Both are here.']);
    await product.waitForLadder({ answered: 1 });
  });
});

test('installed twice, as extension and in the project, a text is given once and answered once', async ({
  model,
  home,
  product,
}) => {
  expect(await product.wa('hooks', 'install', '--scope', 'project')).toMatchObject({ code: 0 });
  await product.say('Only once [[say: Once.]]');
  await runHeadless(home, { prompt: 'go on' });
  expect(handedOver(await model.waitForRequest('Only once'))).toHaveLength(1);
  await runHeadless(home, { prompt: 'and again [[say: Twice.]]' });
  expect((await product.waitForAnswers(2)).map(({ text }) => text)).toEqual(['Once.', 'Twice.']);
  await product.waitForLadder({ answered: 1 });
});

test('a removed package blocks nothing: the CLI answers as if no hooks were there', async ({
  model,
  home,
  product,
}) => {
  expect(await product.wa('hooks', 'install', '--scope', 'project')).toMatchObject({ code: 0 });
  await product.say('Never given');
  await product.stopDaemon();
  await rm(product.distDir, { recursive: true });
  await rm(join(home.home, '.local'), { recursive: true });

  const result = await runHeadless(home, { prompt: 'go on [[say: Nobody stops me.]]' });
  expect(result).toMatchObject({ code: 0, stdout: 'Nobody stops me.\n' });
  expect(result.stderr).not.toMatch(/blocked|hook\(s\)|wa-hook/i);
  expect(turnRequests(model).map(hookContext)).toEqual([[]]);
});

test('a start in a sub-folder with a space in its path is a start in the project', async ({ model, home, product }) => {
  const folder = join(home.project, 'packages', 'web app');
  await mkdir(folder, { recursive: true });
  await product.say('Where are you? [[say: In the web app.]]');
  expect(await runHeadless(home, { prompt: 'go on', cwd: folder })).toMatchObject({ stdout: 'In the web app.\n' });
  expect(handedOver(await model.waitForRequest('Where are you?'))).toHaveLength(1);
  expect((await product.waitForAnswers(1)).map(({ text }) => text)).toEqual(['In the web app.']);
  await product.waitForLadder({ answered: 1 });
  expect(await readdir(folder)).toEqual([]);
});

test('a session in an unbound folder gets no message and leaves no file', async ({ model, home, product }) => {
  const other = join(home.home, 'other project');
  await mkdir(other);
  await product.say('For the project only');
  const env = { GEMINI_CLI_TRUST_WORKSPACE: 'true' };
  const result = await runHeadless(home, { prompt: 'go on [[say: Not for me.]]', cwd: other, env });
  expect(result).toMatchObject({ code: 0, stdout: 'Not for me.\n' });
  expect(turnRequests(model).map(hookContext)).toEqual([[]]);
  expect(await readdir(other)).toEqual([]);
  await product.waitForLadder({ delivered: 1 });
});

test('a CLI that starts itself again, as it does for its users, is one session', async ({
  model,
  home,
  product,
  open,
}) => {
  const { GEMINI_CLI_NO_RELAUNCH: _, ...env } = home.env;
  home.env = env;
  const tui = await open();
  await product.say('First [[say: One.]]');
  await type(tui, 'go on');
  await product.waitForLadder({ answered: 1 });
  await product.say('Second [[say: Two.]]');
  await type(tui, 'go further');
  expect(handedOver(await model.waitForRequest('go further'))).toHaveLength(1);
  expect((await product.waitForAnswers(2)).map(({ text }) => text)).toEqual(['One.', 'Two.']);
  await product.waitForLadder({ answered: 2 });
});

test('uninstalling leaves the CLI as it was before', async ({ model, home, product }) => {
  const hooks = await recordHooks(home, ['AfterAgent']);
  const settings = await readFile(join(home.home, '.gemini', 'settings.json'), 'utf8');
  const ownSettings = '{\n    "ui": { "hideBanner": true },\n    "general": {}\n}\n';
  await mkdir(join(home.project, '.gemini'), { recursive: true });
  await writeFile(join(home.project, '.gemini', 'settings.json'), ownSettings);
  expect(await product.wa('hooks', 'install', '--scope', 'project')).toMatchObject({ code: 0 });
  await product.say('While installed [[say: Installed.]]');
  expect(await runHeadless(home, { prompt: 'go on' })).toMatchObject({ code: 0, stdout: 'Installed.\n' });
  await product.waitForLadder({ answered: 1 });
  expect(Object.keys(await traces(home))).toEqual(
    expect.arrayContaining([
      join(home.home, '.gemini', 'extensions', 'wa-sync'),
      join(home.home, '.gemini', 'trusted_hooks.json'),
      join(home.project, '.gemini', 'settings.json'),
    ]),
  );

  expect(await product.wa('hooks', 'uninstall')).toMatchObject({ code: 0 });
  expect(await traces(home)).toEqual({});
  expect(await readFile(join(home.home, '.gemini', 'settings.json'), 'utf8')).toBe(settings);
  expect(await readFile(join(home.project, '.gemini', 'settings.json'), 'utf8')).toBe(ownSettings);

  await product.say('After the removal');
  const result = await runHeadless(home, { prompt: 'alone [[say: Alone.]]' });
  expect(result).toMatchObject({ code: 0, stdout: 'Alone.\n' });
  expect(hookContext(await model.waitForRequest('alone'))).toEqual([]);
  expect(await hooks.payloads('AfterAgent')).toHaveLength(2);
  await product.waitForLadder({ answered: 1, delivered: 1 });
  expect((await product.waitForAnswers(1)).map(({ text }) => text)).toEqual(['Installed.']);
  expect(await traces(home)).toEqual({});
});
