// The proof of work for a temporary account: a chain of SHA-256 from the seed, with a checkpoint every `g` links. Sliced, so that the
// progress can be drawn and a key is heard.

import { createHash } from 'node:crypto';
import { setImmediate as yieldToEvents } from 'node:timers/promises';

export interface Challenge {
  challengeToken: string;
  /** 32 bytes in base64url. */
  seed: string;
  /** How many checkpoints follow that of the seed. */
  k: number;
  /** Links between two checkpoints. */
  g: number;
}

const maxIterations = 64e6;
/** What is kept and sent: 32 bytes each. */
const maxCheckpoints = 100_000;
const seedBytes = 32;
/** Links between two looks at the events: about ten milliseconds. */
const sliceLinks = 10_000;

/** Undefined = no challenge, or one that asks for more than it should. */
export function readChallenge(value: unknown): Challenge | undefined {
  const { challengeToken, seed, k, g } = (value ?? {}) as Record<string, unknown>;
  if (typeof challengeToken !== 'string' || typeof seed !== 'string') return undefined;
  if (!isCount(k) || !isCount(g) || k > maxCheckpoints || k * g > maxIterations) return undefined;
  if (Buffer.from(seed, 'base64url').length !== seedBytes) return undefined;
  return { challengeToken, seed, k, g };
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0;
}

/** The checkpoints in base64. `onProgress` gets the share that is done, 0 to 1. Rejects when `signal` is aborted. */
export async function solve(
  { seed, k, g }: Challenge,
  onProgress?: (share: number) => void,
  signal?: AbortSignal,
): Promise<string> {
  const next = (bytes: Buffer) => createHash('sha256').update(bytes).digest();
  let link = next(Buffer.from(seed, 'base64url'));
  const checkpoints = [link];
  for (let done = 1; done <= k * g; done += 1) {
    link = next(link);
    if (done % g === 0) checkpoints.push(link);
    if (done % sliceLinks === 0) {
      onProgress?.(done / (k * g));
      await yieldToEvents(undefined, signal ? { signal } : {});
    }
  }
  onProgress?.(1);
  return Buffer.concat(checkpoints).toString('base64');
}
