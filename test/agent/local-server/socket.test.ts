import { chmod, chown, mkdir, mkdtemp, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { listen, prepareSocket } from '../../../agent/local-server/socket.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'wa-sock-'));
});

const prepare = (dir: string) => prepareSocket(dir, process.platform);

describe('the runtime directory', () => {
  it('is made for its owner alone, and made so again when it was opened', async () => {
    const dir = join(root, 'run');
    await prepare(dir);
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
    await chmod(dir, 0o755);
    await prepare(dir);
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
  });

  it('is refused when it is a link or a file', async () => {
    await mkdir(join(root, 'real'));
    await symlink(join(root, 'real'), join(root, 'link'));
    await writeFile(join(root, 'file'), '');
    await expect(prepare(join(root, 'link'))).rejects.toMatchObject({ code: 'runtime_dir_unusable' });
    await expect(prepare(join(root, 'file'))).rejects.toMatchObject({ code: 'runtime_dir_unusable' });
  });

  it.skipIf(process.getuid?.() !== 0)(
    'is refused when it belongs to another user (needs root to make one)',
    async () => {
      const dir = join(root, 'run');
      await mkdir(dir, { mode: 0o700 });
      await chown(dir, 12_345, 12_345);
      await expect(prepare(dir)).rejects.toMatchObject({ code: 'runtime_dir_unusable' });
    },
  );
});

describe('the socket', () => {
  it('is for its owner alone', async () => {
    const { address } = await prepare(join(root, 'run'));
    const server = createServer();
    await listen(server, address);
    expect((await stat(address)).mode & 0o777).toBe(0o600);
    server.close();
  });

  it('of a dead daemon is removed, that of a living one refused', async () => {
    const dir = join(root, 'run');
    const { address } = await prepare(dir);
    await writeFile(address, '');
    expect(await prepare(dir)).toEqual({ address });
    const server = createServer();
    await listen(server, address);
    await expect(prepare(dir)).rejects.toMatchObject({ code: 'daemon_running' });
    server.close();
  });

  it('is refused with a path that the system would cut', async () => {
    await expect(prepare(join(root, 'x'.repeat(100)))).rejects.toMatchObject({
      code: 'socket_path_too_long',
      hint: expect.stringContaining('WA_RUNTIME_DIR'),
    });
  });
});

it('on Windows the socket is a pipe whose name nobody can guess, and which only its owner reads', async () => {
  const dir = join(root, 'run');
  const { address } = await prepareSocket(dir, 'win32');
  expect(address).toMatch(/^\\\\\.\\pipe\\wa-sync-[0-9a-f]{32}$/);
  expect(JSON.parse(await readFile(join(dir, 'pipe.json'), 'utf8'))).toEqual({ address });
  expect((await stat(join(dir, 'pipe.json'))).mode & 0o077).toBe(0);
  expect((await prepareSocket(dir, 'win32')).address).not.toBe(address);
});
