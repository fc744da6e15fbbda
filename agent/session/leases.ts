// Messages that an agent polled and has not acknowledged yet. The journal holds every lease, so that a restart of the daemon
// neither loses a message nor gives it twice. A message is leased, handed to a turn, or waits: never two of these.

import { createHash } from 'node:crypto';
import { fileLimits, hookLimits } from '../../protocol/limits.ts';
import { oneLine } from '../../protocol/lines.ts';
import type { LeasedMessage, PollingClient } from '../../protocol/polling.ts';
import type { OutboxItem } from '../../protocol/relay-api.ts';
import type { Texts } from '../../protocol/texts.ts';
import type { ProjectRecord } from '../journal/records.ts';
import { type HeldMessage, type Lease, phoneTexts } from '../journal/state.ts';
import type { InboxSync } from '../mailbox/inbox.ts';
import { textItem } from '../plain-text.ts';
import type { WaitingMessage } from '../turns/view.ts';
import { createCustody } from './custody.ts';
import type { TurnsOptions } from './types.ts';

export interface LeaseOptions extends Pick<TurnsOptions, 'project' | 'journal' | 'onReceipts' | 'clock' | 'log'> {
  inbox: Pick<InboxSync, 'waiting' | 'take' | 'claim' | 'refresh'>;
  /** Runs the work in its turn among the hook events, so that no message is handed over and leased at once. */
  exclusive<T>(work: () => Promise<T>): Promise<T>;
  /** True when the holder's process is known to be over. */
  isGone(holder: PollingClient): boolean;
  /** The phone is told what is not given again by itself. */
  tell(item: OutboxItem): Promise<void>;
}

export interface Leases {
  /** The oldest of the owner's unread messages, at most `limit`: leased to the holder, unless `isGone` says that its call is over. */
  take(holder: PollingClient, limit: number, isGone?: () => boolean): Promise<readonly WaitingMessage[]>;
  /** The oldest held message that nothing was sent for yet. */
  unanswered(connection: string): string | undefined;
  /** Something was sent: what the connection holds may be acknowledged. */
  replied(connection: string): Promise<void>;
  acknowledge(
    connection: string,
    ids: readonly string[],
  ): Promise<{ acked: string[]; unanswered: string[]; notHeld: string[] }>;
  /** Gives back what fits, unread again with the next attempt; `why` is for the log. */
  release(why: string, fits: (id: string, lease: Lease) => boolean): Promise<void>;
  /** Gives back what dead processes hold, and what is held too long. Called by the daemon's clock. */
  check(): Promise<void>;
  list(): LeasedMessage[];
}

/** Longer than any task; an agent that hangs must not keep a message for ever. */
const leaseMs = 12 * 3_600_000;
const previewChars = 60;

