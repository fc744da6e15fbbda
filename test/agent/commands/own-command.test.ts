import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ownCommand } from '../../../agent/commands/own-command.ts';
import { temporaryFolder } from '../../helpers/surroundings.ts';

it('the next command is named in the way in which this one was started', async () => {
  const dir = await temporaryFolder();
  const bin = join(dir, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'wa-sync'), '#!/bin/sh\n', { mode: 0o755 });
  const named = (env: Record<string, string>, distDir = '/opt/wa sync/dist') =>
    ownCommand('dev', { env: { PATH: '/nonexistent', ...env }, platform: 'linux', distDir });
  expect(await named({ npm_command: 'run-script', npm_lifecycle_event: 'demo' })).toBe('npm run dev');
  expect(await named({ PATH: bin }, '/home/dev/.npm/_npx/a1b2/node_modules/wa-sync/dist')).toBe('npx wa-sync dev');
  expect(await named({ PATH: bin })).toBe('wa-sync dev');
  expect(await named({})).toMatch(/^node '\/opt\/wa sync\/dist\/wa-sync\.js' dev$/);
});
