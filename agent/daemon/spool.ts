// What hooks did on the files alone, taken into the journal: at the start before anything else happens, later because a daemon
// that was too slow for a hook must not take the hook's work for another program's.

import { identityOf } from '../../protocol/files.ts';
import { fileLimits } from '../../protocol/limits.ts';
import { readSpool, removeSpooled, setSpooledAside } from '../files/spool.ts';
import type { Journal } from '../journal/journal.ts';
import type { ProjectRecord } from '../journal/records.ts';
import { editsIn, type ProjectState } from '../journal/state.ts';
import type { Log } from '../log.ts';
import { stopEntryId, toEntry } from '../sync/inbox-view.ts';
import { outboxKey } from '../sync/outbox.ts';
import { isSpooled, type SpoolRecord, toldWithinMs } from '../turns/spooled.ts';

export interface TakenSpool {
  /** In order. */
  taken: SpoolRecord[];
  /** Files that could not be read. */
  broken: number;
}

/**
 * `startedAt` = of this daemon. `leavesApart`: what `wa-sync send` left stays, because the file that it was too full for goes first and
 * was not read yet. Errors: `file_unusable` of the spool or the journal; what was not taken stays then.
 */
export async function consumeSpool(
  dirs: readonly string[],
  options: { journal: Journal; startedAt: number; leavesApart?: boolean; clock: () => number; log: Log },
): Promise<TakenSpool> {
  const { journal, startedAt, clock, log } = options;
  const { records, broken } = await readSpool(dirs);
  const taken: SpoolRecord[] = [];
  for (const { path, record } of records) {
    if (!isSpooled(record)) {
      log('error', 'spool record unknown', { path });
      await setSpooledAside(path);
      continue;
    }
    if (record.kind === 'answer' && record.startedAt === startedAt) continue;
    if (record.kind === 'answer' && record.apart && options.leavesApart) continue;
    const p = record.project;
    const at = record.at;
    const lines: ProjectRecord[] = [];
    if (record.kind === 'handed') {
      const project = journal.project(p);
      record.ids = givenIds(project, record);
      const { ids, session, transcript, offset } = record;
      const edits = ids.map((id) => editsIn(project, id, gave(project, id, record)));
      lines.push({ t: 'handed', p, at, ids, edits, session, transcript, offset });
    } else if (record.kind === 'stopped') {
      const rows = [...journal.project(p).controls.values()];
      const ids = rows.filter((row) => record.entries.includes(stopEntryId(row))).map(({ id }) => id);
      lines.push({ t: 'spent', p, at, ids });
    } else if (record.kind === 'settled') {
      const held = (id: string) => journal.project(p).messages.get(id);
      const lost = record.unproved.filter((id) => (held(id)?.attempt ?? 0) + 1 >= fileLimits.maxAttempts);
      const again = record.unproved.filter((id) => !lost.includes(id));
      lines.push({ t: 'proved', p, at, ids: record.proved });
      lines.push({ t: 'ended', p, at, ids: record.proved, state: record.failed ? 'failed' : 'answered' });
      lines.push({ t: 'ended', p, at, ids: lost, state: 'lost' });
      lines.push({ t: 'returned', p, at, ids: again });
    } else {
      const { answer, replyTo } = record;
      const reply = typeof replyTo === 'string' ? { replyTo } : {};
      const key = outboxKey(answer);
      lines.push({ t: 'entry', p, at, key, answer, ...reply });
      if (!record.apart && record.startedAt === undefined && isToldAgain(journal.project(p), record))
        lines.push({ t: 'key', p, at, key, state: 'sent' });
    }
    await journal.append(lines.filter((line) => !('ids' in line) || line.ids.length > 0));
    await removeSpooled(path);
    taken.push(record);
  }
  if (taken.length > 0) log('info', 'spool taken', { records: taken.length, at: clock() });
  return { taken, broken };
}

/**
 * By the journal, as the hook itself looks in the file, which a full disk may have kept from being written: a hook that found the daemon too slow has told an answer that the daemon had told already; perhaps with those before it in a chain.
 */
function isToldAgain(
  project: ProjectState,
  { answer, at }: { answer: { id: string; text: string }; at: number },
): boolean {
  return [...project.outbox.values()].some(
    ({ source, at: told }) =>
      source.kind === 'file' &&
      `\n${answer.text}`.endsWith(`\n${source.answer.text}`) &&
      source.answer.text !== '' &&
      source.answer.id !== answer.id &&
      told <= at &&
      at - told < toldWithinMs,
  );
}

/** Also those that the hook took for another program's: its view may be older than the file, as after a full disk. */
function givenIds(project: ProjectState, { ids, identities }: { ids: string[]; identities: string[] }): string[] {
  const unnamed = [...project.waiting.values()].filter(
    (message) => !ids.includes(message.row.id) && identities.includes(identityOf(toEntry(message))),
  );
  return [...ids, ...unnamed.map(({ row }) => row.id)];
}

/** Whether the hook gave this text: what stood in the file, which an edit may have replaced in the journal since. */
function gave(project: ProjectState, id: string, { identities }: { identities: string[] }): (text: string) => boolean {
  const message = project.messages.get(id);
  return (text) => message !== undefined && identities.includes(identityOf({ ...toEntry(message), text }));
}
