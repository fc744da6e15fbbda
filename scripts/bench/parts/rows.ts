// What a message costs in rows of storage, by the relay's own counters: webhook and delivery as they happen; then the deletion,
// which the alarm does a day later at the earliest: the stored times are moved back, and the relay started again.

import { setTimeout as delay } from 'node:timers/promises';
import { overMailboxes } from '../../lab/storage.ts';
import type { Part } from '../result.ts';
import { type Stage, until, withStage } from '../stage.ts';
import { round } from '../stats.ts';

/** Below the flood limit, whose notice would be counted too. */
const messages = 50;
const spacingMs = 100;
const monthAndADayMs = 31 * 24 * 3_600_000;

interface Rows {
  written: number;
  read: number;
}

export const rows: Part = {
  name: 'rows',
  run: (lab) =>
    withStage(lab, async (stage) => {
      const daemon = await stage.startDaemon();
      await delay(spacingMs * 5);
      const before = await counted(stage);
      for (let index = 0; index < messages; index += 1) {
        await stage.post(`Message ${index}: what is the state of the build?`);
        await delay(spacingMs);
      }
      await until('the journal has them all', async () => (await daemon.waiting()) === messages);
      await delay(spacingMs * 5);
      const after = await counted(stage);
      // Between the two stand both questions of the first.
      const read = after.read - before.read - 2 * before.readByAsking;
      const lived = { written: after.written - before.written, read };
      await daemon.stop();
      const deleted = await deletion(stage);
      return {
        relay: {
          rowsWrittenPerMessage: round((lived.written + deleted.written) / messages),
          rowsReadPerMessage: round((lived.read + deleted.read) / messages),
          rowsWrittenByDelete: round(deleted.written / messages),
        },
      };
    }),
};

async function deletion(stage: Stage): Promise<Rows> {
  const before = await stoppedCounts(stage);
  age(stage.relayDir);
  await stage.startRelay();
  // The first request wakes the object, whose alarm is due.
  let asked = 0;
  await until('the alarm has run', async () => {
    asked += 1;
    return ((await stage.metrics()).wa_alarms_total ?? 0) > before.alarms;
  });
  await delay(spacingMs * 5);
  const after = await counted(stage);
  return { written: after.written - before.written, read: after.read - before.read - asked * after.readByAsking };
}

/** The counts that are on the disk: those in memory end with the process. */
async function stoppedCounts(stage: Stage): Promise<Rows & { alarms: number }> {
  await stage.stopRelay();
  const [stored = '{}'] = overMailboxes(stage.relayDir, (database) => {
    const row = database.prepare('SELECT counters FROM project WHERE project = 0').get() as { counters: string };
    return row.counters;
  });
  const { rows_written = 0, rows_read = 0, alarms = 0 } = JSON.parse(stored) as Record<string, number>;
  return { written: rows_written, read: rows_read, alarms };
}

/** Everything that was stored happened a month and a day earlier. */
function age(relayDir: string): void {
  overMailboxes(relayDir, (database) => {
    database.exec(`UPDATE log SET at = at - ${monthAndADayMs}, stored_at = stored_at - ${monthAndADayMs}`);
    database.exec("DELETE FROM meta WHERE key = 'cleaned_at'");
  });
}

/** `read` without what the question itself reads, which no message pays for. */
async function counted(stage: Stage): Promise<Rows & { readByAsking: number }> {
  const read = (metrics: Record<string, number>) => metrics.wa_rows_read_total ?? 0;
  const first = await stage.metrics();
  const second = await stage.metrics();
  const readByAsking = read(second) - read(first);
  return { written: second.wa_rows_written_total ?? 0, read: read(first) - readByAsking, readByAsking };
}
