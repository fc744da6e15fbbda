// Holds a poll in the stateless Worker: a socket to the sleeping object, a newline as heartbeat, the empty answer at the end.
// It never wakes the object by itself while it waits.

import { WaError } from '../protocol/errors.ts';
import { relayLimits } from '../protocol/limits.ts';
import type { PollRequest } from '../protocol/relay-api.ts';
import { jsonAnswer } from './answers.ts';
import type { MailboxStub } from './bindings.ts';

/** The object answers or parks within milliseconds. */
const firstFrameMs = 15_000;

/** Raises `storage_failed` when the object cannot be reached. */
export async function holdPoll(stub: MailboxStub, request: PollRequest, client: AbortSignal): Promise<Response> {
  const socket = await openSocket(stub, request.project);
  const nextFrame = readFrames(socket);
  socket.send(JSON.stringify(request));
  const first = await withDeadline(nextFrame(), firstFrameMs);
  if (first === null) {
    closeSocket(socket);
    throw new WaError('storage_failed', 'the mailbox gave no answer');
  }
  const { head, body } = splitFrame(first);
  if (head !== 'parked') {
    closeSocket(socket);
    return jsonAnswer(Number(head), body);
  }
  return heldAnswer(socket, nextFrame, request.holdMs, body, client);
}

async function openSocket(stub: MailboxStub, project: number): Promise<WebSocket> {
  try {
    const upgrade = await stub.fetch(`https://mailbox/poll?project=${project}`, { headers: { upgrade: 'websocket' } });
    if (upgrade.webSocket) {
      upgrade.webSocket.accept();
      return upgrade.webSocket;
    }
  } catch (error) {
    throw new WaError('storage_failed', 'the mailbox cannot be reached', { cause: error });
  }
  throw new WaError('storage_failed', 'the mailbox refused the poll');
}

/** The next frame, or null when the socket closed first. */
type NextFrame = () => Promise<string | null>;

function readFrames(socket: WebSocket): NextFrame {
  const { readable, writable } = new TransformStream<string, string>(undefined, { highWaterMark: 2 });
  const writer = writable.getWriter();
  const end = (): void => void writer.close().catch(() => {});
  socket.addEventListener('message', ({ data }) => void writer.write(String(data)).catch(() => {}));
  socket.addEventListener('close', end);
  socket.addEventListener('error', end);
  const reader = readable.getReader();
  return async () => (await reader.read()).value ?? null;
}

function heldAnswer(
  socket: WebSocket,
  nextFrame: NextFrame,
  holdMs: number,
  empty: string,
  client: AbortSignal,
): Response {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const encoder = new TextEncoder();
  const write = (text: string): Promise<void> => writer.write(encoder.encode(text));

  const gone = new Promise<null>((resolve) => {
    client.addEventListener('abort', () => resolve(null));
    writer.closed.catch(() => resolve(null));
  });
  // A first byte, so that the headers go out at once.
  const beat = (): void => void write('\n').catch(() => {});
  beat();
  const heartbeat = setInterval(beat, relayLimits.heartbeatMs);
  void Promise.race([withDeadline(nextFrame(), holdMs), gone])
    .then(async (frame) => {
      const body = frame === null ? withNow(empty) : splitFrame(frame).body;
      await write(body);
      await writer.close();
    })
    .catch(() => {
      // The client left; nothing was taken from the log, so nothing is lost.
    })
    .finally(() => {
      clearInterval(heartbeat);
      closeSocket(socket);
    });
  return new Response(readable, {
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store, no-transform' },
  });
}

function withDeadline(frame: Promise<string | null>, deadlineMs: number): Promise<string | null> {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const deadline = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), deadlineMs);
  });
  return Promise.race([frame, deadline]).finally(() => clearTimeout(timer));
}

function splitFrame(frame: string): { head: string; body: string } {
  const end = frame.indexOf('\n');
  return { head: frame.slice(0, end), body: frame.slice(end + 1) };
}

function withNow(empty: string): string {
  return JSON.stringify({ ...(JSON.parse(empty) as object), now: Date.now() });
}

function closeSocket(socket: WebSocket): void {
  try {
    socket.close(1000, 'done');
  } catch {
    // Closed by the other end.
  }
}
