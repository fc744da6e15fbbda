// How many webhooks a second are committed, through Miniflare's HTTP server and workerd, into one mailbox.

import { relayLimits } from '../../../protocol/limits.ts';
import type { Part } from '../result.ts';
import { withStage } from '../stage.ts';
import { round } from '../stats.ts';

const forMs = 5_000;
const warmUp = 200;

export const accept: Part = {
  name: 'accept',
  run: (lab) =>
    withStage(lab, async (stage) => {
      await stage.flood(warmUp);
      const { accepted, tookMs } = await stage.flood(relayLimits.mailboxMessages - warmUp, forMs);
      return { accept: { perSecond: round(accepted / (tookMs / 1000)) } };
    }),
};
