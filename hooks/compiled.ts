// What is shipped as the fallback: runs the bundle of fallback.ts from the code that V8 compiled in an earlier run, kept beside this file.
// Compiling costs a hook more than its own work, and not every Node that is promised keeps compiled code by itself.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { Script } from 'node:vm';

/** The bundle and a digest of it, put in by scripts/build.ts. */
declare const __FALLBACK__: string;
declare const __FALLBACK_DIGEST__: string;

const folder = `${__dirname}/compiled`;
// V8 compares no more of the source than its length.
const path = `${folder}/${__FALLBACK_DIGEST__}-${process.version}-${process.arch}`;
const script = new Script(`(function(require,__dirname,keepCompiled){${__FALLBACK__}\n})`, {
  filename: __filename,
  cachedData: readCompiled(),
});

/** The file holds the code twice: V8 crashes on code that was damaged. */
function readCompiled(): Buffer | undefined {
  try {
    const twice = readFileSync(path);
    const code = twice.subarray(0, twice.length / 2);
    return code.equals(twice.subarray(twice.length / 2)) ? code : undefined;
  } catch {
    return undefined;
  }
}

function keepCompiled(): void {
  if (script.cachedDataRejected === false) return;
  try {
    const code = script.createCachedData();
    const temporary = `${path}.${process.pid}`;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(temporary, Buffer.concat([code, code]), { flag: 'wx', mode: 0o600 });
    renameSync(temporary, path);
  } catch {
    // The next hook compiles again.
  }
}

script.runInThisContext()(require, __dirname, keepCompiled);
