// The doctor asks the real Codex which hooks it trusts: the person's trust in the terminal counts, and a hook that changes loses it.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Finding } from '../../agent/doctor/finding.ts';
import type { Product } from '../hosts/product.ts';
import { test } from './stage.ts';

async function found(product: Product): Promise<Pick<Finding, 'state' | 'evidence'>[]> {
  const { stdout } = await product.wa('doctor', '--json');
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return findings.filter(({ check, evidence }) => check === 'hooks' && /codex/i.test(evidence));
}

test('doctor says which hooks Codex trusts, and notices one that was modified since', async ({
  home,
  product,
  open,
}) => {
  const [config, hooks] = ['config.toml', 'hooks.json'].map((name) => join(home.home, '.codex', name)) as [
    string,
    string,
  ];
  expect(await found(product)).toMatchObject([
    {
      state: 'fail',
      evidence: expect.stringContaining('Codex skips 9 of 9 hooks of wa-sync (untrusted: SessionStart,'),
    },
  ]);
  await open();
  expect(await found(product)).toMatchObject([
    { state: 'ok', evidence: expect.stringContaining('Codex trusts all 9 hooks') },
  ]);
  const trusted = await readFile(config, 'utf8');
  const installed = await readFile(hooks, 'utf8');
  await writeFile(
    hooks,
    installed.replace(/(codex PreToolUse .*?"timeout": )86400/s, (_, before: string) => `${before}86399`),
  );
  const modified = await found(product);
  expect(modified.map(({ evidence }) => evidence)).toContainEqual(
    expect.stringContaining('Codex skips 1 of 9 hooks of wa-sync (modified: PreToolUse)'),
  );
  expect(await readFile(config, 'utf8')).toBe(trusted);
});
