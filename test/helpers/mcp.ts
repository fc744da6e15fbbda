// An agent that polls: the SDK's own client with the built `wa-sync mcp` as its server process. Holds no expectations.

import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { PollResult } from '../../protocol/polling.ts';
import { dist } from './stack.ts';

export interface McpAgent {
  readonly client: Client;
  /** The server's process. */
  readonly pid: number;
  /** What the server wrote to stdout and is no JSON-RPC. */
  readonly noise: Error[];
  /** The text of the result; `isError` as the server said. */
  call(tool: string, args?: Record<string, unknown>, signal?: AbortSignal): Promise<{ text: string; isError: boolean }>;
  /** A call that must succeed. */
  ask<T>(tool: string, args?: Record<string, unknown>): Promise<T>;
  poll(args?: { timeout?: number; limit?: number }): Promise<PollResult>;
  /** Closes the server's stdin, as an agent that ends. */
  close(): Promise<void>;
}

export async function startMcp(options: {
  cwd: string;
  env: Record<string, string>;
  name?: string;
}): Promise<McpAgent> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(dist, 'wa-sync.js'), 'mcp'],
    cwd: options.cwd,
    env: { ...getDefaultEnvironment(), ...options.env },
    stderr: 'ignore',
  });
  const client = new Client({ name: options.name ?? 'agent-of-tests', version: '1' });
  const noise: Error[] = [];
  client.onerror = (error) => noise.push(error);
  await client.connect(transport);
  const agent: McpAgent = {
    client,
    pid: transport.pid as number,
    noise,
    async call(name, args = {}, signal) {
      const { content, isError } = await client.callTool({ name, arguments: args }, undefined, {
        timeout: 60_000,
        ...(signal ? { signal } : {}),
      });
      const [first] = content as { text: string }[];
      return { text: first?.text ?? '', isError: isError === true };
    },
    async ask(tool, args) {
      const { text, isError } = await agent.call(tool, args);
      if (isError) throw new Error(`${tool}: ${text}`);
      return JSON.parse(text);
    },
    poll: (args = {}) => agent.ask('telegram_poll', args),
    close: () => client.close(),
  };
  return agent;
}
