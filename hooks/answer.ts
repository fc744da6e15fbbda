// The end of a turn without a daemon: what the agent answered goes into the outbox file, under the id that the daemon would give it.

import type { SessionRecord } from '../agent/drivers/driver.ts';
import { driverOf } from '../agent/drivers/registry.ts';
import { summarize } from '../agent/format/summary.ts';
import { readFrom } from '../agent/fs/tail.ts';
import { ensureMailbox } from '../agent/mailbox/served.ts';
import { answerId } from '../agent/mailbox/signing.ts';
import { appendUnsent, readMailbox } from '../agent/mailbox/update.ts';
import { saysEnd } from '../agent/turns/named-end.ts';
import { type InboxEntry, isoSeconds, noteOf, type OutboxEntry } from '../protocol/files.ts';
import type { TurnEvent } from '../protocol/turn-events.ts';
import { type Alone, noteNow } from './alone.ts';

/** The host waits for the end of a turn, and the answer has no other place. */
const lockTimeoutMs = 3_000;
/** What follows the last prompt; of more, the end counts. */
const maxTailBytes = 1024 * 1024;
/** How long the line that names the end may take. */
const namedLagMs = 1_000;

/** Where the outbox file cannot be written, the next daemon reads the answer in the session file, if it knows of the turn. Never rejects. */
export async function tellAnswer(
  alone: Alone,
  { answer: said, run, error, cancelled }: Extract<TurnEvent, { type: 'turnEnd' }>,
  inbox: readonly InboxEntry[],
): Promise<void> {
  const { tool, call, now, place } = alone;
  const record = await recordOfEnd(alone, driverOf(tool)?.announcesNext === false ? (error ?? said) : undefined);
  const saysNothing = said === undefined && (record?.answer === undefined || record.error !== undefined);
  const failed = error !== undefined || cancelled === true || saysNothing;
  const carried = await carriedIn(alone, inbox);
  if (failed && (cancelled ?? record?.cancelled) && carried.length === 0) return;
  const full = failed
    ? (error ?? record?.error ?? 'The turn ended without an answer.')
    : (record?.answer ?? said ?? '');
  const [replyTo] = carried;
  const entry: OutboxEntry = {
    id: answerId(tool, call.session, run ?? record?.lastId ?? String(now)),
    timestamp: isoSeconds(now),
    from: 'agent',
    text: `${failed ? 'Failed: ' : ''}${summarize(full, alone.config.summaryMaxChars)}`,
    sent: false,
    ...(replyTo === undefined ? {} : { replyTo }),
    via: noteNow(alone),
  };
  await ensureMailbox(place, alone.projectDir).catch(() => {});
  const options = { path: place.outbox, now: Date.now, lockTimeoutMs, bounded: false };
  await appendUnsent(options, alone.signer.sign(entry, 'outbox')).catch(() => {});
}

/** `named` = words of this end that the file must show, which can be a moment behind the host's event. */
async function recordOfEnd(
  { tool, call: { transcript }, now }: Alone,
  named: string | undefined,
): Promise<SessionRecord | undefined> {
  for (;;) {
    const text = transcript && (await readFrom(transcript, 0, undefined, maxTailBytes).catch(() => undefined));
    const record = text ? driverOf(tool)?.readSession(text) : undefined;
    if (named === undefined || !record || saysEnd(record, named)) return record;
    // What an older line says belongs to another end.
    if (Date.now() - now > namedLagMs) return { ...record, answer: undefined, error: undefined, lastId: undefined };
    await new Promise((resolve) => setTimeout(resolve, namedLagMs / 50));
  }
}

/** Ids of the owner's messages that hooks gave to this session since its last answer. */
async function carriedIn({ call, place, signer }: Alone, inbox: readonly InboxEntry[]): Promise<string[]> {
  const given = inbox.filter((entry) => noteOf(entry)?.session === call.session && !entry.control);
  if (given.length === 0) return [];
  const { entries } = await readMailbox<OutboxEntry>(place.outbox, 'outbox').catch(() => ({ entries: [] }));
  const ends = entries.flatMap((entry) => noteOf(entry) ?? []).filter(({ session }) => session === call.session);
  const since = Math.max(0, ...ends.map(({ at }) => at));
  return given.flatMap((entry) =>
    (noteOf(entry)?.at ?? 0) >= since && signer.isSigned(entry, 'inbox') ? entry.id : [],
  );
}
