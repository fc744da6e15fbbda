// Poll sockets on Cloudflare: hibernatable, with the waiter in their attachment. The only file here that knows WebSockets.

import type { PollSocket, Waiter } from './sockets.ts';

interface Attachment {
  project: number;
  /** Null before the poll is parked and after its last frame. */
  waiter: Waiter | null;
}

/** Answers the upgrade of the stateless Worker. */
export function acceptPollSocket(ctx: DurableObjectState, request: Request): Response {
  const project = Number(new URL(request.url).searchParams.get('project'));
  if (request.headers.get('upgrade') !== 'websocket') return new Response(null, { status: 426 });
  const { 0: client, 1: server } = new WebSocketPair();
  ctx.acceptWebSocket(server, [tagOf(project)]);
  server.serializeAttachment({ project, waiter: null } satisfies Attachment);
  return new Response(null, { status: 101, webSocket: client });
}

export function parkedSockets(ctx: DurableObjectState, project: number): PollSocket[] {
  const sockets = ctx.getWebSockets(tagOf(project)).map(pollSocket);
  // Closing sockets are still listed.
  return sockets.filter((socket) => socket.waiter() !== null);
}

export function pollSocket(socket: WebSocket): PollSocket {
  const attach = (waiter: Waiter | null): void =>
    socket.serializeAttachment({ project: projectOf(socket), waiter } satisfies Attachment);
  return {
    waiter: () => (socket.readyState === WebSocket.OPEN ? attachmentOf(socket).waiter : null),
    park: attach,
    send: (frame) => socket.send(frame),
    finish(frame) {
      attach(null);
      try {
        socket.send(frame);
        socket.close(1000, 'answered');
      } catch {
        // The other end is gone; the daemon reads the same rows again.
      }
    },
  };
}

export function projectOf(socket: WebSocket): number {
  return attachmentOf(socket).project;
}

function attachmentOf(socket: WebSocket): Attachment {
  return socket.deserializeAttachment() as Attachment;
}

function tagOf(project: number): string {
  return `project-${project}`;
}
