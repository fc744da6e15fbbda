// Temporary accounts, as Cloudflare gives them: a challenge is good once, for whoever asked, and its chain is computed again here.

import { createHash, randomBytes } from 'node:crypto';
import { Refusal } from './upload.ts';

export interface Previews {
  challenge(): { challengeToken: string; seed: string; k: number; g: number };
  /** Throws a `Refusal` unless terms, challenge and every checkpoint are right. */
  check(body: unknown): void;
}

const terms = {
  termsOfService: 'https://www.cloudflare.com/terms/',
  privacyPolicy: 'https://www.cloudflare.com/privacypolicy/',
  acceptTermsOfService: 'yes',
};

export function createPreviews(k: number, g: number): Previews {
  const open = new Map<string, string>();
  return {
    challenge() {
      const challengeToken = randomBytes(24).toString('base64url');
      const seed = randomBytes(32).toString('base64url');
      open.set(challengeToken, seed);
      return { challengeToken, seed, k, g };
    },
    check(body) {
      const { challengeToken, solution, ...accepted } = body as Record<string, unknown>;
      const expected = Object.entries(terms);
      const isAccepted = expected.every(([name, value]) => accepted[name] === value);
      if (!isAccepted || Object.keys(accepted).length !== expected.length) {
        throw new Refusal(400, 12001, 'The terms of service must be accepted.');
      }
      const seed = open.get(String(challengeToken));
      open.delete(String(challengeToken));
      if (seed === undefined) throw new Refusal(400, 12002, 'The challenge is unknown, expired or used.');
      if ((solution as { checkpoints?: unknown } | undefined)?.checkpoints !== checkpointsOf(seed, k, g)) {
        throw new Refusal(400, 12003, 'The solution of the challenge is wrong.');
      }
    },
  };
}

function checkpointsOf(seed: string, k: number, g: number): string {
  const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();
  const chain: Buffer[] = [sha256(Buffer.from(seed, 'base64url'))];
  for (let j = 0; j < k; j += 1) {
    let link = chain[j] as Buffer;
    for (let i = 0; i < g; i += 1) link = sha256(link);
    chain.push(link);
  }
  return Buffer.concat(chain).toString('base64');
}
