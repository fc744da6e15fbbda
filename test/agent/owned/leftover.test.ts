// What a dead daemon left running of its sessions ends, also when its journal is gone.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { endMarked } from '../../../agent/owned/leftover.ts';
import { markOwned } from '../../../agent/owned-marks.ts';
import { ownedFolder } from '../../../protocol/hook.ts';
import { temporaryFolder } from '../../helpers/surroundings.ts';

it.runIf(process.platform === 'linux')(
  'every process with a mark of the runtime directory ends, and no other',
  async () => {
    const runtimeDir = await temporaryFolder();
    const start = async (env: Record<string, string>) => {
      const child = spawn('sleep', ['300'], {
        env: { PATH: process.env.PATH, ...env },
        stdio: 'ignore',
        detached: true,
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      await once(child, 'spawn');
      return child;
    };
    const { env } = await markOwned(runtimeDir);
    const [marked, other] = [await start(env), await start({ WA_OWNED: '1' })];
    await mkdir(join(runtimeDir, ownedFolder), { recursive: true });
    await writeFile(join(runtimeDir, ownedFolder, '1'), '');
    const ended = once(marked, 'exit');
    expect(await endMarked(runtimeDir)).toBe(1);
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect(other.exitCode ?? other.signalCode).toBe(null);
    expect(await endMarked(await temporaryFolder())).toBe(0);
  },
);
