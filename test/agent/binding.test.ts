import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findBinding } from '../../agent/binding.ts';

let dir: string;
beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), 'wa-binding-')));
  for (const each of ['app/src', 'app/packages/web/src', 'app-old', 'else'])
    await mkdir(join(dir, each), { recursive: true });
  await symlink(join(dir, 'app'), join(dir, 'link'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const bind = (path: string, project = 0) => ({ dir: join(dir, path), mailbox: '1', project });
const found = async (cwd: string, ...bindings: ReturnType<typeof bind>[]) =>
  (await findBinding(join(dir, cwd), bindings))?.dir.slice(dir.length + 1);

describe('the project of a working directory', () => {
  it('is the folder itself, or the nearest bound one above it', async () => {
    const bindings = [bind('app/packages/web', 2), bind('app')];
    expect(await found('app', ...bindings)).toBe('app');
    expect(await found('app/src', ...bindings)).toBe('app');
    expect(await found('app/packages', ...bindings)).toBe('app');
    expect(await found('app/packages/web/src', ...bindings)).toBe('app/packages/web');
    expect(await found('app/packages/web/src', ...bindings.reverse())).toBe('app/packages/web');
  });

  it('is none outside, also where only the beginning of the name is the same', async () => {
    expect(await found('else', bind('app'))).toBeUndefined();
    expect(await found('app-old', bind('app'))).toBeUndefined();
    expect(await found('', bind('app'))).toBeUndefined();
    expect(await found('app')).toBeUndefined();
  });

  it('is found through links on either side', async () => {
    expect(await found('link/src', bind('app'))).toBe('app');
    expect(await found('app/src', bind('link'))).toBe('link');
    expect(await found('link/packages/web', bind('link'), bind('app/packages/web'))).toBe('app/packages/web');
  });

  it('is nearest by where folders really are, however long the bound name is', async () => {
    await symlink(join(dir, 'app'), join(dir, 'a-very-long-name-for-a-link-to-the-same-folder'));
    const outer = bind('a-very-long-name-for-a-link-to-the-same-folder');
    expect(await found('app/packages/web', outer, bind('app/packages/web', 2))).toBe('app/packages/web');
  });

  it('is no error for a directory that is gone', async () => {
    expect(await found('app/gone', bind('app'))).toBe('app');
    expect(await found('gone', bind('missing'))).toBeUndefined();
  });
});
