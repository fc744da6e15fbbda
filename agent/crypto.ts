// Randomness and digests for what the hook fallback bundles. node:crypto takes as long to load as a hook may take in all, so
// the digest is made here; random bytes come from the system directly.

import { closeSync, openSync, readSync } from 'node:fs';

/** Unpredictable. */
export function randomHex(bytes: number): string {
  return (readUrandom(bytes) ?? process.getBuiltinModule('node:crypto').randomBytes(bytes)).toString('hex');
}

/** Windows has no such file. */
function readUrandom(bytes: number): Buffer | undefined {
  let device: number;
  try {
    device = openSync('/dev/urandom', 'r');
  } catch {
    return undefined;
  }
  try {
    const buffer = Buffer.alloc(bytes);
    return readSync(device, buffer) === bytes ? buffer : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(device);
  }
}

/** SHA-256 of UTF-8 text. Not that of Node, whose load alone would take half of the time that a hook has. */
export function sha256Hex(text: string): string {
  return sha256(Buffer.from(text, 'utf8')).toString('hex');
}

/** HMAC-SHA-256 of texts; `key` is at most one block long. `digest` = another SHA-256. */
export function hmacWith(key: string, digest: (bytes: Buffer) => Buffer = sha256): (text: string) => string {
  const [inner, outer] = [keyBlock(key, 0x36), keyBlock(key, 0x5c)];
  return (text) =>
    digest(Buffer.concat([outer, digest(Buffer.concat([inner, Buffer.from(text, 'utf8')]))])).toString('hex');
}

/** The key, filled up to a block, with `byte` on each of its bytes. */
function keyBlock(key: string, byte: number): Buffer {
  const block = Buffer.alloc(blockBytes);
  block.write(key, 'utf8');
  for (let at = 0; at < blockBytes; at += 1) block[at] = (block[at] as number) ^ byte;
  return block;
}

const blockBytes = 64;

let constants: { start: Uint32Array; rounds: Uint32Array } | undefined;

/** The first bits of the fractions of the square and the cube roots of the first primes, as FIPS 180-4 has them. */
function makeConstants(): { start: Uint32Array; rounds: Uint32Array } {
  const primes: number[] = [];
  for (let number = 2; primes.length < 64; number += 1) {
    let divisor = 2;
    while (divisor * divisor <= number && number % divisor !== 0) divisor += 1;
    if (divisor * divisor > number) primes.push(number);
  }
  const fraction = (root: number) => (root - Math.floor(root)) * 2 ** 32;
  return {
    start: Uint32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))),
    rounds: Uint32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
  };
}

function sha256(message: Uint8Array): Buffer {
  constants ??= makeConstants();
  const { start, rounds } = constants;
  const state = start.slice();
  const padded = Buffer.alloc(Math.ceil((message.length + 9) / blockBytes) * blockBytes);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer, padded.byteOffset);
  view.setBigUint64(padded.length - 8, 8n * BigInt(message.length));
  const words = new Uint32Array(64);
  for (let block = 0; block < padded.length; block += blockBytes) {
    for (let at = 0; at < 16; at += 1) words[at] = view.getUint32(block + 4 * at);
    mix(state, words, rounds);
  }
  const digest = Buffer.alloc(32);
  for (const [index, word] of state.entries()) digest.writeUInt32BE(word, 4 * index);
  return digest;
}

/** One block: `words` holds its sixteen words and is filled up here. Plain variables, because it mostly runs before it is compiled. */
function mix(state: Uint32Array, words: Uint32Array, rounds: Uint32Array): void {
  for (let at = 16; at < 64; at += 1) {
    const early = words[at - 15] as number;
    const late = words[at - 2] as number;
    const small = ((early >>> 7) | (early << 25)) ^ ((early >>> 18) | (early << 14)) ^ (early >>> 3);
    const large = ((late >>> 17) | (late << 15)) ^ ((late >>> 19) | (late << 13)) ^ (late >>> 10);
    words[at] = (words[at - 16] as number) + small + (words[at - 7] as number) + large;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let at = 0; at < 64; at += 1) {
    const sumE = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const sumA = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const first = (h + sumE + ((e & f) ^ (~e & g)) + (rounds[at] as number) + (words[at] as number)) | 0;
    const second = (sumA + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  for (const [index, value] of [a, b, c, d, e, f, g, h].entries()) state[index] = (state[index] as number) + value;
}
