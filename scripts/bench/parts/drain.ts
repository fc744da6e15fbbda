// The file alone: the journal holds everything, a scripted reader marks read, the daemon shows what comes next.

import { drain as drainInbox } from '../inbox-file.ts';
import type { Part } from '../result.ts';
import { until, withStage } from '../stage.ts';
import { round } from '../stats.ts';

const messages = 3_000;

export const drain: Part = {
  name: 'drain',
  run: (lab) =>
    withStage(lab, async (stage) => {
      const daemon = await stage.startDaemon();
      await stage.flood(messages);
      await until('the journal has them all', async () => (await daemon.waiting()) === messages);
      const startedAt = performance.now();
      const { lastAt } = await drainInbox(stage.inboxFile, messages, 60_000);
      return { drain: { perSecond: round(messages / ((lastAt - startedAt) / 1000)) } };
    }),
};
