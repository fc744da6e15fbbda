// A tiny Worker with a Durable Object in a real workerd, started, stopped and abandoned.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type EmbeddedRelay,
  type EmbeddedRelayOptions,
  startEmbeddedRelay,
} from '../../../agent/dev/embedded-relay.ts';

const tinyWorker = `
import { DurableObject } from 'cloudflare:workers';
export class Mailbox extends DurableObject {
  count() {
    this.ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS seen (at)');
    this.ctx.storage.sql.exec('INSERT INTO seen VALUES (1)');
    return this.ctx.storage.sql.exec('SELECT count(*) AS n FROM seen').one().n;
  }
}
export default {
  async fetch(request, env) {
    console.log('asked');
    const mailbox = env.MAILBOX.get(env.MAILBOX.idFromName('v1'));
    return Response.json({ greeting: env.GREETING, count: await mailbox.count() });
  },
};`;

let dir: string;
let options: EmbeddedRelayOptions;
const relays: EmbeddedRelay[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'wa-relay-'));
  const workerScript = join(dir, 'worker.js');
  await writeFile(workerScript, tinyWorker);
  const unexpected = (line: string) => {
    throw new Error(`nothing should be downloaded here: ${line}`);
  };
  const persistDir = join(dir, 'state');
  options = { workerScript, persistDir, vars: { GREETING: 'hello' }, cacheDir: join(dir, 'cache'), say: unexpected };
});
afterEach(async () => {
  for (const relay of relays.splice(0)) await relay.stop();
  await rm(dir, { recursive: true, force: true });
});

async function start(more: Partial<EmbeddedRelayOptions> = {}): Promise<EmbeddedRelay> {
  const relay = await startEmbeddedRelay({ ...options, ...more });
  relays.push(relay);
  return relay;
}

const ask = async (relay: EmbeddedRelay) => (await fetch(relay.url)).json();

/** Processes whose command line names the directory of this test, or whose group is `pid`. */
async function groupMembers(pid: number): Promise<string[]> {
  const members: string[] = [];
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '');
    // After the name in parentheses: state, parent, group.
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(group) === pid && state !== 'Z') members.push(stat);
  }
  return members;
}

async function untilGone(pid: number): Promise<void> {
  const deadline = Date.now() + 15_000;
  for (let members = await groupMembers(pid); members.length > 0; members = await groupMembers(pid)) {
    if (Date.now() > deadline) throw new Error(`still running: ${members.join('; ')}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('the embedded relay', () => {
  it('runs the Worker with its settings, passes on its output, and keeps its storage over a restart', async () => {
    const lines: string[] = [];
    const first = await start({ onLine: (line) => lines.push(line), disposeWithinMs: 60_000 });
    expect(first.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await ask(first)).toEqual({ greeting: 'hello', count: 1 });
    expect(await ask(first)).toEqual({ greeting: 'hello', count: 2 });
    await first.stop();
    expect(await first.exited).toBe(0);
    expect(lines).toContain('asked');
    expect(await ask(await start())).toEqual({ greeting: 'hello', count: 3 });
  });

  it('names a missing Worker, a port in use and a Worker that does not load', async () => {
    await expect(start({ workerScript: join(dir, 'none.js') })).rejects.toMatchObject({ code: 'file_unusable' });
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const { port } = blocker.address() as { port: number };
    await expect(start({ port })).rejects.toMatchObject({ code: 'port_in_use' });
    blocker.close();
    await writeFile(options.workerScript, 'export default {');
    await expect(start()).rejects.toMatchObject({ code: 'child_failed' });
  });

  describe.runIf(existsSync('/proc/self/stat'))('leaves no workerd behind', () => {
    it('when its process is killed', async () => {
      const relay = await start();
      expect((await groupMembers(relay.pid)).length).toBeGreaterThan(1);
      process.kill(relay.pid, 'SIGKILL');
      expect(await relay.exited).toBe(137);
      await untilGone(relay.pid);
    });

    it('when the parent is killed', async () => {
      const parent = join(dir, 'parent.mjs');
      const module = fileURLToPath(new URL('../../../agent/dev/embedded-relay.ts', import.meta.url));
      await writeFile(
        parent,
        `import { startEmbeddedRelay } from ${JSON.stringify(module)};
         const relay = await startEmbeddedRelay({ ...${JSON.stringify(options)}, say() {} });
         process.send(relay.pid);`,
      );
      const child = fork(parent, [], { execArgv: [] });
      const [pid] = (await once(child, 'message')) as [number];
      expect((await groupMembers(pid)).length).toBeGreaterThan(1);
      child.kill('SIGKILL');
      await untilGone(pid);
    });
  });
});
