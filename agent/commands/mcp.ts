// `wa-sync mcp`: the MCP server of the current folder. config.json is not read, because coding agents hide half of the environment
// from MCP servers.

import { serveMcp } from '../mcp/server.ts';
import { directories } from '../paths.ts';
import { version } from '../version.ts';
import type { CommandContext } from './context.ts';

/** Resolves when the client is gone. */
export async function mcpCommand({ cwd, ...world }: CommandContext): Promise<void> {
  await serveMcp(directories(world), cwd, version);
}
