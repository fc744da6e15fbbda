// Kept-alive connections to one origin, through the proxy that the environment names. Never follows a redirect.

import type { Agent, IncomingMessage } from 'node:http';
import { getProxyForUrl } from 'proxy-from-env';
import { type Exchange, exchange } from '../http.ts';

export interface Connection {
  /** `path` is appended to the base. Rejects as `exchange` of http.ts. */
  exchange(path: string, call: Omit<Exchange, 'agent'>): Promise<IncomingMessage>;
  /** Drops every connection: after a sleep of the machine, dead connections still look open. */
  reconnect(): void;
  close(): Promise<void>;
}

/** A connection without a call is closed before the other side does it, in the middle of the next call. */
const idleMs = 4_000;

/** `base` has no trailing slash; http is for this machine only, and uses no proxy. */
export function connectTo(base: string): Connection {
  const isLoopback = /^http:/.test(base);
  const proxy = isLoopback ? '' : getProxyForUrl(base);
  const transport = process.getBuiltinModule(isLoopback ? 'node:http' : 'node:https');
  let agent = connect();

  async function connect(): Promise<Agent> {
    const options = { keepAlive: true, maxSockets: 32, timeout: idleMs };
    if (proxy === '') return new transport.Agent(options);
    const { HttpsProxyAgent } = await import('hpagent');
    return new HttpsProxyAgent({ ...options, proxy });
  }

  async function close(): Promise<void> {
    (await agent).destroy();
  }

  return {
    exchange: async (path, call) => exchange(`${base}${path}`, { ...call, agent: await agent }, transport.request),
    reconnect() {
      void close();
      agent = connect();
    },
    close,
  };
}
