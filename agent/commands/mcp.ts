// `wa-sync mcp`: the MCP server of the folder it is started in. Needs no setting but where the daemon's socket lies.

import { serveMcp } from '../mcp/server.ts';
import { directories } from '../paths.ts';
import { version } from '../version.ts';
import type { CommandContext } from './context.ts';

/** Resolves when the client is gone. config.json is not read: coding agents hide half of the environment from MCP servers. */
export async function mcpCommand({ env, platform, home, cwd }: CommandContext): Promise<void> {
  await serveMcp({ dirs: directories({ env, platform, home }), cwd, version });
}
