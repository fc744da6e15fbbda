// From the outbox file, written by rename as a script does, to the Bot API call. Spaced, because the relay keeps to Telegram's
// one message a second for a chat.

import { renameSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { isoSeconds, type OutboxEntry } from '../../../protocol/files.ts';
import type { Part } from '../result.ts';
import { withStage } from '../stage.ts';
import { spread } from '../stats.ts';

const samples = 25;
const spacingMs = 1_100;

export const outbound: Part = {
  name: 'outbound',
  run: (lab) =>
    withStage(lab, async (stage) => {
      await stage.startDaemon();
      // The daemon's two-second look at the folder must have set its watch.
      await delay(2_500);
      const taken: number[] = [];
      for (let index = 0; index < samples; index += 1) {
        const text = `Status ${index}: 12 of 12 tests pass.`;
        const timestamp = isoSeconds(Date.now());
        const entry: OutboxEntry = { id: `resp_${index}`, timestamp, from: 'agent', text, sent: false };
        const startedAt = performance.now();
        writeFileSync(`${stage.outboxFile}.tmp`, JSON.stringify({ messages: [entry] }, null, 2), { mode: 0o600 });
        renameSync(`${stage.outboxFile}.tmp`, stage.outboxFile);
        await stage.sim.waitForCall((call) => call.method === 'sendMessage' && call.params.text === text);
        taken.push(performance.now() - startedAt);
        await delay(spacingMs);
      }
      return { outbound: spread(taken) };
    }),
};
