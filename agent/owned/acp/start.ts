// Finds and starts coding agents that the daemon runs itself. Light: what speaks with them is loaded with the first one.

import { WaError } from '../../../protocol/errors.ts';
import type { Config } from '../../config.ts';
import type { Log } from '../../log.ts';
import { withoutSecrets } from '../../process.ts';
import { programOnPath } from '../../programs.ts';
import { AgentError } from '../agent-error.ts';
import type { StartAgent } from '../owned.ts';
import { type AcpRow, acpRows } from './agents.ts';
import type { AcpLimits } from './process.ts';

export interface AcpOptions {
  config: Pick<Config, 'agents' | 'agentCommands' | 'file'>;
  /** Holds the adapters. */
  cacheDir: string;
  platform: NodeJS.Platform;
  version: string;
  /** Called before something long: a line for people. */
  say: (line: string) => void;
  log: Log;
  limits?: Partial<AcpLimits>;
  /** In place of npm. */
  installAdapter?: ((dir: string) => Promise<void>) | undefined;
}

const usualLimits: AcpLimits = {
  handshakeMs: 60_000,
  graceMs: 5_000,
  openMs: 120_000,
  answerMs: 20_000,
  cancelMs: 20_000,
  idleMs: 10_000,
  quietMs: 800,
  replayMs: 30_000,
};

export function acpAgents(options: AcpOptions): StartAgent {
  const { config, version, log } = options;
  const limits = { ...usualLimits, ...options.limits };
  return async (name, { cwd, env: given }) => {
    const row = rowOf(name, config);
    const own = config.agentCommands[name];
    const env = { ...withoutSecrets(given), ...row.env, ...own?.env };
    const server = own ? { command: own.command, env: {} } : await serverOf(row, env, options);
    const { startProcess } = await import('./process.ts');
    return startProcess({ row, command: server.command, cwd, env: { ...env, ...server.env }, limits, version, log });
  };
}

function rowOf(name: string, config: AcpOptions['config']): AcpRow {
  const rows = acpRows(config.agentCommands);
  const row = rows.find((each) => each.name === name);
  if (row) return row;
  throw new WaError('not_found', `no coding agent "${name}" is known`, {
    hint: `Take one of ${rows.map((each) => each.name).join(', ')}, or add "agents": {"${name}": {"command": ["…"]}} to ${config.file}.`,
  });
}

interface Server {
  command: readonly string[];
  env: Record<string, string>;
}

async function serverOf(row: AcpRow, env: Record<string, string>, options: AcpOptions): Promise<Server> {
  const { config, platform } = options;
  const program = config.agents[row.name] ?? (await programOnPath(row.program, { env, platform }));
  if (program === undefined) {
    const entry = `{"${row.name}": "/path/to/${row.program}"}`;
    throw new AgentError(
      'not_found',
      (texts) => texts.notOnPath(row.title, row.program),
      (texts) => texts.nameProgram(config.file, entry),
    );
  }
  const { server } = row;
  if (!('adapter' in server)) return { command: [program, ...server.args], env: {} };
  const { adapterCommand } = await import('./adapters.ts');
  const { cacheDir, say, installAdapter: install } = options;
  const command = await adapterCommand(server.adapter, { cacheDir, say, env, install });
  return { command, env: { [server.variable]: program } };
}
