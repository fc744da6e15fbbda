// Bundles what is shipped into dist/: command line, hook launcher and fallback, Worker, child process of the embedded relay.

import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import packageJson from '../package.json' with { type: 'json' };
import { bundledFolders, readPackage, thirdPartyLicences } from './licences.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = `${root}dist`;

const common = {
  absWorkingDir: root,
  bundle: true,
  logLevel: 'warning',
  // THIRD_PARTY_LICENSES has them all.
  legalComments: 'none',
  // Less to read at each start. Names stay, for the stack of a bug.
  minifyWhitespace: true,
  minifySyntax: true,
  metafile: true,
  define: { __VERSION__: JSON.stringify(packageJson.version) },
  loader: { '.html': 'text', '.css': 'text', '.client.js': 'text' },
} as const;

await mkdir(dist, { recursive: true });

// Packages in CommonJS call `require` for the modules of Node, which an ES module does not have.
const requireForPackages =
  "import { createRequire as createRequireOfBundle } from 'node:module';\nconst require = createRequireOfBundle(import.meta.url);";

const [program, fallback, worker] = await Promise.all([
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
    // The other form of jsonc-parser hides what it requires from the bundler.
    mainFields: ['module', 'main'],
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    banner: { js: `#!/usr/bin/env node\n${requireForPackages}` },
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
    write: false,
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

const bundle = fallback.outputFiles[0]?.text ?? '';
const digest = createHash('sha256').update(bundle).digest('hex').slice(0, 16);
await build({
  ...common,
  entryPoints: { 'wa-hook-fallback': './hooks/compiled.ts' },
  outdir: 'dist',
  outExtension: { '.js': '.cjs' },
  define: { __FALLBACK__: JSON.stringify(bundle), __FALLBACK_DIGEST__: JSON.stringify(digest) },
  format: 'cjs',
  platform: 'node',
  target: 'node20.18',
});

const metafiles = { 'wa-sync': program.metafile, 'wa-hook-fallback': fallback.metafile, worker: worker.metafile };
const packages = bundledFolders(Object.values(metafiles)).map((folder) => readPackage(`${root}${folder}`));
await writeFile(`${dist}/THIRD_PARTY_LICENSES`, thirdPartyLicences(packages));

// Only afterwards, so that a program which runs from dist/ never finds it empty.
for (const name of await readdir(`${dist}/chunks`)) {
  if (!Object.hasOwn(program.metafile.outputs, `dist/chunks/${name}`)) await rm(`${dist}/chunks/${name}`);
}

for (const name of ['wa-hook', 'client.pl']) await copyFile(`${root}hooks/${name}`, `${dist}/${name}`);
await chmod(`${dist}/wa-hook`, 0o755);
await chmod(`${dist}/wa-sync.js`, 0o755);
// The tests read these, to hold each bundle to what it may contain. global-setup looks at the last one.
for (const [name, metafile] of Object.entries(metafiles)) {
  await writeFile(`${dist}/${name}.meta.json`, JSON.stringify(metafile));
}
