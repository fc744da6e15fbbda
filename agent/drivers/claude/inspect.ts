// What Claude Code would run as hooks of wa-sync in some projects, and what is wrong with that. Reads only: in a project through no link, and
// nowhere more than the size of a settings file.

import { pathBelow, readBelow } from '../../fs/below.ts';
import { list, object, text } from '../fields.ts';
import { canaryOf } from '../install/canary.ts';
import { textOf } from '../install/files.ts';
import { parsed, parseJson } from '../install/json-text.ts';
import { installedTwice } from '../install/twice.ts';
import type { HookFault, HookReport, HookScope, InstallDirs } from '../workstation.ts';
import { claude } from './driver.ts';
import { hookSwitches } from './hook-switches.ts';
import { installer, userSettings } from './install.ts';
import { isOwnCommand, projectSettings } from './install-table.ts';

const maxBytes = 1024 * 1024;
const canaryEvent = 'Notification';

interface Place {
  path: string;
  scope: HookScope;
  project: string | undefined;
  entries: { event: string; command: string; timeout: unknown }[];
}

/** Never rejects. */
export async function inspectHooks(dirs: InstallDirs, projects: readonly string[]): Promise<HookReport> {
  const user = userSettings(dirs);
  const found = await Promise.all([
    placeOf(user, 'user', undefined, () => textOf(user)),
    ...projects.map(async (project) => {
      const path = await pathBelow(project, ...projectSettings.path);
      const read = async () => (await readBelow(path, maxBytes))?.bytes.toString('utf8');
      return placeOf(path, 'project', project, read);
    }),
  ]);
  const places = found.flatMap(({ place }) => place ?? []);
  const switches = await Promise.all(projects.map((project) => hookSwitches(project, user)));
  const commands = places.flatMap(({ entries }) =>
    entries.flatMap((each) => (each.event === canaryEvent ? each.command : [])),
  );
  return {
    statuses: await installer.list(dirs).catch(() => []),
    faults: [
      ...found.flatMap(({ fault }) => fault ?? []),
      ...places.flatMap((place) => entryFaults(place, dirs)),
      ...installedTwice('claude', places),
      ...[...new Set(switches.flat())].map((what) => ({
        state: 'fail' as const,
        what,
        repair: 'Remove the setting in an editor; managed settings are those of your administrator.',
      })),
    ],
    canary: canaryOf(dirs, commands, { event: canaryEvent, shell: 'sh', payload: canaryPayload }),
  };
}

async function placeOf(
  path: string,
  scope: HookScope,
  project: string | undefined,
  read: () => Promise<string | undefined>,
): Promise<{ place?: Place; fault?: HookFault }> {
  const content = await read().catch(() => undefined);
  if (content === undefined) return {};
  try {
    const hooks = Object.entries(object(object(parsed(content, parseJson(content))).hooks));
    const entries = hooks.flatMap(([event, groups]) =>
      list(groups).flatMap((group) =>
        list(object(group).hooks).flatMap((entry) => {
          const { command, timeout } = object(entry);
          return text(command) !== undefined && isOwnCommand(String(command))
            ? [{ event, command: String(command), timeout }]
            : [];
        }),
      ),
    );
    return entries.length === 0 ? {} : { place: { path, scope, project, entries } };
  } catch {
    const what = `${path} is not JSON, so Claude Code leaves all of its settings out`;
    return { fault: { state: 'fail', what, repair: 'Correct it in an editor.' } };
  }
}

/** A time in another unit ends a hook that waits for a person at once. */
function entryFaults({ path, scope, project, entries }: Place, { projectDir }: InstallDirs): HookFault[] {
  return entries.flatMap(({ event, timeout }) => {
    const wanted = claude.maxSeconds(event);
    if (wanted === undefined || timeout === wanted) return [];
    return [
      {
        state: 'fail' as const,
        what: `${path} gives the hook for ${event} a timeout of ${String(timeout).slice(0, 20)}; it is ${wanted}, in seconds`,
        repair: `Run \`wa-sync hooks install --agent claude --scope ${scope}\`.`,
        reinstall: { scope, projectDir: project ?? projectDir },
      },
    ];
  });
}

/** As recorded: a notice that nothing follows from. */
function canaryPayload(session: string, cwd: string): string {
  return JSON.stringify({
    session_id: session,
    transcript_path: '',
    cwd,
    hook_event_name: canaryEvent,
    message: 'wa-sync doctor',
    notification_type: 'idle_prompt',
  });
}
