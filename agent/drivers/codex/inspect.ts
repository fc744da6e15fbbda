// What Codex would run as hooks of wa-sync in some projects, and what keeps them from running: above all hooks that nobody has trusted,
// which Codex skips silently. Reads only: in a project through no link.

import { join } from 'node:path';
import { pathBelow, readBelow } from '../../fs/below.ts';
import type { HookFault, HookReport, InstallDirs } from '../driver.ts';
import { canaryOf } from '../install/canary.ts';
import { textOf } from '../install/files.ts';
import { type HookTrust, type OwnHook, ownHooks, readTrust } from './hook-trust.ts';
import { installer, settingsFolder } from './install.ts';
import { hooksFile, projectSettings } from './install-table.ts';

const maxBytes = 1024 * 1024;
const canaryEvent = 'PreCompact';
/** What only a person can do. */
const trustStep = 'Start `codex` there, type /hooks and trust the hooks of wa-sync.';

interface Place {
  path: string;
  /** Undefined = the user's own file. */
  project: string | undefined;
  hooks: OwnHook[];
}

/** Never rejects. */
export async function inspectHooks(
  dirs: InstallDirs,
  projects: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<HookReport> {
  const folder = settingsFolder({ home: dirs.home, env });
  const [trust, places] = await Promise.all([trustIn(folder), placesOf(folder, projects)]);
  const statuses = await installer.list(dirs).catch(() => []);
  const commands = places.flatMap(({ hooks }) =>
    hooks.flatMap(({ event, command }) => (event === canaryEvent ? command : [])),
  );
  return {
    statuses,
    faults: [...places.flatMap((place) => placeFaults(place, trust, folder)), ...duplicates(places)],
    canary: canaryOf(dirs, commands, { event: canaryEvent, shell: 'sh', payload: canaryPayload }),
  };
}

/** One sentence for each setting that keeps Codex from running the hooks of wa-sync in a project. Never rejects. */
export async function hookSwitches(projectDir: string, home: string): Promise<string[]> {
  const folder = settingsFolder({ home });
  const [trust, places] = await Promise.all([trustIn(folder), placesOf(folder, [projectDir])]);
  return places.flatMap((place) => placeFaults(place, trust, folder).map(({ what }) => what));
}

async function trustIn(folder: string): Promise<HookTrust> {
  return readTrust((await textOf(join(folder, 'config.toml')).catch(() => undefined)) ?? '');
}

/** With hooks of wa-sync. */
async function placesOf(folder: string, projects: readonly string[]): Promise<Place[]> {
  const own = join(folder, hooksFile);
  const user = { path: own, project: undefined, text: textOf(own).catch(() => undefined) };
  const ofProjects = projects.map(async (project) => {
    const path = await pathBelow(project, ...projectSettings.path);
    const text = readBelow(path, maxBytes).then(
      (file) => (file?.oversized ? undefined : file?.bytes.toString('utf8')),
      () => undefined,
    );
    return { path, project, text };
  });
  const all = [user, ...(await Promise.all(ofProjects)).filter(({ path }) => path !== own)];
  const found = await Promise.all(
    all.map(async ({ path, project, text }) => ({ path, project, hooks: ownHooks((await text) ?? '') })),
  );
  return found.filter(({ hooks }) => hooks.length > 0);
}

function placeFaults({ path, project, hooks }: Place, trust: HookTrust, folder: string): HookFault[] {
  const config = join(folder, 'config.toml');
  if (trust.isOff) {
    const what = `${config} switches all hooks off (features.hooks)`;
    return [{ state: 'fail', what, repair: 'Remove the line there in an editor, and start Codex anew.' }];
  }
  if (project !== undefined && !trust.folders.has(project)) {
    const what = `${project} is no trusted folder, so Codex reads no hook of ${path}`;
    return [{ state: 'fail', what, repair: 'Start `codex` there and trust the folder.' }];
  }
  const untrusted = hooks.filter((hook) => !trust.has(path, hook));
  if (untrusted.length === 0) return [];
  const what = `${path}: nobody has trusted ${untrusted.length} of ${hooks.length} hooks of wa-sync, so Codex skips them`;
  return [{ state: 'fail', what, repair: trustStep }];
}

/** Codex runs the hooks of both files. */
function duplicates(places: readonly Place[]): HookFault[] {
  const user = places.find(({ project }) => project === undefined);
  return places.flatMap(({ path, project }) => {
    if (!user || project === undefined) return [];
    const what = `hooks of wa-sync are installed twice: ${user.path} and ${path}`;
    const repair = `Run \`wa-sync hooks uninstall --agent codex --scope project --project ${project}\`.`;
    return [{ state: 'warn', what, repair }];
  });
}

/** As recorded, without the session file. */
function canaryPayload(session: string, cwd: string): string {
  return JSON.stringify({
    session_id: session,
    turn_id: session,
    transcript_path: null,
    cwd,
    hook_event_name: canaryEvent,
    model: 'wa-sync doctor',
    permission_mode: 'default',
    trigger: 'manual',
  });
}
