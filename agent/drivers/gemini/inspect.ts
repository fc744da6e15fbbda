// What Gemini CLI would run as hooks in some projects, over all scopes, and what is wrong with that. Reads only: in a project through
// no link, and nowhere more than the size of a settings file.

import { readdir, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { pathBelow, readBelow } from '../../fs/below.ts';
import { readRaw } from '../../fs/raw-file.ts';
import { object } from '../fields.ts';
import { canaryOf } from '../install/canary.ts';
import { textOf } from '../install/files.ts';
import type { HookFault, HookReport, HookScope, InstallDirs } from '../workstation.ts';
import { hookSwitches } from './hook-switches.ts';
import { type HookEntry, readEntries } from './inspect-entries.ts';
import { isTrusted, switchedOff } from './inspect-trust.ts';
import { installer } from './install.ts';

const maxBytes = 1024 * 1024;
const maxExtensions = 200;
const extensionName = 'wa-sync';
const canaryEvent = 'Notification';

interface Place {
  path: string;
  scope: HookScope;
  /** For the scope `project`. */
  project: string | undefined;
  /** Name of the extension. */
  extension: string | undefined;
  entries: HookEntry[];
}

/** Never rejects. */
export async function inspectHooks(
  dirs: InstallDirs,
  projects: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<HookReport> {
  const faults: HookFault[] = [];
  const places: Place[] = [];
  for (const each of await candidates(dirs.home, projects)) {
    const content = await each.read().catch(() => undefined);
    if (content === undefined) continue;
    const { entries, faults: found } = readEntries(content);
    const { read: _, ...place } = each;
    places.push({ ...place, entries });
    const isPlace = each.extension === extensionName || each.project !== undefined;
    faults.push(
      ...found.map(({ state, what, isOwn }) => ({
        state,
        what: `${each.path} ${what}`,
        ...(isOwn && isPlace
          ? {
              repair: `Run \`wa-sync hooks install --scope ${each.scope}\`.`,
              reinstall: { scope: each.scope, projectDir: each.project ?? dirs.projectDir },
            }
          : { repair: 'Correct it in an editor.' }),
      })),
    );
  }
  const statuses = await installer.list(dirs).catch(() => []);
  const others = places.flatMap(({ path, entries, project }) =>
    entries.filter(({ isOwn }) => !isOwn).map((entry) => foreignFaults(path, entry, project)),
  );
  const off = await Promise.all(projects.map((project) => folderFaults(dirs, places, project, env)));
  const commands = places.flatMap(({ entries }) =>
    entries.flatMap((each) => (each.isOwn && each.event === canaryEvent ? (each.command ?? []) : [])),
  );
  return {
    statuses,
    faults: [...faults, ...duplicates(places), ...(await Promise.all(others)).flat(), ...off.flat()],
    canary: canaryOf(dirs, commands, { event: canaryEvent, shell: 'bash', payload: canaryPayload }),
  };
}

/** The files that may hold hooks; a missing one reads as undefined. */
async function candidates(home: string, projects: readonly string[]) {
  const user = join(home, '.gemini', 'settings.json');
  const folder = join(home, '.gemini', 'extensions');
  const names = (await readdir(folder).catch(() => [])).slice(0, maxExtensions);
  const extensions = names.map((extension) => ({
    path: join(folder, extension),
    scope: 'user' as const,
    project: undefined,
    extension,
    read: () => extensionText(join(folder, extension)),
  }));
  const ofProjects = await Promise.all(
    projects.map(async (project) => {
      const path = await pathBelow(project, '.gemini', 'settings.json');
      return {
        path,
        scope: 'project' as const,
        project,
        extension: undefined,
        read: async () => (await readBelow(path, maxBytes))?.bytes.toString('utf8'),
      };
    }),
  );
  const settings = {
    path: user,
    scope: 'user' as const,
    project: undefined,
    extension: undefined,
    read: () => textOf(user),
  };
  return [settings, ...extensions, ...ofProjects.filter(({ path }) => path !== user)];
}

async function extensionText(dir: string): Promise<string | undefined> {
  const { type, source } = object(JSON.parse((await textOf(join(dir, '.gemini-extension-install.json'))) ?? '{}'));
  return textOf(join(type === 'link' && typeof source === 'string' ? source : dir, 'hooks', 'hooks.json'));
}

/** Hooks of wa-sync in several places: each must be kept up to date, and the CLI runs each. */
function duplicates(places: readonly Place[]): HookFault[] {
  const own = places.filter(({ entries }) => entries.some(({ isOwn }) => isOwn));
  const found: HookFault[] = [];
  const isFor = (project: string) => (place: Place) => place.project === undefined || place.project === project;
  for (const { project } of own) {
    const all = project === undefined ? [] : own.filter(isFor(project));
    if (all.length < 2) continue;
    const what = `hooks of wa-sync are installed twice: ${all.map(({ path }) => path).join(' and ')}`;
    const repair = `Run \`wa-sync hooks uninstall --scope project --project ${project}\`.`;
    found.push({ state: 'warn', what, repair });
  }
  const user = own.filter(({ project }) => project === undefined);
  if (user.length > 1) {
    const what = `hooks of wa-sync are installed twice: ${user.map(({ path }) => path).join(' and ')}`;
    found.push({ state: 'warn', what, repair: 'Remove those of settings.json; the extension holds the same.' });
  }
  for (const { path, entries, scope, project } of own) {
    const events = entries.filter(({ isOwn }) => isOwn).map(({ event }) => event);
    const double = events.find((event, index) => events.indexOf(event) !== index);
    if (double === undefined) continue;
    const repair = `Run \`wa-sync hooks install --scope ${scope}\`.`;
    const reinstall = project === undefined ? {} : { reinstall: { scope, projectDir: project } };
    found.push({ state: 'warn', what: `${path} has the hook for ${double} twice`, repair, ...reinstall });
  }
  return found;
}

/** A hook of another program that is gone, or that takes the messages of wa-sync. */
async function foreignFaults(
  place: string,
  { event, name, command }: HookEntry,
  project: string | undefined,
): Promise<HookFault[]> {
  if (command === undefined) return [];
  const hook = `${place}: the hook ${(name || command).slice(0, 80)} for ${event}`;
  const words = wordsOf(command, project);
  const found: HookFault[] = [];
  const [program = '', script = ''] = words;
  if (isAbsolute(program) && !(await exists(program))) {
    const what = `${hook} runs ${program}, which does not exist: the CLI takes that for a refusal`;
    found.push({ state: 'fail', what, repair: 'Remove the hook in an editor.' });
  } else if (/^(node|python3?|bash|sh)$/.test(program) && isAbsolute(script) && !(await exists(script))) {
    const what = `${hook} runs ${script}, which does not exist`;
    found.push({ state: 'warn', what, repair: 'Remove the hook in an editor.' });
  }
  const texts = await Promise.all(words.slice(0, 4).filter(isAbsolute).map(scriptText));
  if ([command, ...texts].some((each) => each.includes('wa_inbox'))) {
    const what = `${hook} reads wa_inbox.json too: it takes messages before wa-sync gives them`;
    found.push({ state: 'warn', what, repair: 'Remove that hook, or do not use wa-sync in this folder.' });
  }
  return found;
}

/** The words of a plain command line: quotes and the folder's variables are resolved, nothing else. */
function wordsOf(command: string, project: string | undefined): string[] {
  const words = command.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  return words
    .slice(0, 8)
    .map((word) => word.replace(/["']/g, '').replace(/\$\{?(?:GEMINI|CLAUDE)_PROJECT_DIR\}?/g, () => project ?? ''));
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Of a script; '' for a program, a link or a large file. */
async function scriptText(path: string): Promise<string> {
  const file = await readRaw(path, maxBytes).catch(() => undefined);
  const bytes = file?.oversized ? undefined : file?.bytes;
  return bytes === undefined || bytes.includes(0) ? '' : bytes.toString('utf8');
}

/** What keeps the hooks of wa-sync from running in a project. */
async function folderFaults(
  { home }: InstallDirs,
  places: readonly Place[],
  project: string,
  env: NodeJS.ProcessEnv,
): Promise<HookFault[]> {
  const own = places.filter(
    (place) => (place.project ?? project) === project && place.entries.some(({ isOwn }) => isOwn),
  );
  if (own.length === 0) return [];
  const switches = await hookSwitches(project, home);
  const found: HookFault[] = switches.map((what) => ({
    state: 'fail',
    what,
    repair: 'Remove it there in an editor, and start the coding agent anew.',
  }));
  const hasExtension = own.some(({ extension }) => extension === extensionName);
  const file = hasExtension ? await switchedOff(home, extensionName, project) : undefined;
  if (file !== undefined)
    found.push({
      state: 'fail',
      what: `the extension ${extensionName} is switched off in ${project} (${file})`,
      repair: `Run \`gemini extensions enable ${extensionName}\`.`,
    });
  if (!hasExtension && !(await isTrusted(home, project, env)))
    found.push({
      state: 'fail',
      what: `${project} is no trusted folder, so Gemini CLI runs no hook of its settings there`,
      repair: 'Start gemini there and trust the folder, or run `wa-sync hooks install`: an extension runs everywhere.',
    });
  return found;
}

/** As recorded, without the tool. */
function canaryPayload(session: string, cwd: string): string {
  return JSON.stringify({
    session_id: session,
    transcript_path: '',
    cwd,
    hook_event_name: canaryEvent,
    timestamp: new Date(0).toISOString(),
    notification_type: 'ToolPermission',
    message: 'wa-sync doctor',
    details: { type: 'info', title: 'wa-sync doctor' },
  });
}
