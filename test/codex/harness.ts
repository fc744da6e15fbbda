// A temporary home and project for the real Codex, and its terminal.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hostCommand } from '../../scripts/hosts.ts';
import { emptyHome, type HostHome } from '../hosts/home.ts';
import { endTree, running, until } from '../hosts/processes.ts';
import { openTui, type Tui } from '../hosts/tui.ts';

/** A `codex` is on its PATH. */
export async function codexHome(modelUrl: string): Promise<HostHome> {
  const { root, home, project, env, close } = await emptyHome('codex');
  const bin = join(root, 'bin');
  const settings = join(home, '.codex');
  for (const folder of [bin, settings]) await mkdir(folder);
  const command = await hostCommand('codex');
  const words = command.map((word) => `'${word}'`).join(' ');
  await writeFile(join(bin, 'codex'), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
  await writeFile(join(settings, 'config.toml'), configOf(modelUrl, project));
  return {
    home,
    project,
    env: {
      ...env,
      PATH: `${bin}:${dirname(process.execPath)}:${env.PATH}`,
      SCRIPTED_KEY: 'dummy',
    },
    async close() {
      for (const pid of await serverPids(settings)) await endTree(pid);
      await close();
    },
  };
}

function configOf(modelUrl: string, project: string): string {
  return `model = "gpt-5.5-codex"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "${modelUrl}"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0
[projects."${project}"]
trust_level = "trusted"
[tui]
screen_reader_detection_done = true
`;
}

/** The server that all terminals of a home share outlives them, and so does the process that updates it. */
async function serverPids(settings: string): Promise<number[]> {
  const names = ['daemon-updater.pid', 'daemon.pid'];
  const found = await Promise.all(
    names.map((name) =>
      readFile(join(settings, 'app-server-daemon', name), 'utf8').then(
        (text) => [Number(JSON.parse(text).pid)],
        () => [],
      ),
    ),
  );
  return running(found.flat());
}

const asks = 'Trust all and continue';

/** Opens a terminal; the person trusts the hooks. */
export async function openCodex(home: HostHome, ...args: string[]): Promise<Tui> {
  const command = [...(await hostCommand('codex')), '-m', 'gpt-5.5-codex', ...args];
  const isTrusted = async () =>
    (await readFile(join(home.home, '.codex', 'config.toml'), 'utf8')).includes('trusted_hash');
  const tui = await openTui(home, { command, ready: new RegExp(`Ask Codex|${asks}`) });
  try {
    if (!(await isTrusted())) await trustHooks(tui, isTrusted);
    await tui.waitForScreen('Ask Codex');
    return tui;
  } catch (error) {
    await tui.close();
    throw error;
  }
}

/** Codex asks some seconds after its prompt is there, and now and then not at all: then `/hooks` asks. */
async function trustHooks(tui: Tui, isTrusted: () => Promise<boolean>): Promise<void> {
  if (await until(async () => (await tui.screen()).includes(asks), 30_000)) {
    await tui.key('2');
    if (!(await until(isTrusted, 3_000))) await tui.key('Enter');
  } else {
    await tui.paste('/hooks');
    await tui.enter();
    await tui.waitForScreen('t trust all');
    await tui.key('t');
    await until(isTrusted, 10_000);
    await tui.key('Escape');
  }
  await until(async () => !/Hooks need review|need review before/.test(await tui.screen()), 10_000);
}
