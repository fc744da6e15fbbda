import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isRealFolder } from '../../../agent/fs/below.ts';
import { temporaryFolder } from '../../helpers/surroundings.ts';

it('a folder that is made while it is looked for is no link', async () => {
  const root = await temporaryFolder();
  for (let round = 0; round < 300; round += 1) {
    const dir = join(root, String(round));
    const looks = Array.from({ length: 6 }, () => isRealFolder(dir));
    await mkdir(dir);
    await Promise.all(looks);
    expect(await isRealFolder(dir)).toBe(true);
  }
});
