// `wa-sync policy test`: the verdict of the gate without a gate.

import { mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { type PolicyTest, policyTestCommand } from '../../../agent/commands/policy.ts';
import { loadConfig } from '../../../agent/config.ts';
import { noProgress } from '../../helpers/surroundings.ts';

let home: string;
let shop: string;
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'wa-policy-test-')));
  shop = join(home, 'shop');
  await mkdir(join(home, 'config'), { recursive: true });
  await mkdir(join(shop, '.gemini'), { recursive: true });
});

async function test(command: string, more: Partial<PolicyTest> = {}): Promise<string[]> {
  const env = {
    WA_CONFIG_DIR: join(home, 'config'),
    WA_STATE_DIR: join(home, 'state'),
    WA_RUNTIME_DIR: join(home, 'run'),
  };
  const world = { env, platform: 'linux' as const, home };
  const lines: string[] = [];
  const out = (line: string) => void lines.push(line);
  const context = {
    ...world,
    cwd: shop,
    distDir: '',
    loadConfig: () => loadConfig(world),
    out,
    note: out,
    progress: noProgress,
  };
  await policyTestCommand({ command, agent: 'gemini', mode: 'risky', json: false, ...more }, context);
  return lines;
}
const files = (user = 0, project = 0) =>
  `  policies: ${home}/config/policy.json (${user} rules), ${shop}/.gemini/wa_policy.json (${project} rules)`;

it('says what runs, and what is asked by which built-in rule', async () => {
  expect(await test('npm test')).toEqual(['In mode risky this runs without asking.', files()]);
  expect(await test('cd ~ && git push -f')).toEqual([
    'In mode risky this is asked.',
    '  because: overwrites or removes what others may have pushed (force-push)',
    '  built-in rules: force-push',
    files(),
  ]);
  expect((await test('git push -f', { mode: 'off' }))[0]).toBe('In mode off this runs without asking.');
});

it('reads the policies of the user and of the project in which it is called', async () => {
  const deny = { match: { command: 'npm publish*' }, do: 'deny', reason: 'releases are made by CI' };
  await writeFile(join(home, 'config', 'policy.json'), JSON.stringify({ rules: [deny] }));
  await writeFile(
    join(shop, '.gemini', 'wa_policy.json'),
    JSON.stringify({ rules: [{ tool: 'web_fetch', do: 'ask' }] }),
  );
  expect(await test('cd pkg && npm publish')).toEqual([
    'In mode risky this is denied.',
    '  because: releases are made by CI',
    files(1, 1),
  ]);
  expect(await test('{"prompt":"x"}', { tool: 'web_fetch', mode: 'off' })).toEqual([
    'In mode off this is asked.',
    "  because: the project's policy says so",
    files(1, 1),
  ]);
});

it('gives the same as JSON, hides secrets in its words, and names arguments that are none', async () => {
  const [line = ''] = await test('rm -rf ~', { json: true });
  expect(JSON.parse(line)).toMatchObject({
    verdict: 'ask',
    mode: 'risky',
    rules: ['delete-root', 'own'],
    problems: [],
  });
  await expect(test('not json', { tool: 'write_file' })).rejects.toMatchObject({ code: 'bad_arguments' });
});
