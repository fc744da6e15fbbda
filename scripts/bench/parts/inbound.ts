// From Telegram's POST to the line that every program can read in the inbox file, the daemon parked in its long poll.

import { setTimeout as delay } from 'node:timers/promises';
import { onChange, readEntries, takeUnread } from '../inbox-file.ts';
import type { Part } from '../result.ts';
import { withStage } from '../stage.ts';
import { spread } from '../stats.ts';

const samples = 60;
/** Longer than the daemon gathers receipts, so that each message meets a parked poll, as messages from a phone do. */
const quietMs = 350;

export const inbound: Part = {
  name: 'inbound',
  run: (lab) =>
    withStage(lab, async (stage) => {
      await stage.startDaemon();
      const taken: number[] = [];
      for (let index = 0; index < samples; index += 1) {
        await delay(quietMs);
        const text = `Message ${index}: run the tests of the parser again, please.`;
        const startedAt = performance.now();
        const posted = stage.post(text);
        const visibleAt = await onChange(stage.inboxFile, 10_000, () =>
          readEntries(stage.inboxFile).some((entry) => entry.text === text) ? performance.now() : undefined,
        );
        await posted;
        taken.push(visibleAt - startedAt);
        takeUnread(stage.inboxFile);
      }
      return { inbound: spread(taken) };
    }),
};
