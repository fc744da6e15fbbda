// The adapters by which Claude Code and Codex speak ACP, installed on first use into the cache directory. Versions and checksums of all
// their packages are those of the committed lock files; no install script runs, and the agents' own binaries stay out.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WaError } from '../../../protocol/errors.ts';
import { object } from '../../drivers/fields.ts';
import { installFolder, NpmError, runNpm } from '../../fs/npm-folder.ts';
import { AgentError, type Says } from '../agent-error.ts';

export type AdapterName = 'claude' | 'codex';

export interface AdapterOptions {
  cacheDir: string;
  /** Called before a download. */
  say: (line: string) => void;
  env: NodeJS.ProcessEnv;
  /** In place of npm: fills the folder that holds `package.json` and `package-lock.json`. */
  install?: ((dir: string) => Promise<void>) | undefined;
}

/** The only place with these versions; a test compares them with the lock files. */
export const adapters = {
  claude: { name: '@agentclientprotocol/claude-agent-acp', version: '0.100.0', size: '78 MB' },
  codex: { name: '@agentclientprotocol/codex-acp', version: '2.6.0', size: '22 MB' },
} as const;

/** The command line of the adapter. Errors: `not_found` without npm, `child_failed`, `lock_timeout`. */
export async function adapterCommand(adapter: AdapterName, options: AdapterOptions): Promise<string[]> {
  const { name, version, size } = adapters[adapter];
  const dir = join(options.cacheDir, `${adapter}-acp-${version}`);
  const isThere = async () => (await installedVersion(dir, name)) === version;
  if (!(await isThere())) {
    options.say(
      `The adapter of ${adapter} is not here yet: installing ${name} ${version} (${size}) into ${dir}, once.`,
    );
    await installFolder(dir, (fresh) => fill(fresh, adapter, options), isThere).catch((cause) => {
      throw installError(adapter, cause);
    });
    if (!(await isThere())) throw installError(adapter, new Error(`it has no ${name} ${version} afterwards`));
  }
  return [process.execPath, join(dir, 'node_modules', name, 'dist', 'index.js')];
}

async function fill(dir: string, adapter: AdapterName, { env, install }: AdapterOptions): Promise<void> {
  const lock = await lockOf(adapter);
  const manifest = object(object(lock.packages)['']);
  await writeFile(join(dir, 'package.json'), JSON.stringify({ ...manifest, private: true }));
  await writeFile(join(dir, 'package-lock.json'), JSON.stringify(lock));
  if (install) return install(dir);
  const options = ['--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await runNpm(['ci', ...options], dir, env);
}

async function lockOf(adapter: AdapterName): Promise<Record<string, unknown>> {
  const lock =
    adapter === 'claude'
      ? await import('./locks/claude.json', { with: { type: 'json' } })
      : await import('./locks/codex.json', { with: { type: 'json' } });
  return lock.default;
}

/** Undefined = not installed. */
async function installedVersion(dir: string, name: string): Promise<unknown> {
  try {
    return object(JSON.parse(await readFile(join(dir, 'node_modules', name, 'package.json'), 'utf8'))).version;
  } catch {
    return undefined;
  }
}

function installError(adapter: AdapterName, cause: unknown): WaError {
  if (cause instanceof WaError) return cause;
  const says: Says = (texts) => texts.noAdapter(adapter, (cause as Error).message);
  if (cause instanceof NpmError && cause.isMissing) {
    return new AgentError('not_found', says, (texts) => texts.installNpm, cause);
  }
  return new AgentError('child_failed', says, (texts) => texts.checkNetwork, cause);
}
