// Builds dist/ once before a test run, and only when a source is newer: the tests start what is shipped, never the sources.

import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const sources = ['agent', 'hooks', 'protocol', 'worker', 'scripts/build.ts', 'scripts/licences.ts', 'package.json'];
/** What the build writes last. */
const product = 'dist/worker.meta.json';

export default function setup(): void {
  const builtAt = statSync(join(root, product), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (newest() < builtAt) return;
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build.ts'], { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`scripts/build.ts failed with code ${status}\n${stderr}`);
}

function newest(): number {
  const files = sources.flatMap((source) => {
    const path = join(root, source);
    if (statSync(path).isFile()) return [path];
    return readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => join(path, name));
  });
  return Math.max(...files.map((file) => statSync(file).mtimeMs));
}
