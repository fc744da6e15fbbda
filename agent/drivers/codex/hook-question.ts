// What Codex itself says of its hooks: `hooks/list` of its app-server on stdin and stdout. Only Codex knows whether a trusted hook has been
// modified since. Pure; grants nothing.

import { list, object, parsed, text } from '../fields.ts';
import type { HookFault, HostQuestion } from '../workstation.ts';
import { type OwnHook, trustKey } from './hook-trust.ts';

/** A file with hooks of wa-sync. */
export interface Place {
  path: string;
  /** Every path that Codex may write for the file. */
  paths: readonly string[];
  /** Undefined = the user's own file. */
  project: string | undefined;
  hooks: readonly OwnHook[];
  /** By the settings files, Codex reads no hook of the file. */
  unread: HookFault | undefined;
}

type State = 'trusted' | 'untrusted' | 'modified' | 'switched off' | 'missing';

/** What only a person can do. */
export const trustStep = 'Start `codex` there, type /hooks, and trust and switch on the hooks of wa-sync.';

const listId = 1;
const maxProjects = 50;

/** `root` = a folder without settings, for the hooks of the user alone. */
export function hookQuestion(
  places: readonly Place[],
  projects: readonly string[],
  { root, version }: { root: string; version: string },
): HostQuestion {
  const asked = projects.slice(0, maxProjects);
  const clientInfo = { name: 'wa-sync', title: 'wa-sync doctor', version };
  const requests = [
    { id: 0, method: 'initialize', params: { clientInfo } },
    { method: 'initialized' },
    { id: listId, method: 'hooks/list', params: { cwds: [root, ...asked] } },
  ];
  return {
    args: ['app-server'],
    input: requests.map((request) => `${JSON.stringify(request)}\n`).join(''),
    isAnswer: (line) => parsed(line).id === listId,
    judge(line) {
      const { data } = object(parsed(line).result);
      if (!Array.isArray(data)) return undefined;
      const listed = new Map(data.map((entry) => [text(object(entry).cwd), statesIn(entry)]));
      const ofPlaces = places.flatMap((place) => placeFaults(place, listed.get(place.project ?? root)));
      const faults = [...ofPlaces, ...asked.flatMap((project) => projectFaults(project, places, listed, root))];
      const all = places.reduce((sum, { hooks }) => sum + hooks.length, 0);
      return { faults, says: `Codex trusts all ${all} hooks` };
    },
    repair: 'Start `codex`, type /hooks, and look whether the hooks of wa-sync are trusted.',
  };
}

/** By the key of a hook. */
function statesIn(entry: unknown): Map<string, State> {
  return new Map(
    list(object(entry).hooks).flatMap((hook) => {
      const { key, trustStatus, enabled } = object(hook);
      return typeof key === 'string' ? [[key, stateOf(trustStatus, enabled)]] : [];
    }),
  );
}

function stateOf(trustStatus: unknown, enabled: unknown): State {
  if (enabled === false) return 'switched off';
  if (trustStatus === 'trusted' || trustStatus === 'managed') return 'trusted';
  return trustStatus === 'modified' ? 'modified' : 'untrusted';
}

function stateIn(listed: ReadonlyMap<string, State> | undefined, { paths }: Place, hook: OwnHook): State {
  for (const path of paths) {
    const state = listed?.get(trustKey(path, hook));
    if (state !== undefined) return state;
  }
  return 'missing';
}

function placeFaults(place: Place, listed: ReadonlyMap<string, State> | undefined): HookFault[] {
  const { path, hooks, unread } = place;
  const states = hooks.map((hook) => ({ event: hook.event, state: stateIn(listed, place, hook) }));
  const skipped = states.filter(({ state }) => state !== 'trusted');
  if (skipped.length === 0) return [];
  const isUnread = states.every(({ state }) => state === 'missing');
  if (isUnread && unread) return [unread];
  const of = (wanted: State) => skipped.flatMap(({ event, state }) => (state === wanted ? event : []));
  const named = (['modified', 'untrusted', 'switched off', 'missing'] as const).flatMap((state) =>
    of(state).length > 0 ? `${state}: ${of(state).join(', ')}` : [],
  );
  const what = `${path}: Codex skips ${skipped.length} of ${hooks.length} hooks of wa-sync (${named.join('; ')})`;
  const repair = isUnread ? 'Start `codex` there: it names what is wrong with its settings.' : trustStep;
  return [{ state: 'fail', what, repair }];
}

/** A project's own settings can switch off the hooks of the user. */
function projectFaults(
  project: string,
  places: readonly Place[],
  listed: ReadonlyMap<string | undefined, ReadonlyMap<string, State>>,
  root: string,
): HookFault[] {
  const user = places.find((place) => place.project === undefined);
  const hears = (cwd: string) => user?.hooks.some((hook) => stateIn(listed.get(cwd), user, hook) !== 'missing');
  if (!hears(root) || hears(project)) return [];
  const what = `Codex reads no hook of wa-sync in ${project}, which switches hooks off`;
  return [{ state: 'fail', what, repair: 'Look for `hooks = false` in .codex/config.toml there.' }];
}
