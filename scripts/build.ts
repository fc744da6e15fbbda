// Bundles what is shipped into dist/: command line, hook launcher and fallback, Worker, child process of the embedded relay.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, type Metafile, type Plugin } from 'esbuild';
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

/** The coding agents, by the folders of their drivers. */
const agents = (await readdir(`${root}agent/drivers`, { withFileTypes: true }))
  .filter((entry) => entry.isDirectory() && existsSync(`${root}agent/drivers/${entry.name}/driver.ts`))
  .map(({ name }) => name);

/** A hook serves one coding agent: the others stay in the registry as names without events. */
const without = (others: readonly string[]): Plugin => ({
  name: 'without-other-agents',
  setup(bundle) {
    bundle.onLoad({ filter: /drivers[\\/]\w+[\\/]driver\.ts$/ }, ({ path }) => {
      const other = others.find((name) => path.replaceAll('\\', '/').endsWith(`/${name}/driver.ts`));
      return other === undefined
        ? undefined
        : { contents: `export const ${other} = { name: '${other}', events: {} };` };
    });
  },
});

// CommonJS and one file: the fastest form for Node to start.
const forHooks = { format: 'cjs', platform: 'node', target: 'node20.18', minify: true, write: false } as const;

/** Names of files and their texts. */
async function hookBundle(agent: string): Promise<{ name: string; text: string; metafile: Metafile }> {
  const name = `wa-hook-${agent}`;
  const { outputFiles, metafile } = await build({
    ...common,
    ...forHooks,
    entryPoints: { [name]: './hooks/fallback.ts' },
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
    // Only here: the daemon must never block on a disk.
    alias: { 'node:fs/promises': './hooks/fs-promises.ts' },
    plugins: [without(agents.filter((other) => other !== agent))],
  });
  const text = outputFiles[0]?.text ?? '';
  // compiled.ts keeps the compiled code by this digest.
  return { name, text: `//${createHash('sha256').update(text).digest('hex').slice(0, 16)}\n${text}`, metafile };
}

const [program, worker, starter, hooks] = await Promise.all([
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
  build({
    ...common,
    ...forHooks,
    entryPoints: { 'wa-hook-fallback': './hooks/compiled.ts' },
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
  }),
  Promise.all(agents.map(hookBundle)),
]);

for (const { name, text } of hooks) await writeFile(`${dist}/${name}.cjs`, text);
for (const { path, text } of starter.outputFiles) await writeFile(path, text);

/** Of the fallback and of all its bundles. */
const ofHooks = [starter.metafile, ...hooks.map(({ metafile }) => metafile)];
const fallback: Metafile = {
  inputs: Object.assign({}, ...ofHooks.map(({ inputs }) => inputs)),
  outputs: Object.assign({}, ...ofHooks.map(({ outputs }) => outputs)),
};

const metafiles = { 'wa-sync': program.metafile, 'wa-hook-fallback': fallback, worker: worker.metafile };
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
