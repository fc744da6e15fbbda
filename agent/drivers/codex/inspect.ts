// What Codex would run as hooks of wa-sync in some projects, and what keeps them from running: above all hooks that nobody has trusted,
// which Codex skips silently. Reads only: in a project through no link.

import { join, parse } from 'node:path';
import { pathBelow, readBelow } from '../../fs/below.ts';
import { repositoryTop } from '../../fs/repository.ts';
import { canaryOf } from '../install/canary.ts';
import { behindLink, textOf } from '../install/files.ts';
import { installedTwice } from '../install/twice.ts';
import type { HookFault, HookReport, InstallDirs } from '../workstation.ts';
import { hookQuestion, type Place, trustStep } from './hook-question.ts';
import { type HookTrust, ownHooks, readTrust } from './hook-trust.ts';
import { installer, settingsFolder } from './install.ts';
import { hooksFile, projectSettings } from './install-table.ts';

const maxBytes = 1024 * 1024;
const canaryEvent = 'PreCompact';
/** Never rejects. */
export async function inspectHooks(
  dirs: InstallDirs,
  projects: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<HookReport> {
  const folder = settingsFolder({ home: dirs.home, env });
  const { trust, places } = await lookAt(folder, projects);
  const statuses = await installer.list(dirs).catch(() => []);
  const commands = places.flatMap(({ hooks }) =>
    hooks.flatMap(({ event, command }) => (event === canaryEvent ? command : [])),
  );
  const { root } = parse(dirs.home);
  return {
    statuses,
    faults: [...places.flatMap((place) => guesses(place, trust)), ...installedTwice('codex', places)],
    canary: canaryOf(dirs, commands, { event: canaryEvent, shell: 'sh', payload: canaryPayload }),
    question: places.length === 0 ? undefined : hookQuestion(places, projects, { root, version: dirs.version }),
  };
}

/** One sentence, with its repair, for each setting that keeps Codex from running the hooks of wa-sync in a project. Never rejects. */
export async function hookSwitches(projectDir: string, home: string): Promise<string[]> {
  const { trust, places } = await lookAt(settingsFolder({ home }), [projectDir]);
  return places.flatMap((place) => guesses(place, trust).map(({ what, repair }) => `${what} (${aside(repair)})`));
}

/** `places` = files with hooks of wa-sync. */
async function lookAt(folder: string, projects: readonly string[]): Promise<{ trust: HookTrust; places: Place[] }> {
  const config = join(folder, 'config.toml');
  const trust = readTrust((await textOf(config).catch(() => undefined)) ?? '');
  const own = join(folder, hooksFile);
  const user = { path: own, project: undefined, text: (await textOf(own).catch(() => undefined)) ?? '' };
  const ofProjects = await Promise.all(projects.map(inProject));
  const found = [user, ...ofProjects.filter(({ path }) => path !== own)].map(async ({ path, project, text }) => ({
    path,
    paths: [path, await behindLink(path)],
    project,
    hooks: ownHooks(text),
    unread: await whyUnread({ path, project }, trust, config),
  }));
  return { trust, places: (await Promise.all(found)).filter(({ hooks }) => hooks.length > 0) };
}

/** `Do this.` -> `do this` */
function aside(sentence: string): string {
  return `${sentence[0]?.toLowerCase()}${sentence.slice(1).replace(/\.$/, '')}`;
}

async function inProject(project: string) {
  const path = await pathBelow(project, ...projectSettings.path);
  const file = await readBelow(path, maxBytes).catch(() => undefined);
  return { path, project, text: file && !file.oversized ? file.bytes.toString('utf8') : '' };
}

async function whyUnread(
  { path, project }: Pick<Place, 'path' | 'project'>,
  trust: HookTrust,
  config: string,
): Promise<HookFault | undefined> {
  if (trust.isOff) {
    const what = `${config} switches all hooks off (features.hooks)`;
    return { state: 'fail', what, repair: 'Remove the line there in an editor, and start Codex anew.' };
  }
  if (project === undefined || (await foldersAbout(project)).some((folder) => trust.folders.has(folder)))
    return undefined;
  const what = `${project} is no trusted folder, so Codex reads no hook of ${path}`;
  return { state: 'fail', what, repair: 'Start `codex` there and trust the folder.' };
}

/** The folders whose trust counts for a project: itself, and the top of the repository around it. */
async function foldersAbout(project: string): Promise<string[]> {
  const real = await behindLink(project);
  return [project, real, (await repositoryTop(real)) ?? real];
}

/** As far as the settings files say. */
function guesses({ path, hooks, unread }: Place, trust: HookTrust): HookFault[] {
  if (unread) return [{ ...unread, isGuess: true }];
  const untrusted = hooks.filter((hook) => !trust.has(path, hook));
  if (untrusted.length === 0) return [];
  const what = `${path}: nobody has trusted ${untrusted.length} of ${hooks.length} hooks of wa-sync, so Codex skips them`;
  return [{ isGuess: true, state: 'fail', what, repair: trustStep }];
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
