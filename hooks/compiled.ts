// What is shipped as the fallback: runs the bundle of fallback.ts for the coding agent at hand, which lies beside this file with no other
// agent's payloads in it, from the code that V8 compiled in an earlier run, kept there too. Compiling costs a hook more than its own work,
// and not every Node that is promised keeps compiled code by itself.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { Script } from 'node:vm';

const folder = `${__dirname}/compiled`;

/** The file holds the code twice: V8 crashes on code that was damaged. */
function readCompiled(path: string): Buffer | undefined {
  try {
    const twice = readFileSync(path);
    const code = twice.subarray(0, twice.length / 2);
    return code.equals(twice.subarray(twice.length / 2)) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined = not a coding agent of this installation. */
function readBundle(filename: string): string | undefined {
  try {
    return readFileSync(filename, 'latin1');
  } catch {
    return undefined;
  }
}

function runBundle(bundle: string, filename: string): void {
  // The bundle begins with its digest in a comment: V8 compares no more of the source than its length.
  const path = `${folder}/${bundle.slice(2, 18)}-${process.version}-${process.arch}`;
  const script = new Script(`(function(require,__dirname,keepCompiled){${bundle}\n})`, {
    filename,
    cachedData: readCompiled(path),
  });
  function keepCompiled(): void {
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
  // At each `require` Node prepares its module anew, and the bundle has many.
  const known: Record<string, unknown> = {};
  const requireOnce = (id: string) => (known[id] ??= require(id));
  script.runInThisContext()(requireOnce, __dirname, script.cachedDataRejected === false ? undefined : keepCompiled);
}

const tool = process.argv[2] ?? '';
const file = `${__dirname}/wa-hook-${tool}.cjs`;
const bundle = /^[a-z]+$/.test(tool) ? readBundle(file) : undefined;
// The launcher then prints the gate's line, if there is one.
if (bundle === undefined) writeFileSync(1, '{}\n');
else runBundle(bundle, file);
