// What closes the gates while no daemon runs: a deny per gate for the launcher, and each project's mode for the fallback and for
// a daemon whose state was deleted. A gate that is closed here stays closed until the phone opens it; no crash may open one.

import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { gateFileName, hookJson, wayOut } from '../../protocol/hook.ts';
import { allDrivers } from '../drivers/registry.ts';
import { fileUnusable, replaceFile, writeAtomic } from '../fs/atomic.ts';
import { type ApprovalMode, approvalModes } from '../journal/approvals.ts';
import { configFiles, starterOf } from '../paths.ts';

export type Gates = ReturnType<typeof createGates>;

function closedTextFor(config: string): string {
  return `Approvals are on and the daemon of wa-sync does not answer, so nobody could approve this. See \`wa-sync status\`, start it with \`${starterOf(config)}\`. ${wayOut}`;
}

export function createGates(dirs: { runtime: string; config: string }) {
  const closedText = closedTextFor(dirs.config);
  const modes = new Map<string, ApprovalMode>();
  const closed = () => [...modes.values()].some((mode) => mode !== 'off');
  let last: Promise<void> = Promise.resolve();

  async function sync(): Promise<void> {
    const dir = join(dirs.runtime, 'gate');
    try {
      if (closed()) await mkdir(dir, { recursive: true, mode: 0o700 });
      for (const { name, events, writeAnswer } of allDrivers()) {
        for (const event of Object.keys(events).filter((each) => events[each] === 'gate')) {
          const path = join(dir, gateFileName(name, event));
          if (closed()) await replaceFile(path, `${hookJson(writeAnswer(event, { deny: closedText }))}\n`);
          else await rm(path, { force: true });
        }
      }
    } catch (cause) {
      throw cause instanceof WaError ? cause : fileUnusable(dir, cause);
    }
  }

  const pathOf = (key: string) => configFiles(dirs.config).approvals(key);

  /** Durable: an old mode that a power cut brings back could be an open one. */
  async function keep(key: string, mode: ApprovalMode): Promise<void> {
    const path = pathOf(key);
    const text = `${JSON.stringify({ mode })}\n`;
    if ((await readFile(path, 'utf8').catch(() => '')) === text) return;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(() => {});
    await writeAtomic(path, text);
  }

  /** One after the other: of two writes of a file at once the older could be the last. */
  function inOrder(work: () => Promise<void>): Promise<void> {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  }

  return {
    /** The reason of a deny while nobody can be asked. */
    closedText,
    /** Some project has approvals on. */
    closed,
    /** The mode that a project had, or is about to have; `all` when that cannot be read, `off` when it was never set. */
    async kept(key: string): Promise<ApprovalMode> {
      try {
        const { mode } = JSON.parse(await readFile(pathOf(key), 'utf8')) as { mode?: unknown };
        return approvalModes.find((each) => each === mode) ?? 'all';
      } catch (cause) {
        return (cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'off' : 'all';
      }
    },
    /** What the journal knows of every project, at once. Errors: `file_unusable`. */
    start: (known: readonly [projectKey: string, mode: ApprovalMode][]) =>
      inOrder(async () => {
        // What the phone has set meanwhile is newer.
        for (const [key, mode] of known) if (!modes.has(key)) modes.set(key, mode);
        await Promise.all(
          known.map(async ([key, first]) => {
            const mode = modes.get(key) ?? first;
            await keep(key, mode).catch((cause) => {
              // An open gate must not keep the daemon from starting.
              if (mode !== 'off') throw cause;
            });
          }),
        );
        await sync();
      }),
    /** Resolves when the files say so. Errors: `file_unusable`. */
    set: (key: string, mode: ApprovalMode) =>
      inOrder(async () => {
        modes.set(key, mode);
        await keep(key, mode);
        await sync();
      }),
  };
}
