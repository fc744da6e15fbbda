// What closes the gates while no daemon runs: a deny per gate for the launcher, and each project's mode for the fallback.
// A gate that is closed here stays closed until a daemon opens it; no crash may open one.

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { gateFileName, gatesOf, hookJson, tools } from '../../protocol/hook.ts';
import { hookIoOf } from '../drivers/hook-io.ts';
import { fileUnusable, replaceFile } from '../files/atomic.ts';
import { writeJsonFile } from '../files/json-file.ts';
import type { ApprovalMode } from '../journal/approvals.ts';
import { stateFiles } from '../paths.ts';

export interface Gates {
  /** What the journal knows of every project, at once. Errors: `file_unusable`. */
  start(modes: readonly [projectKey: string, mode: ApprovalMode][]): Promise<void>;
  /** Resolves when the files say so. Errors: `file_unusable`. */
  set(projectKey: string, mode: ApprovalMode): Promise<void>;
  /** Some project has approvals on. */
  closed(): boolean;
}

export const closedText =
  'Approvals are on and the daemon of wa-sync does not answer, so nobody could approve this. Start it with `wa-sync start`.';

export function createGates(dirs: { runtime: string; state: string }): Gates {
  const modes = new Map<string, ApprovalMode>();
  const closed = () => [...modes.values()].some((mode) => mode !== 'off');
  let last: Promise<void> = Promise.resolve();

  async function sync(): Promise<void> {
    const dir = join(dirs.runtime, 'gate');
    await write(dir).catch((cause) => {
      throw cause instanceof WaError ? cause : fileUnusable(dir, cause);
    });
  }

  async function write(dir: string): Promise<void> {
    if (closed()) await mkdir(dir, { recursive: true, mode: 0o700 });
    for (const tool of tools) {
      const io = hookIoOf(tool);
      for (const event of io ? gatesOf(tool) : []) {
        const path = join(dir, gateFileName(tool, event));
        if (io && closed()) await replaceFile(path, `${hookJson(io.writeAnswer(event, { deny: closedText }))}\n`);
        else await rm(path, { force: true });
      }
    }
  }

  const keep = (key: string, mode: ApprovalMode) => writeJsonFile(stateFiles(dirs.state).approvals(key), { mode });

  return {
    closed,
    async start(known) {
      // What the phone has set meanwhile is newer.
      for (const [key, mode] of known) if (!modes.has(key)) modes.set(key, mode);
      await Promise.all(known.map(([key, mode]) => keep(key, modes.get(key) ?? mode)));
      await sync();
    },
    set(projectKey, mode) {
      const work = last.then(async () => {
        modes.set(projectKey, mode);
        await keep(projectKey, mode);
        await sync();
      });
      last = work.catch(() => {});
      return work;
    },
  };
}
