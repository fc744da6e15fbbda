// The network between daemon and relay, with faults: a TCP proxy that drops, cuts short or delays what passes. Knows no HTTP.

import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';

export type LineFault =
  /** The next bytes of that direction vanish, and the connection with them. */
  | { kind: 'dropRequest' | 'dropAnswer' }
  /** Half of them arrive. */
  | { kind: 'truncateAnswer' }
  | { kind: 'delayAnswer'; ms: number };

export interface Line {
  readonly port: number;
  /** Happens to the next bytes that pass. */
  arm(fault: LineFault): void;
  /** Every open connection ends now. */
  cut(): void;
  /** While down, a new connection ends at once. */
  setDown(down: boolean): void;
  /** Forgets what is armed and lets everything pass. */
  heal(): void;
  close(): Promise<void>;
}

/** `watch` hears of all bytes that pass, as they come, and of each connection by its number. */
export type Watch = (direction: 'request' | 'answer', bytes: Buffer, connection: number) => void;

export async function startLine(targetPort: () => number, watch: Watch = () => {}): Promise<Line> {
  const armed: LineFault[] = [];
  const sockets = new Set<Socket>();
  let down = false;
  let connections = 0;

  const take = (direction: 'request' | 'answer'): LineFault | undefined => {
    const index = armed.findIndex(({ kind }) => (kind === 'dropRequest') === (direction === 'request'));
    return index === -1 ? undefined : armed.splice(index, 1)[0];
  };

  const server: Server = createServer({ allowHalfOpen: false }, (client) => {
    connections += 1;
    const connection = connections;
    track(client);
    if (down) return void client.destroy();
    const relay = connect(targetPort(), '127.0.0.1');
    track(relay);
    const end = () => {
      client.destroy();
      relay.destroy();
    };
    client.on('close', end);
    relay.on('close', end);
    client.on('data', (bytes) => {
      watch('request', bytes, connection);
      if (take('request')) return end();
      relay.write(bytes);
    });
    relay.on('data', (bytes) => {
      watch('answer', bytes, connection);
      const fault = take('answer');
      if (fault?.kind === 'dropAnswer') return end();
      if (fault?.kind === 'truncateAnswer') {
        client.write(bytes.subarray(0, Math.floor(bytes.length / 2)), end);
        return;
      }
      client.write(bytes);
      if (fault?.kind !== 'delayAnswer') return;
      relay.pause();
      setTimeout(() => relay.resume(), fault.ms);
    });
  });

  function track(socket: Socket): void {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  }

  const cut = () => {
    for (const socket of [...sockets]) socket.destroy();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    arm: (fault) => armed.push(fault),
    cut,
    setDown(next) {
      down = next;
      if (down) cut();
    },
    heal() {
      armed.length = 0;
      down = false;
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
