// Updates that the bot has not taken yet, in the queues of the real server: one per chat for messages, one per user for
// button presses, so that a failing update blocks only its own queue.

import type { Update } from 'grammy/types';

export interface QueuedUpdate {
  update: Update;
  key: string;
  expiresAtMs: number;
  /** Called once, after the first attempt to deliver the update, or when no attempt is possible now. */
  attempted: () => void;
}

export interface UpdateQueue {
  /** Gives the update its id and queues it, unless the bot did not ask for its kind. */
  push(fields: Omit<Update, 'update_id'>, attempted: () => void): QueuedUpdate | undefined;
  head(key: string): QueuedUpdate | undefined;
  remove(queued: QueuedUpdate): void;
  /** All waiting updates, by rising update id. */
  pending(): QueuedUpdate[];
  waiting(key: string): readonly QueuedUpdate[];
  keys(): string[];
  size(): number;
  /** Undefined = keep the earlier setting; empty = the default of the server. */
  allow(types: string[] | undefined): void;
  allowed(): string[] | undefined;
}

const messageLifeMs = 24 * 3_600_000;
const pressLifeMs = 150_000;
/** The kinds that a bot must name to receive them. */
const onlyWhenNamed = new Set(['chat_member', 'message_reaction', 'message_reaction_count']);

export function createUpdateQueue(firstUpdateId: number, clock: () => number): UpdateQueue {
  const queues = new Map<string, QueuedUpdate[]>();
  let nextId = firstUpdateId;
  let allowedTypes: string[] | undefined;

  return {
    push(fields, attempted) {
      const type = Object.keys(fields)[0] ?? '';
      if (allowedTypes ? !allowedTypes.includes(type) : onlyWhenNamed.has(type)) return undefined;
      const update = { update_id: nextId++, ...fields } as Update;
      const lifeMs = update.callback_query ? pressLifeMs : messageLifeMs;
      const queued = { update, key: queueKey(update), expiresAtMs: clock() + lifeMs, attempted };
      const queue = queues.get(queued.key);
      if (queue) queue.push(queued);
      else queues.set(queued.key, [queued]);
      return queued;
    },
    head: (key) => queues.get(key)?.[0],
    remove(queued) {
      const queue = queues.get(queued.key);
      const index = queue?.indexOf(queued) ?? -1;
      if (index !== -1) queue?.splice(index, 1);
      if (queue?.length === 0) queues.delete(queued.key);
    },
    pending: () => [...queues.values()].flat().sort((a, b) => a.update.update_id - b.update.update_id),
    waiting: (key) => queues.get(key) ?? [],
    keys: () => [...queues.keys()],
    size: () => [...queues.values()].reduce((sum, queue) => sum + queue.length, 0),
    allow(types) {
      if (types) allowedTypes = types.length > 0 ? types : undefined;
    },
    allowed: () => allowedTypes,
  };
}

function queueKey(update: Update): string {
  const message = update.message ?? update.edited_message ?? update.channel_post ?? update.edited_channel_post;
  if (message) return `chat ${message.chat.id}`;
  if (update.callback_query) return `user ${update.callback_query.from.id}`;
  if (update.message_reaction) return `reaction ${update.message_reaction.chat.id}`;
  return Object.keys(update)[1] ?? '';
}
