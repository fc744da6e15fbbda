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
  async run(lab) {
    const [delivered, answered] = [
      await withStage(lab, (stage) => perMessage(stage, deliver)),
      await withStage(lab, (stage) => perMessage(stage, (each) => answer(each, lab.say))),
    ];
    return {
      relay: {
        rowsWrittenPerMessage: delivered.written,
        rowsReadPerMessage: delivered.read,
        rowsWrittenByDelete: delivered.writtenByDelete,
        rowsWrittenPerMessageWithReactions: answered.written,
        rowsReadPerMessageWithReactions: answered.read,
      },
    };
  },
};

async function perMessage(stage: Stage, live: (stage: Stage) => Promise<Rows>) {
  const lived = await live(stage);
  const deleted = await deletion(stage);
  return {
    written: round((lived.written + deleted.written) / messages),
    read: round((lived.read + deleted.read) / messages),
    writtenByDelete: round(deleted.written / messages),
  };
}

/** As the daemon takes them. */
async function deliver(stage: Stage): Promise<Rows> {
  const daemon = await stage.startDaemon();
  await delay(spacingMs * 5);
  const lived = await counting(stage, async () => {
    for (let index = 0; index < messages; index += 1) {
      await stage.post(`Message ${index}: what is the state of the build?`);
      await delay(spacingMs);
    }
    await until('the journal has them all', async () => (await daemon.waiting()) === messages);
  });
  await daemon.stop();
  return lived;
}

/**
 * One after the other through the whole ladder, as a daemon reports it: the polls of one turn, without its answer.
 * A chat takes one reaction a second, so this lasts minutes.
 */
async function answer(stage: Stage, say: (line: string) => void): Promise<Rows> {
  const { signal } = new AbortController();
  const daemon = { id: 'rows-bench', startedAt: 1 };
  const request = { mailbox: String(stage.sim.ownerId), project: 0, holdMs: 0, daemon };
  let { epoch, cursor } = await stage.client.poll({ ...request, epoch: null, after: null, receipts: [] }, signal);
  const reactions = () => stage.sim.calls.filter(({ method }) => method === 'setMessageReaction').length;
  return counting(stage, async () => {
    for (let index = 1; index <= messages; index += 1) {
      if (index % 10 === 1) say(`rows: message ${index} of ${messages} with its three reactions`);
      const shown = reactions();
      const reacted = (count: number) => until(`reaction ${count}`, async () => reactions() >= shown + count);
      // Only a message that the phone has takes a reaction.
      await stage.sim.say(`Message ${index}: what is the state of the build?`);
      await reacted(1);
      const { rows } = await stage.client.poll({ ...request, epoch, after: cursor, receipts: [] }, signal);
      const [row] = rows;
      if (row === undefined) throw new Error(`message ${index} did not come with its poll`);
      const { id, seq } = row;
      for (const [count, state] of (['injected', 'answered'] as const).entries()) {
        const receipts = [{ id, attempt: 0, state, at: Date.now() }];
        ({ epoch, cursor } = await stage.client.poll({ ...request, epoch, after: seq, receipts }, signal));
        await reacted(count + 2);
      }
    }
  });
}

async function counting(stage: Stage, work: () => Promise<void>): Promise<Rows> {
  const before = await counted(stage);
  await work();
  await delay(spacingMs * 5);
  const after = await counted(stage);
  // Between the two stand both questions of the first.
  return { written: after.written - before.written, read: after.read - before.read - 2 * before.readByAsking };
}

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
