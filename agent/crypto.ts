// Randomness and digests for what the hook fallback bundles. node:crypto costs a third of the start of Node, so it is
// loaded only when a digest is needed; random bytes come from the system directly.

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

export function sha256Hex(content: string | Uint8Array): string {
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(content).digest('hex');
}
