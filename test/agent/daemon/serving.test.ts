import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createServing } from '../../../agent/daemon/serving.ts';
import { temporaryFolder } from '../../helpers/surroundings.ts';

/** Above what Linux gives to a process. */
const noProcess = 4_194_999;

it('the daemon that ends last leaves nothing, and removes what one left that was killed while it took the lock', async () => {
  const root = await temporaryFolder();
  const data = join(root, 'data');
  const serving = createServing({ config: root, state: root, runtime: root, data, cache: root });
  await serving.hold(join(root, 'project', '.gemini'), join(root, 'project'));
  const [lock = ''] = (await readdir(join(data, 'serving'))).filter((name) => name.endsWith('.lock'));
  await writeFile(join(data, 'serving', `.wa-tmp-${noProcess}-0123456789ab`), '{');
  await writeFile(join(data, 'serving', `.wa-tmp-ticket-${lock}-0123456789abcdef`), '{');
  await serving.release();
  expect(await readdir(data)).toEqual([]);
});

it('what another daemon holds or is about to hold stays', async () => {
  const root = await temporaryFolder();
  const data = join(root, 'data');
  const serving = createServing({ config: root, state: root, runtime: root, data, cache: root });
  await serving.hold(join(root, 'one'), root);
  const others = [`.wa-tmp-${process.pid}-0123456789ab`, 'of another program'];
  for (const name of others) await writeFile(join(data, 'serving', name), '');
  await serving.release();
  expect((await readdir(join(data, 'serving'))).sort()).toEqual(others.sort());
});
