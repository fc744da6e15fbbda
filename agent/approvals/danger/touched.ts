// What the built-in rules say to the name of a file: it may hold secrets, belong to the guard, or be what only the shell knows. Pure.

import type { Touched } from './file-roles.ts';
import {
  belongsToGuard,
  isAgentFolder,
  mayFindGuard,
  mayHoldSecrets,
  type Place,
  standsAboveGuard,
  standsAboveHomeGuard,
} from './guarded.ts';
import { fromHome } from './names.ts';
import { absolute, bracesExpanded, maxPathChars, nameOf, normal } from './paths.ts';
import type { Add, Surroundings } from './rules.ts';
import { isUnknown } from './shell-expand.ts';
import { marks } from './shell-marks.ts';
import type { Shell } from './shell-state.ts';

export interface Looked {
  place: Place;
  world: Surroundings;
  start: Shell;
  add: Add;
  /** What was looked at. */
  seen: Set<string>;
}

function placesOf(word: string, folders: readonly string[], { world }: Looked): string[] {
  const given = bracesExpanded(fromHome(word, world.home)).flatMap((each) =>
    folders.map((base) => normal(absolute(each, base))),
  );
  const known = [word, ...given].flatMap((each) => world.resolved.get(each) ?? []);
  return [...new Set([...given, ...known.map(normal)])];
}

export function lookAtName(word: string, folders: readonly string[], looked: Looked): void {
  // No path is so long, but what a shell makes of it may be one.
  if (word.length >= maxPathChars && /^[^\s"]*[*?][^\s"]*$/.test(word)) looked.add('too-long', 'patternTooLong');
  if (word === '' || word.length >= maxPathChars || looked.seen.has(word + folders)) return;
  looked.seen.add(word + folders);
  const shown = shownWord(word);
  for (const path of placesOf(word, folders, looked)) {
    if (mayHoldSecrets(path)) looked.add('secret-file', 'mayHoldSecrets', shown);
    if (belongsToGuard(path, looked.place)) {
      looked.add('own', 'touchesGuard', shown);
    }
  }
}

export function lookAtTouched(touched: Touched, folders: readonly string[], looked: Looked, isLost = false): void {
  const { word, role } = touched;
  const { add, place } = looked;
  const key = `${role} ${word} ${folders} ${touched.arriving} ${touched.named}`;
  if (word === '' || word.length >= maxPathChars || looked.seen.has(key)) return;
  looked.seen.add(key);
  const shown = shownWord(word);
  if (isUnknown(word) || (isLost && !/^(\/|~|[a-z]:)/i.test(word))) {
    add('unknown', 'touchesUnknown', shown);
    if (isUnknown(word)) return;
  }
  const own = () => add('own', 'holdsGuard', shown);
  for (const path of placesOf(word, folders, looked)) {
    if (role === 'into') {
      if (comesUponGuard(path, touched.arriving, place)) own();
    } else if (touched.named !== undefined) {
      if (mayFindGuard(path, touched.named, place)) own();
    } else if (path.includes('**')) {
      const at = path.indexOf('/**');
      if (mayFindGuard(path.slice(0, at) || '/', [nameOf(path)], place)) own();
    } else if (standsAboveGuard(path, place)) own();
  }
}

/** What comes into a folder is known by its name, or may be anything; of a project's own folder that is usual. */
function comesUponGuard(folder: string, arriving: readonly string[] | undefined, place: Place): boolean {
  if (arriving === undefined) return standsAboveHomeGuard(folder, place) || isAgentFolder(nameOf(folder));
  return arriving.some((name) => {
    const path = normal(`${folder}/${name}`);
    return belongsToGuard(path, place) || standsAboveGuard(path, place);
  });
}

function shownWord(word: string): string {
  return word.replaceAll(marks.unknown, '$(…)').slice(0, 200);
}