export function createLeases(options: LeaseOptions): Leases {
  const { project, journal, inbox, clock, log } = options;
  const give = createCustody(options);
  const p = project.key;

  const held = (connection: string) =>
    [...project.leased.values()].filter(({ lease }) => lease?.holder.connection === connection);

  async function take(holder: PollingClient, limit: number, isGone: () => boolean): Promise<readonly WaitingMessage[]> {
    const { messages } = await inbox.waiting();
    const chosen = withinBytes(messages.filter(({ fromOwner }) => fromOwner).slice(0, limit));
    const given = await give(chosen, {
      note: undefined,
      records: (ids, edits, at) => [{ t: 'leased', p, at, ids, edits, holder, untilAt: at + leaseMs }],
      isGone,
      giveBack: (ids) =>
        giveBack(
          'the call is over',
          ids.flatMap((id) => project.leased.get(id) ?? []),
        ),
    });
    if (given.length > 0)
      log('info', 'leased', { project: p, messages: given.length, client: holder.client, pid: holder.pid });
    return given;
  }

  async function giveBack(why: string, messages: readonly HeldMessage[]): Promise<void> {
    if (messages.length === 0) return;
    const at = clock();
    const isFinal = ({ attempt }: HeldMessage) => attempt + 1 >= fileLimits.maxAttempts;
    const again = messages.filter((message) => !isFinal(message)).map(({ row }) => row.id);
    const final = messages.filter(isFinal);
    const records: ProjectRecord[] = [];
    if (again.length > 0) records.push({ t: 'unleased', p, at, ids: again });
    if (final.length > 0) records.push({ t: 'ended', p, at, ids: final.map(({ row }) => row.id), state: 'failed' });
    const items = final.map((message) => neverAcknowledged(message, phoneTexts(project)));
    await journal.append(records);
    for (const item of items) await options.tell(item);
    log('info', 'leases given back', { project: p, why, again: again.length, final: final.length });
    if (final.length > 0) options.onReceipts();
    await inbox.refresh();
  }

  function release(why: string, fits: (id: string, lease: Lease) => boolean): Promise<void> {
    if (project.leased.size === 0) return Promise.resolve();
    return options.exclusive(() =>
      giveBack(
        why,
        [...project.leased.values()].filter(({ row, lease }) => lease && fits(row.id, lease)),
      ),
    );
  }

  return {
    take: (holder, limit, isGone = () => false) => options.exclusive(() => take(holder, limit, isGone)),
    unanswered: (connection) => held(connection).find(({ lease }) => !lease?.replied)?.row.id,
    async replied(connection) {
      const ids = held(connection).flatMap(({ row, lease }) => (lease?.replied ? [] : [row.id]));
      if (ids.length > 0) await journal.append([{ t: 'replied', p, at: clock(), ids }]);
    },
    acknowledge: (connection, asked) =>
      options.exclusive(async () => {
        const ids = [...new Set(asked)];
        const mine = new Map(held(connection).map((message) => [message.row.id, message]));
        const done = ids.filter((id) => project.messages.get(id)?.ended === 'answered');
        const unanswered = ids.filter((id) => mine.get(id)?.lease?.replied === false);
        const acked = ids.filter((id) => mine.get(id)?.lease?.replied);
        if (acked.length > 0) {
          await journal.append([{ t: 'ended', p, at: clock(), ids: acked, state: 'answered' }]);
          log('info', 'acknowledged', { project: p, messages: acked.length });
          options.onReceipts();
        }
        const known = new Set([...done, ...unanswered, ...acked]);
        return { acked: [...done, ...acked], unanswered, notHeld: ids.filter((id) => !known.has(id)) };
      }),
    release,
    async check() {
      const now = clock();
      const isDue = (lease: Lease | undefined) =>
        lease !== undefined && (now >= lease.untilAt || options.isGone(lease.holder));
      if (![...project.leased.values()].some(({ lease }) => isDue(lease))) return;
      await release('process gone or time over', (_, lease) => isDue(lease));
    },
    list: () =>
      [...project.leased.values()].flatMap(({ row, lease }) =>
        lease
          ? {
              id: row.id,
              at: row.at,
              untilAt: lease.untilAt,
              client: lease.holder.client,
              pid: lease.holder.pid,
              preview: row.text.replace(/\s+/g, ' ').slice(0, previewChars),
            }
          : [],
      ),
  };
}

/** At least one; as much as a turn receives. */
function withinBytes(messages: readonly WaitingMessage[]): WaitingMessage[] {
  let bytes = 0;
  return messages.filter(({ entry, expansion }, index) => {
    bytes += Buffer.byteLength(entry.text) + Buffer.byteLength(expansion?.text ?? '');
    return index === 0 || bytes <= hookLimits.turnBytes;
  });
}

function neverAcknowledged(message: HeldMessage, { turns }: Texts): OutboxItem {
  const { id } = message.row;
  const hash = createHash('sha256').update(`${id} ${message.attempt}`).digest('hex').slice(0, 40);
  const text = turns.neverAcknowledged(oneLine(message.lease?.holder.client ?? '', 80), fileLimits.maxAttempts);
  return { ...textItem(`lease_${hash}`, 'answer', text), replyTo: id };
}
