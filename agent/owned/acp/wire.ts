// JSON-RPC with an agent over its stdin and stdout. The only file that loads the SDK, which a daemon without owned sessions never does.

import { Readable, Writable } from 'node:stream';
import { type AnyMessage, client, methods, ndJsonStream, RequestError, type Stream } from '@agentclientprotocol/sdk';
import { object, text } from '../../drivers/fields.ts';
import { RpcError } from './failures.ts';

type Json = Record<string, unknown>;

export interface WireHandlers {
  /** Called in order, and before the response that follows an update. Must not throw. */
  update(sessionId: string, update: Json): void;
  permission(params: Json, signal: AbortSignal): Promise<Json>;
  question(params: Json, signal: AbortSignal): Promise<Json>;
}

export interface Wire {
  /** Errors: `RpcError`; when the connection is gone, any other error. */
  request(method: string, params: Json): Promise<Json>;
  notify(method: string, params: Json): void;
  /** Resolves when the agent can send no more: its end, or a message above the bound. */
  readonly closed: Promise<void>;
}

/** A message may hold an image or a whole file. */
const maxMessageBytes = 16 * 1024 * 1024;
const maxOpenRequests = 32;

export function openWire(stdin: Writable, stdout: Readable, handlers: WireHandlers): Wire {
  const lines = ndJsonStream(
    Writable.toWeb(stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(stdout) as ReadableStream<Uint8Array>,
    { maxMessageBytes },
  );
  let openRequests = 0;
  const bounded = async (work: () => Promise<Json>, otherwise: Json) => {
    if (openRequests >= maxOpenRequests) return otherwise;
    openRequests++;
    try {
      return await work();
    } finally {
      openRequests--;
    }
  };
  const connection = client({ name: 'wa-sync' })
    .onRequest(methods.client.session.requestPermission, object, ({ params, signal }) =>
      bounded(() => handlers.permission(params, signal), { outcome: { outcome: 'cancelled' } }),
    )
    .onRequest(methods.client.elicitation.create, object, ({ params, signal }) =>
      bounded(() => handlers.question(params, signal), { action: 'cancel' }),
    )
    .connect(withUpdatesFirst(lines, handlers.update));
  return {
    async request(method, params) {
      try {
        return object(await connection.agent.request(method, params));
      } catch (cause) {
        if (cause instanceof RequestError) throw new RpcError(cause.code, cause.message, object(cause.data));
        throw cause;
      }
    },
    notify(method, params) {
      // A closed connection is told by `closed`.
      connection.agent.notify(method, params).catch(() => {});
    },
    closed: connection.closed,
  };
}

/**
 * Takes the notifications out before the SDK sees them: the SDK refuses an update that its schema does not know, and keeps no order
 * between updates and responses. `$/cancel_request` stays the SDK's.
 */
function withUpdatesFirst({ readable, writable }: Stream, update: WireHandlers['update']): Stream {
  const rest = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      const { method, params, id } = message as Json;
      if (method === undefined || id !== undefined || method === '$/cancel_request') {
        controller.enqueue(message);
        // What follows a response waits until the caller has it: an update after the end of a prompt is none of that prompt.
        return method === undefined ? new Promise<void>((next) => setImmediate(next)) : undefined;
      }
      if (method === methods.client.session.update) {
        const { sessionId, update: change } = object(params);
        update(text(sessionId) ?? '', object(change));
      }
      return undefined;
    },
  });
  return { readable: readable.pipeThrough(rest), writable };
}
