// The laptop wakes up and N messages wait in the relay: from the start of the daemon's process until a scripted reader has
// taken the last one from the file, divided by N. Small ones run several times between the large ones.

import { drain } from '../inbox-file.ts';
import type { Part } from '../result.ts';
import { until, withStage } from '../stage.ts';
import { median, round } from '../stats.ts';

const sequence = [1, 100, 1, 100, 1_000, 1, 100, 10_000];
const withinMs = 180_000;

export const backlog: Part = {
  name: 'backlog',
  run: (lab) =>
    withStage(lab, async (stage) => {
      const perMessage = new Map<number, number[]>();
      const first = new Map<number, number[]>();
      for (const count of sequence) {
        lab.say(`backlog: ${count} waiting`);
        const { accepted } = await stage.flood(count);
        if (accepted !== count) throw new Error(`only ${accepted} of ${count} messages were accepted`);
        const drained = drain(stage.inboxFile, count, withinMs);
        const startedAt = performance.now();
        const daemon = await stage.startDaemon({ awaitPoll: false });
        const { firstAt, lastAt } = await drained;
        perMessage.set(count, [...(perMessage.get(count) ?? []), (lastAt - startedAt) / count]);
        first.set(count, [...(first.get(count) ?? []), firstAt - startedAt]);
        // Else the last ones still count as waiting, and 10,000 more find no room.
        await until('the relay knows that all are delivered', async () => (await stage.metrics()).wa_waiting === 0);
        await daemon.stop();
      }
      return { backlog: medians(perMessage), backlogFirstMs: medians(first) };
    }),
};

function medians(samples: Map<number, number[]>): Record<string, number> {
  return Object.fromEntries([...samples].map(([count, values]) => [String(count), round(median(values))]));
}
