// Stands in for node:fs/promises in the bundle of the fallback (scripts/build.ts): the same promises, made by synchronous
// calls. In a process of one task each trip through the thread pool only costs its time, and a hand-over makes sixty.

// By name: the bundle would copy the whole module for `import *`.
import {
  appendFileSync,
  chmodSync,
  closeSync,
  copyFileSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  opendirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';

function promised<A extends unknown[], R>(call: (...args: A) => R): (...args: A) => Promise<R> {
  return async (...args) => call(...args);
}

export const appendFile = promised(appendFileSync);
export const chmod = promised(chmodSync);
export const copyFile = promised(copyFileSync);
export const link = promised(linkSync);
export const lstat = promised(lstatSync);
export const mkdir = promised(mkdirSync);
/** The part of a Dir that agent/fs and agent/mailbox use. */
export const opendir = promised((path: string) => {
  const folder = opendirSync(path);
  return { read: promised(() => folder.readSync()), close: promised(() => folder.closeSync()) };
});
export const readdir = promised(readdirSync);
export const readFile = promised(readFileSync);
/** As in node:fs/promises, the system's own. */
export const realpath = promised(realpathSync.native);
export const rename = promised(renameSync);
/** For a file, which is all that a hook removes: that of node:fs also loads what removes folders. */
export const rm = promised((path: string, options?: { force?: boolean }) => {
  try {
    unlinkSync(path);
  } catch (cause) {
    if (!options?.force || (cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
  }
});
export const stat = promised(statSync);
export const unlink = promised(unlinkSync);
export const writeFile = promised(writeFileSync);

/** The part of a FileHandle that agent/fs and agent/mailbox use. */
export async function open(path: string, flags?: string | number, mode?: number) {
  const fd = openSync(path, flags ?? 'r', mode);
  return {
    fd,
    chmod: promised((value: number) => fchmodSync(fd, value)),
    close: promised(() => closeSync(fd)),
    read: promised((buffer: Buffer, offset: number, length: number, position: number | null) => ({
      bytesRead: readSync(fd, buffer, offset, length, position),
      buffer,
    })),
    readFile: promised((options?: BufferEncoding) => readFileSync(fd, options)),
    stat: promised(() => fstatSync(fd)),
    sync: promised(() => fsyncSync(fd)),
    writeFile: promised((content: string | Uint8Array) => writeFileSync(fd, content)),
  };
}
