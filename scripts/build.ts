// Bundles what is shipped into dist/: command line, hook launcher and fallback, Worker, child process of the embedded relay.

import { chmod, copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import packageJson from '../package.json' with { type: 'json' };

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = `${root}dist`;

const common = {
  absWorkingDir: root,
  bundle: true,
  logLevel: 'warning',
  metafile: true,
  define: { __VERSION__: JSON.stringify(packageJson.version) },
  loader: { '.html': 'text', '.css': 'text', '.client.js': 'text' },
} as const;

await mkdir(dist, { recursive: true });

const [program, fallback] = await Promise.all([
  build({
    ...common,
    entryPoints: {
      'wa-sync': './agent/cli.ts',
      'relay-process': './agent/dev/relay-process.ts',
      'heavy-work': './agent/heavy/work.ts',
    },
    outdir: 'dist',
    format: 'esm',
    platform: 'node',
    target: 'node20.18',
    packages: 'external',
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    banner: { js: '#!/usr/bin/env node' },
  }),
  // CommonJS and one file: the fastest form for Node to start.
  build({
    ...common,
    entryPoints: { 'wa-hook-fallback': './hooks/fallback.ts' },
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
    // Only this bundle: the daemon must never block on a disk.
    alias: { 'node:fs/promises': './hooks/fs-promises.ts' },
    format: 'cjs',
    platform: 'node',
    target: 'node20.18',
    minify: true,
  }),
  build({
    ...common,
    entryPoints: { worker: './worker/index.ts' },
    outdir: 'dist',
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:*'],
    target: 'es2023',
  }),
]);

// Only afterwards, so that a program which runs from dist/ never finds it empty.
for (const name of await readdir(`${dist}/chunks`)) {
  if (!Object.hasOwn(program.metafile.outputs, `dist/chunks/${name}`)) await rm(`${dist}/chunks/${name}`);
}

for (const name of ['wa-hook', 'client.pl']) await copyFile(`${root}hooks/${name}`, `${dist}/${name}`);
await chmod(`${dist}/wa-hook`, 0o755);
await chmod(`${dist}/wa-sync.js`, 0o755);
// bundle.test reads this to hold the fallback to its allowed inputs.
await writeFile(`${dist}/wa-hook-fallback.meta.json`, JSON.stringify(fallback.metafile));
