// The MCP server on stdin and stdout for agents that poll. The daemon keeps every message.
// Must never write anything but JSON-RPC to stdout.

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { pollingTools } from '../../protocol/polling.ts';
import type { DaemonDirs } from '../local-client.ts';
import { createDaemonCalls } from './daemon-calls.ts';
import { registerTools } from './tools.ts';

const instructions = `The owner of this project writes from a phone. Loop: ${pollingTools.poll}, do the work, ${pollingTools.send} the result, ${pollingTools.ack}, ${pollingTools.poll} again. Leave the loop when the owner says so, or when several long polls in a row bring nothing.`;

/** How long the release may take when the client goes; the daemon notices the end of this process anyway. */
const releaseMs = 1_000;

/** Serves the chat of the folder `cwd`. Resolves when the client is gone: its end of stdin closed, or a signal. */
export async function serveMcp(dirs: DaemonDirs, cwd: string, version: string): Promise<void> {
  const server = new McpServer({ name: 'wa-sync', version }, { instructions });
  const daemon = createDaemonCalls(dirs, cwd, () => server.server.getClientVersion()?.name ?? 'an MCP client');
  registerTools(server, daemon);
  const gone = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) process.stdin.once(event, () => resolve());
    // A client that is gone reads nothing: an error of stdout must not end this process before the release.
    process.stdout.on('error', () => resolve());
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(name, () => resolve());
  });
  await server.connect(new StdioServerTransport());
  await gone;
  await server.close();
  const late = new Promise<void>((resolve) => setTimeout(resolve, releaseMs).unref());
  await Promise.race([daemon.release().catch(() => {}), late]);
  // A call may still be open; its client is gone.
  process.stdin.destroy();
}
