// Which login is used. A wrangler on the PATH is a script of the test that says what the real one says.

import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { findLogin } from '../../../../agent/setup/cloudflare/login.ts';
import { temporaryFolder } from '../../../helpers/surroundings.ts';

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});

/** The environment of a machine whose wrangler prints this. */
async function withWrangler(script: string): Promise<Record<string, string>> {
  const bin = join(folder, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'wrangler'), `#!/bin/sh\n${script}\n`);
  await chmod(join(bin, 'wrangler'), 0o755);
  return { PATH: `${bin}:/usr/bin:/bin`, HOME: folder };
}

const oauth = `[ "$*" = "auth token --json" ] && echo '{"type":"oauth","token":"token-of-the-wrangler-login"}'`;

it('prefers the environment, then what was pasted, then the login of wrangler', async () => {
  const env = await withWrangler(oauth);
  const named = { ...env, CLOUDFLARE_API_TOKEN: 'token-of-the-environment', CLOUDFLARE_ACCOUNT_ID: 'the-account' };
  const pasted = ' token-that-was-pasted\n';
  expect(await findLogin({ env: named, pasted })).toEqual({
    source: 'environment',
    token: 'token-of-the-environment',
    accountId: 'the-account',
  });
  expect(await findLogin({ env, pasted })).toEqual({
    source: 'pasted',
    token: 'token-that-was-pasted',
    accountId: undefined,
  });
  expect(await findLogin({ env })).toEqual({
    source: 'wrangler',
    token: 'token-of-the-wrangler-login',
    accountId: undefined,
  });
});

it('does not run wrangler in the folder of a project, whose .env would name another account', async () => {
  const env = await withWrangler(`pwd > "$HOME/where"; ${oauth}`);
  await findLogin({ env });
  const { readFile } = await import('node:fs/promises');
  expect((await readFile(join(folder, 'where'), 'utf8')).trim()).not.toBe(process.cwd());
});

it.each([
  ['nobody is logged in', 'echo "Not logged in." >&2; exit 1'],
  [
    'wrangler has a key that may do everything',
    `echo '{"type":"api_key","key":"0123456789abcdef","email":"a@example"}'`,
  ],
  ['wrangler says something else', 'echo hello'],
])('has none when %s', async (_, script) => {
  expect(await findLogin({ env: await withWrangler(script) })).toBeUndefined();
});

it('has none without wrangler', async () => {
  expect(await findLogin({ env: { PATH: folder } })).toBeUndefined();
});

it('refuses a text that is no token, without showing it', async () => {
  const words = 'my secret password';
  for (const given of [{ env: {}, pasted: words }, { env: { CLOUDFLARE_API_TOKEN: words } }]) {
    const error = await findLogin(given).catch((cause: Error) => cause);
    expect(error).toMatchObject({
      code: expect.stringMatching(/^bad_/),
      hint: expect.stringContaining('Workers Scripts'),
    });
    expect(`${error}`).not.toContain(words);
  }
});
