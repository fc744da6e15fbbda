// What the shared installer has to know about Codex. The command line of a hook stays the same over all versions, because Codex asks a
// person anew about every command that changes; whether a command is trusted, only a person decides.

import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ensureFile, textOf } from '../install/files.ts';
import { createInstaller } from '../install/installer.ts';
import { launcherFiles } from '../install/launcher.ts';
import { userFile } from '../install/user-file.ts';
import type { InstallDirs } from '../workstation.ts';
import { withoutTrust } from './hook-trust.ts';
import { forAllVersions, hooksDir, hooksFile, projectSettings } from './install-table.ts';

/** `CODEX_HOME`, else `~/.codex`. */
export function settingsFolder({ home, env }: Pick<InstallDirs, 'home' | 'env'>): string {
  return env?.CODEX_HOME || join(home, '.codex');
}

export const installer = createInstaller({
  settings: projectSettings,
  user: userFile({
    settings: projectSettings,
    pathOf: (dirs) => join(settingsFolder(dirs), hooksFile),
    forget: forgetTrust,
  }),
  launcherDirs: forAllVersions,
  isLauncherCurrent,
  afterInstall: [
    'Codex skips hooks until you trust them: start `codex` and choose "Trust all" when it asks, or type /hooks there.',
    'A session that is open reads its hooks when it is started anew. `wa-sync doctor` asks Codex which hooks it trusts.',
  ],
});

/** Codex remembers which hooks of a file a person trusts; without the file nobody needs that. Never rejects. */
async function forgetTrust(path: string): Promise<void> {
  const config = join(dirname(path), 'config.toml');
  try {
    const text = (await textOf(config)) ?? '';
    const rest = withoutTrust(text, path);
    const mode = ((await stat(config).catch(() => undefined))?.mode ?? 0o600) & 0o777;
    if (rest !== text) await ensureFile({ path: config, text: rest, mode }, new Set());
  } catch {
    // A file that cannot be written keeps some lines about hooks that are gone.
  }
}

/** A package that lacks a file cannot say. */
async function isLauncherCurrent(dirs: InstallDirs): Promise<boolean> {
  const files = await launcherFiles(forAllVersions(dirs), hooksDir(dirs), 'codex').catch(() => []);
  const same = files.map(async ({ path, text }) => path.endsWith('.json') || (await textOf(path)) === text);
  return (await Promise.all(same)).every(Boolean);
}
