// The child process of the embedded relay: runs the built Worker in Miniflare until its parent stops it or ends.
// Started by embedded-relay.ts with a Node that Miniflare supports; imports no other file of wa-sync at run time.

import { pathToFileURL } from 'node:url';
import type { RelayReport, RelayStart } from './embedded-relay.ts';

process.once('message', (start: RelayStart) => {
  run(start).catch((error: unknown) => {
    const failed = error instanceof Error ? error.message : String(error);
    process.send?.({ failed } satisfies RelayReport, () => process.exit(1));
  });
});

async function run(start: RelayStart): Promise<void> {
  let relay: { dispose(): Promise<void> } | undefined;
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    setTimeout(killGroup, start.disposeWithinMs).unref();
    await relay?.dispose().catch(() => {});
    process.exit(0);
  };
  // The channel closes when the parent stops this process, and when the parent ends for any reason.
  process.once('disconnect', stop);
  process.on('SIGTERM', stop);
  // The parent handles Ctrl-C.
  process.on('SIGINT', () => {});
  const loaded = await import(pathToFileURL(start.miniflare).href);
  const { Miniflare, Log, LogLevel } = (loaded.default ?? loaded) as typeof import('miniflare');
  const { binding, className } = start.durableObject;
  const name = 'wa-sync';
  const entry = 'worker.js';
  const miniflare = new Miniflare({
    host: '127.0.0.1',
    port: start.port,
    // Otherwise Miniflare asks Cloudflare for its location.
    cf: false,
    log: new Log(LogLevel.ERROR),
    logRequests: false,
    resourcePersistencePath: start.persistDir,
    telemetry: { enabled: false },
    enableDevRegistry: false,
    workers: [
      {
        config: {
          name,
          compatibilityDate: start.compatibilityDate,
          compatibilityFlags: start.compatibilityFlags,
          manifest: { mainModule: entry, modules: { [entry]: { type: 'esm', contents: start.script } } },
          env: {
            ...Object.fromEntries(Object.entries(start.vars).map(([key, value]) => [key, { type: 'text', value }])),
            [binding]: { type: 'durable-object', worker: name, exportName: className },
          },
          exports: { [className]: { type: 'durable-object', storage: 'sqlite' } },
        },
      },
    ],
  });
  relay = miniflare;
  const url = await miniflare.ready;
  process.send?.({ url: url.origin } satisfies RelayReport);
}

/** The last resort against a workerd that does not end: this process leads its own group. */
function killGroup(): void {
  if (process.platform === 'win32') process.exit(1);
  process.kill(-process.pid, 'SIGKILL');
}
