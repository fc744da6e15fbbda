// What a message costs in rows of storage, by the relay's own counters: webhook and delivery as they happen; then the deletion,
// which the alarm does a day later at the earliest: the stored times are moved back, and the relay started again.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
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
  await age(stage.relayDir);
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
  const path = await mailboxDatabase(stage.relayDir);
  const db = new DatabaseSync(path);
  try {
    const { counters } = db.prepare('SELECT counters FROM project WHERE project = 0').get() as { counters: string };
    const { rows_written = 0, rows_read = 0, alarms = 0 } = JSON.parse(counters) as Record<string, number>;
    return { written: rows_written, read: rows_read, alarms };
  } finally {
    db.close();
  }
}

/** Everything that was stored happened a month and a day earlier. */
async function age(relayDir: string): Promise<void> {
  const db = new DatabaseSync(await mailboxDatabase(relayDir));
  try {
    db.exec(`UPDATE log SET at = at - ${monthAndADayMs}, stored_at = stored_at - ${monthAndADayMs}`);
    db.exec("DELETE FROM meta WHERE key = 'cleaned_at'");
  } finally {
    db.close();
  }
}

async function mailboxDatabase(relayDir: string): Promise<string> {
  const names = await readdir(relayDir, { recursive: true });
  for (const name of names.filter((each) => each.endsWith('.sqlite'))) {
    const db = new DatabaseSync(join(relayDir, name), { readOnly: true });
    try {
      if (db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'log_controls'").get()) return join(relayDir, name);
    } finally {
      db.close();
    }
  }
  throw new Error(`no mailbox among ${names.length} files of the relay's storage`);
}

/** `read` without what the question itself reads, which no message pays for. */
async function counted(stage: Stage): Promise<Rows & { readByAsking: number }> {
  const read = (metrics: Record<string, number>) => metrics.wa_rows_read_total ?? 0;
  const first = await stage.metrics();
  const second = await stage.metrics();
  const readByAsking = read(second) - read(first);
  return { written: second.wa_rows_written_total ?? 0, read: read(first) - readByAsking, readByAsking };
}
