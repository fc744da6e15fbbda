// Stands in for node:fs/promises in the bundle of the fallback (scripts/build.ts): the same promises, made by synchronous
// calls. In a process of one task each trip through the thread pool only costs its time, and a hand-over makes sixty.

import * as fs from 'node:fs';

function promised<A extends unknown[], R>(call: (...args: A) => R): (...args: A) => Promise<R> {
  return async (...args) => call(...args);
}

export const appendFile = promised(fs.appendFileSync);
export const chmod = promised(fs.chmodSync);
export const copyFile = promised(fs.copyFileSync);
export const link = promised(fs.linkSync);
export const lstat = promised(fs.lstatSync);
export const mkdir = promised(fs.mkdirSync);
export const readdir = promised(fs.readdirSync);
export const readFile = promised(fs.readFileSync);
export const realpath = promised(fs.realpathSync);
export const rename = promised(fs.renameSync);
export const rm = promised(fs.rmSync);
export const stat = promised(fs.statSync);
export const unlink = promised(fs.unlinkSync);
export const writeFile = promised(fs.writeFileSync);

/** The part of a FileHandle that agent/files uses. */
export async function open(path: string, flags?: string | number, mode?: number) {
  const fd = fs.openSync(path, flags ?? 'r', mode);
  return {
    fd,
    chmod: promised((value: number) => fs.fchmodSync(fd, value)),
    close: promised(() => fs.closeSync(fd)),
    read: promised((buffer: Buffer, offset: number, length: number, position: number | null) => ({
      bytesRead: fs.readSync(fd, buffer, offset, length, position),
      buffer,
    })),
    readFile: promised((options?: BufferEncoding) => fs.readFileSync(fd, options)),
    stat: promised(() => fs.fstatSync(fd)),
    sync: promised(() => fs.fsyncSync(fd)),
    writeFile: promised((content: string | Uint8Array) => fs.writeFileSync(fd, content)),
  };
}
